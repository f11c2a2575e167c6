"""WF8 - Contacts: one contact's e-mail address is validated, without writing to it."""

from dataclasses import asdict, replace

import orjson

from contact_extraction.email_quality import EmailQuality, judge_email
from contact_extraction.email_type import EmailType
from curation_sdk import Done, Effect, Later, Outcome, Retry, Transaction
from scrapersky.curation.page_choice import site_lock
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.health_check import RETRY_DELAY, was_tried_before
from scrapersky.pipeline.mail_server import MailAnswer, MailServersFound
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.records import Contact
from scrapersky.records.contact import CONTACT_VALIDATION_QUEUE
from scrapersky.records.status import ContactCurationStatus, Deliverability

# Complete, unless a person has put the contact aside meanwhile.
STORE = f"""
UPDATE contacts SET validation = $2, validated_at = clock_timestamp(),
  email_type = coalesce($3, email_type), contact_curation_status = CASE
  WHEN contact_curation_status = '{ContactCurationStatus.SKIPPED}' THEN contact_curation_status
  ELSE '{ContactCurationStatus.COMPLETE}' END
WHERE id = $1
"""  # noqa: S608 - our own labels
DELIVERABLE = (MailAnswer.TAKES_MAIL, MailAnswer.MAYBE)
UNKNOWN = (MailAnswer.NO_SUCH_DOMAIN, MailAnswer.NO_SERVER)
"""Answers that a broken resolver gives as well: believed only the second time."""


@stage(
    "contact_validation",
    title="Contact validation",
    does="checks addresses",
    queue=CONTACT_VALIDATION_QUEUE,
    hands_over="`validation` on the contact",
    lane=Lane.HARVEST,
    job=StageJob("validate_contacts", "Validate Contacts"),
    settings=SettingsSection("CONTACT_VALIDATION_SCHEDULER", StageSettings()),
    endings=Endings(
        empty="`Complete`: no address to validate", retries="the DNS does not answer"
    ),
)
async def validate_contact(contact: Contact, tools: Tools) -> Outcome:
    """Judge the address by itself and by the DNS; no mail server is ever probed."""
    outcome = await judge(contact, tools)
    if isinstance(outcome, Done):
        # The site's pages may be writing the same contacts.
        return replace(outcome, lock=site_lock(contact.domain_id))
    return outcome


async def judge(contact: Contact, tools: Tools) -> Outcome:
    """Say what is to be kept of an address, or when to ask again."""
    if contact.email is None:
        return Done(
            finish(contact, None), empty_because="the contact has no e-mail address"
        )
    quality = judge_email(contact.email)
    if not quality.is_valid:
        return Done(keep(contact, quality, None))
    domain = contact.email.rpartition("@")[2]
    try:
        found = await tools.mail_servers.lookup(domain)
    except TimeoutError as error:
        unfit = await tools.health.dns_fault()
        return Retry(str(error)) if unfit is None else Later(unfit, RETRY_DELAY)
    if found.answer in UNKNOWN and (unsure := await look_again(contact, domain, tools)):
        return unsure
    return Done(keep(contact, quality, found))


async def look_again(contact: Contact, domain: str, tools: Tools) -> Outcome | None:
    """Let the DNS say it again later that it knows nothing; None if it has."""
    if (unfit := await tools.health.dns_fault()) is not None:
        return Later(unfit, RETRY_DELAY)
    if await was_tried_before(tools.reader, "contact_validation", contact.id):
        return None
    return Retry(f"DNS does not know {domain}", tools.crawler.policy.second_look)


def keep(
    contact: Contact, quality: EmailQuality, found: MailServersFound | None
) -> Effect:
    """Keep the judgement, with what it rests on."""
    verdict = Deliverability.UNDELIVERABLE
    if quality.is_valid and found is not None and found.answer in DELIVERABLE:
        verdict = (
            Deliverability.RISKY
            if quality.is_disposable
            else Deliverability.DELIVERABLE
        )
    judged = {
        key: value for key, value in asdict(quality).items() if key != "is_same_domain"
    }
    return finish(
        contact,
        {
            "verdict": verdict,
            **judged,
            "mail": found.answer.value if found else None,
            "mail_servers": list(found.servers[:5]) if found else [],
        },
        email_type=quality.type,
    )


def finish(
    contact: Contact, validation: object, email_type: EmailType | None = None
) -> Effect:
    """Store the result on the contact."""
    written = None if validation is None else orjson.dumps(validation).decode()
    kind = email_type.value if email_type else None

    async def effect(transaction: Transaction) -> None:
        await transaction.fetch(STORE, contact.id, written, kind)

    return effect
