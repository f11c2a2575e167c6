"""The best way to reach who decides: their own, a suggestion, or the company's inbox."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.email_type import EmailType
from contact_extraction.mailbox_pattern import pattern_of
from scrapersky.records.status import ContactCurationStatus, Deliverability

MAX_ADDRESSES: Final = 200
# The shared inbox that is likeliest read by whoever decides comes first.
FIND_ADDRESSES: Final = text(
    f"""
SELECT c.name, c.email, c.email_type FROM contacts c
WHERE c.domain_id = :domain_id AND c.email IS NOT NULL
  AND c.contact_curation_status <> '{ContactCurationStatus.SKIPPED}'
  AND c.validation->>'verdict' IS DISTINCT FROM '{Deliverability.UNDELIVERABLE}'
ORDER BY array_position(ARRAY['{EmailType.CORPORATE}', '{EmailType.SERVICE}',
  '{EmailType.FREE}'], c.email_type::text), c.confidence DESC NULLS LAST, c.id
LIMIT {MAX_ADDRESSES}"""  # noqa: S608 - our own labels
)


class ReachKind(StrEnum):
    """How somebody is reached."""

    OWN_EMAIL = "own_email"
    OWN_PHONE = "own_phone"
    SUGGESTION = "suggestion"
    SHARED_INBOX = "shared_inbox"


class PersonReach(BaseModel):
    """The best known way to reach somebody."""

    kind: ReachKind = Field(
        description="A suggestion was found nowhere: it is what the company's other personal "
        "addresses would make of the name, and is never exported."
    )
    value: str = Field(examples=["office@acme.example"])
    reason: str = Field(examples=["an address of the company, the best of 2"])


class StoredAddress(NamedTuple):
    """An address of a company, and whom it reaches."""

    name: str | None
    email: str
    email_type: str | None


class NamedReach(Protocol):
    """Somebody with what is theirs alone."""

    name: str
    email: str | None
    phone: str | None


async def reach_of(
    connection: AsyncConnection, domain_id: UUID, who: NamedReach, *, may_suggest: bool
) -> PersonReach | None:
    """Return the best way to reach a person; None if none is known."""
    if who.email:
        return PersonReach(
            kind=ReachKind.OWN_EMAIL, value=who.email, reason="their own address"
        )
    if who.phone:
        return PersonReach(
            kind=ReachKind.OWN_PHONE, value=who.phone, reason="their own number"
        )
    found = await connection.execute(FIND_ADDRESSES, {"domain_id": domain_id})
    rows = [StoredAddress(*row) for row in found]
    suggested = suggestion(who.name, rows) if may_suggest else None
    return suggested or shared_inbox(rows, who.name)


def suggestion(name: str, addresses: Sequence[StoredAddress]) -> PersonReach | None:
    """Return what the pattern of the company's addresses makes of a name."""
    named = [
        (one.name, one.email)
        for one in addresses
        if one.name is not None and one.email_type != EmailType.SERVICE
    ]
    pattern = pattern_of(named)
    value = pattern.address_of(name) if pattern else None
    if pattern is None or value is None or any(value == one.email for one in addresses):
        return None
    return PersonReach(
        kind=ReachKind.SUGGESTION,
        value=value,
        reason=f"found nowhere: {pattern.followed_by} of {pattern.known} personal addresses at"
        f" {pattern.domain} are written {pattern.form}",
    )


def shared_inbox(addresses: Sequence[StoredAddress], who: str) -> PersonReach | None:
    """Return the best address that is nobody's own, if possible one that reaches them."""
    shared = [one for one in addresses if one.name in (None, who)]
    if not shared:
        return None
    best = max(shared, key=lambda one: one.name == who)
    what = _WHAT.get(best.email_type or "", "an address of an unknown kind")
    among = f", the best of {len(shared)}" if len(shared) > 1 else ""
    if best.name:
        among = ", and the website names nobody else with it"
    return PersonReach(
        kind=ReachKind.SHARED_INBOX, value=best.email, reason=f"{what}{among}"
    )


_WHAT: Final[dict[str, str]] = {
    EmailType.CORPORATE: "an address of the company",
    EmailType.SERVICE: "a shared inbox",
    EmailType.FREE: "a free mail address",
}
