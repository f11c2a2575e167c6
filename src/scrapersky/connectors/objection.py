"""What a CRM says of people: who wants no mail, and whose address is dead.

It holds for whoever has such an address, also where our lead and their record were never linked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.protocol import ConnectorInfo, CrmKind, CrmRecord
from scrapersky.privacy.subject import Subject, SubjectKind, whole_subject
from scrapersky.privacy.suppression import suppress_here
from scrapersky.privacy.suppression_filter import look_up
from scrapersky.records.audit import Actor
from scrapersky.records.status import Deliverability

SET_ACTOR: Final = text("SELECT set_config('scrapersky.actor', :actor, true)")
EMAILS: Final = text(
    "SELECT email FROM contacts WHERE tenant_id = :tenant AND id = ANY(:ids)"
    " AND email IS NOT NULL"
)
BOUNCED: Final = text(
    f"""UPDATE contacts SET validation = coalesce(validation, '{{}}') || jsonb_build_object(
      'verdict', '{Deliverability.UNDELIVERABLE}', 'reason', CAST(:reason AS text))
    WHERE tenant_id = :tenant AND (id = ANY(:ids) OR email = ANY(:emails))
      AND validation ->> 'reason' IS DISTINCT FROM CAST(:reason AS text)"""  # noqa: S608 - our own labels
)


@dataclass(slots=True)
class PeopleNews:
    """What some records of people say, by our ids where they are linked and by their addresses."""

    unsubscribed: list[UUID] = field(default_factory=list)
    unsubscribed_emails: list[str] = field(default_factory=list)
    bounced: list[UUID] = field(default_factory=list)
    bounced_emails: list[str] = field(default_factory=list)

    def add(
        self, info: ConnectorInfo, record: CrmRecord, ours: Sequence[UUID] = ()
    ) -> None:
        """Take notice of a record, which is that of some contacts of ours, or of none."""
        if not (record.is_unsubscribed or record.is_bounced):
            return
        email = record.values.get(email_field(info))
        emails = [email] if isinstance(email, str) and email else []
        if record.is_bounced:
            self.bounced += ours
            self.bounced_emails += emails
        if record.is_unsubscribed:
            self.unsubscribed += ours
            self.unsubscribed_emails += [*emails, *record.more_emails]


def email_field(info: ConnectorInfo) -> str:
    """Return the field of theirs that holds the address of a person."""
    theirs = info.mapping.get(CrmKind.PERSON, {}).get("email")
    return theirs or info.key_fields.get(CrmKind.PERSON, "email")


async def act_as(connection: AsyncConnection, account: CrmConnection) -> str:
    """Let changes of this transaction be by the connector; return what it is called there."""
    actor = f"connector:{account.row.connector}"
    await connection.execute(SET_ACTOR, {"actor": actor})
    return actor


async def heed(
    connection: AsyncConnection,
    tenant_id: UUID,
    account: CrmConnection,
    news: PeopleNews,
) -> None:
    """Take over what the CRM says of people, in the transaction of the caller."""
    actor, title = await act_as(connection, account), account.crm.info.title
    if news.bounced or news.bounced_emails:
        given = {
            "tenant": tenant_id,
            "ids": news.bounced,
            "emails": [one.value for one in addresses(news.bounced_emails)],
            "reason": f"bounced: {title}",
        }
        await connection.execute(BOUNCED, given)
    emails = list(news.unsubscribed_emails)
    if news.unsubscribed:
        asked = {"tenant": tenant_id, "ids": news.unsubscribed}
        emails += await connection.scalars(EMAILS, asked)
    subjects = await not_suppressed(connection, tenant_id, addresses(emails))
    if subjects:
        by = Actor(tenant_id=tenant_id, user_id=None, name=actor)
        await suppress_here(connection, by, subjects, f"unsubscribed in {title}")


def addresses(written: Sequence[str]) -> list[Subject]:
    """Return the e-mail addresses among texts of theirs, each once."""
    found = (whole_subject(one) for one in written)
    emails = [one for one in found if one and one.kind is SubjectKind.EMAIL]
    return list(dict.fromkeys(emails))


async def not_suppressed(
    connection: AsyncConnection, tenant_id: UUID, subjects: Sequence[Subject]
) -> list[Subject]:
    """Leave out who is on the list: a feed says the same of a person again and again."""
    if not subjects:
        return []
    known = await look_up(connection, tenant_id, [one.value for one in subjects])
    return [one for one in subjects if not known.hides_email(one.value)]
