"""WF8 - Contacts: one contact's e-mail address is validated, without writing to it."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, case, func, literal, update

from scrapersky.engine import Done, Effect, Outcome, Retry, Transaction, stage
from scrapersky.extraction.email_quality import EmailQuality, judge_email
from scrapersky.models import Contact
from scrapersky.models.status import (
    ContactCurationStatus,
    ContactProcessingStatus,
)
from scrapersky.stages.mail_server import MailAnswer, MailServersFound
from scrapersky.stages.tools import Tools

DELIVERABLE = (MailAnswer.TAKES_MAIL, MailAnswer.MAYBE)


@stage(
    "contact_validation",
    claims=Contact.validation_processing_status,
    error=Contact.validation_processing_error,
    tenant=Contact.tenant_id,
    queued=ContactProcessingStatus.QUEUED,
    processing=ContactProcessingStatus.PROCESSING,
    done=ContactProcessingStatus.COMPLETE,
    failed=ContactProcessingStatus.ERROR,
)
async def validate_contact(contact: Contact, tools: Tools) -> Outcome:
    """Judge the address by itself and by the DNS; no mail server is ever probed."""
    if contact.email is None:
        return Done(finish(contact, None), nothing="the contact has no e-mail address")
    quality = judge_email(contact.email)
    if not quality.is_valid:
        return Done(keep(contact, quality, None))
    domain = contact.email.rpartition("@")[2]
    try:
        found = await tools.mail_servers.lookup(domain)
    except TimeoutError as error:
        return Retry(str(error))
    return Done(keep(contact, quality, found))


def keep(
    contact: Contact, quality: EmailQuality, found: MailServersFound | None
) -> Effect:
    """Keep the judgement, with what it rests on."""
    verdict = "undeliverable"
    if quality.is_valid and found is not None and found.answer in DELIVERABLE:
        verdict = "risky" if quality.is_disposable else "deliverable"
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


def finish(contact: Contact, validation: Any, **more: Any) -> Effect:  # noqa: ANN401
    """Store the result on the contact."""

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(
            update(Contact)
            .where(Contact.id == contact.id)
            .values(
                validation=validation,
                validated_at=func.clock_timestamp(),
                contact_curation_status=completed(),
                **more,
            )
        )

    return effect


def completed() -> ColumnElement[ContactCurationStatus]:
    """Complete the curation, unless a person has put the contact aside meanwhile."""
    column = Contact.contact_curation_status
    return case(
        (column == ContactCurationStatus.SKIPPED, column),
        else_=literal(ContactCurationStatus.COMPLETE, column.type),
    )
