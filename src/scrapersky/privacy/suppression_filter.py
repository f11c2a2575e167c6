"""Ask the suppression list about values before they are stored or handed out."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import Any
from uuid import UUID

from sqlalchemy import exists, func, literal, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.errors import InvalidSubject, Suppressed
from scrapersky.kit.canonical import canonical_domain, canonical_email, mailbox_of
from scrapersky.privacy.key import Keys, keys_of
from scrapersky.privacy.subject import (
    Subject,
    SubjectKind,
    addresses_in,
    is_clear,
    names_above,
    numbers_in,
    person_subject,
    whole_subject,
)
from scrapersky.records import Suppression

REMOVED = "[removed]"
LONG_TEXT_CHARACTERS = 4_000
"""Characters from which texts are read beside the event loop."""

# Whoever stores holds it shared until the commit, whoever suppresses holds it alone:
# so nothing that was looked up before an entry was made is stored after it.
LOCK_SHARED = text(
    "SELECT pg_advisory_xact_lock_shared(hashtextextended(:name, 7206021))"
)
LOCK_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 7206021))")


@dataclass(frozen=True, slots=True)
class SuppressionFilter:
    """What the list says about the values that were asked about."""

    keys: Keys | None = None
    found: frozenset[bytes] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.found)

    def hides_email(self, address: str) -> bool:
        """Say whether an address, or the domain it is of, is on the list."""
        return self._has(email_hashes(self.keys, address))

    def hides_phone(self, number: str) -> bool:
        """Say whether a number is on the list, however it is written."""
        return self._has(phone_hashes(self.keys, number))

    def hides_domain(self, host: str) -> bool:
        """Say whether a host, or a domain it is in, is on the list."""
        return self._has(domain_hashes(self.keys, host))

    def hides_person(self, name: str, host: str) -> bool:
        """Say whether somebody of this name at this host is on the list."""
        return self._has(person_hashes(self.keys, name, host))

    def clean(self, data: Any) -> Any:  # noqa: ANN401 - as it was, or None
        """Return the same data without what is on the list.

        A text that is nothing but such a value becomes None, or is left out of its
        list; inside a longer text the value is struck out.
        """
        if not self.found:
            return data
        # Of many rows, most texts are the names of their columns.
        return scrub_texts(data, cache(self.strike_out))

    def strike_out(self, written: str) -> str:
        """Return a text with what is on the list struck out of it."""
        if self.keys is None:
            return written
        spans = [
            span for span, hashes in mentions(self.keys, written) if self._has(hashes)
        ]
        end = len(written)
        for start, stop in sorted(spans, key=lambda span: (-span[1], span[0])):
            if stop <= end:  # else it is inside of one that is struck out already
                written = written[:start] + REMOVED + written[stop:]
                end = start
        return written

    def _has(self, hashes: Iterable[bytes]) -> bool:
        return bool(self.found) and any(one in self.found for one in hashes)


async def suppressions(
    connection: AsyncConnection,
    tenant_id: UUID,
    *data: object,
    domains: Iterable[str] = (),
    people: Iterable[tuple[str, str]] = (),
) -> SuppressionFilter:
    """Ask the list about everything in these data that may be an address or a number.

    `people` are names, each with the host that names them. Nobody can add to the list
    between this and the end of the transaction.
    """
    await connection.execute(LOCK_SHARED, {"name": lock_name(tenant_id)})
    return await look_up(connection, tenant_id, *data, domains=domains, people=people)


async def look_up(
    connection: AsyncConnection,
    tenant_id: UUID,
    *data: object,
    domains: Iterable[str] = (),
    people: Iterable[tuple[str, str]] = (),
) -> SuppressionFilter:
    """Ask the list as it is now, for what is only read."""
    keys = await keys_in_use(connection, tenant_id)
    if keys is None:
        return SuppressionFilter()
    asked = partial(hashes_asked, keys, *data, domains=domains, people=people)
    if sum(map(len, texts_in(data))) > LONG_TEXT_CHARACTERS:
        # Others want the event loop: a megabyte of digits has a hundred thousand hashes.
        hashes = await asyncio.to_thread(asked)
    else:
        hashes = asked()
    return await filter_of(connection, tenant_id, keys, hashes)


async def keys_in_use(connection: AsyncConnection, tenant_id: UUID) -> Keys | None:
    """Return the keys that a list is kept under; None if nobody is on it."""
    mine = Suppression.tenant_id == tenant_id
    if not await connection.scalar(select(exists().where(mine))):
        return None
    return await keys_of(connection)


def hashes_asked(
    keys: Keys,
    *data: object,
    domains: Iterable[str] = (),
    people: Iterable[tuple[str, str]] = (),
) -> set[bytes]:
    """Return the hashes of all that may be on a list: most of the time it takes to ask.

    For a thousand contacts that is some tenths of a second.
    """
    return {
        *hashes_in(keys, data),
        *domains_hashes(keys, domains),
        *(one for who in people for one in person_hashes(keys, *who)),
    }


async def filter_of(
    connection: AsyncConnection, tenant_id: UUID, keys: Keys, hashes: set[bytes]
) -> SuppressionFilter:
    """Ask the list as it is now which of these hashes are on it."""
    if not hashes:
        return SuppressionFilter()
    asked = func.any(literal(list(hashes)))
    query = select(Suppression.value_hash, Suppression.tail_hash).where(
        Suppression.tenant_id == tenant_id,
        or_(Suppression.value_hash == asked, Suppression.tail_hash == asked),
    )
    rows = await connection.execute(query)
    found = {bytes(one) for row in rows for one in row if one is not None}
    return SuppressionFilter(keys, frozenset(found & hashes))


async def refuse_suppressed(
    connection: AsyncConnection,
    tenant_id: UUID,
    *data: object,
    domains: Iterable[str] = (),
) -> None:
    """Raise Suppressed if a person writes what is on the list; hold the list till then."""
    if await suppressions(connection, tenant_id, *data, domains=domains):
        raise Suppressed(
            "This is on your Do not contact list: it is not stored.",
            hint="Remove it from Do not contact first, if its owner has agreed.",
        )


def lock_name(tenant_id: UUID) -> str:
    """Name the lock of one tenant's list."""
    return f"suppressions of {tenant_id}"


def scrub_texts(data: Any, strike_out: Callable[[str], str]) -> Any:  # noqa: ANN401 - any data
    """Apply a change to every text in nested data; what is struck out whole is gone."""
    match data:
        case str():
            left = strike_out(data)
            return None if is_nothing(left) else left
        case Mapping():
            pairs = ((strike_out(str(key)), key, value) for key, value in data.items())
            return {
                (left if isinstance(key, str) else key): scrub_texts(value, strike_out)
                for left, key, value in pairs
                if not is_nothing(left)
            }
        case list() | tuple() | set() | frozenset():
            kept = ((each, scrub_texts(each, strike_out)) for each in data)
            return type(data)(
                left for each, left in kept if left is not None or each is None
            )
    return data


def is_nothing(text: str) -> bool:
    """Say whether nothing but what was struck out stood there."""
    if REMOVED not in text:
        return False
    rest = re.sub(r"mailto:|tel:|[\s+(]", "", text.replace(REMOVED, ""))
    return not rest


def texts_in(data: object) -> Iterator[str]:
    """Yield every text in nested data, keys too."""
    match data:
        case str():
            yield data
        case Mapping():
            for key, value in data.items():
                yield from texts_in(key)
                yield from texts_in(value)
        case Sequence() | set() | frozenset() if not isinstance(data, bytes):
            for each in data:
                yield from texts_in(each)


def hashes_in(keys: Keys, data: object) -> Iterator[bytes]:
    """Yield the hash of everything in data that may be on a list."""
    # Of many rows, most texts are the names of their columns.
    for written in set(texts_in(data)):
        for _, hashes in mentions(keys, written):
            yield from hashes


Span = tuple[int, int]


def mentions(keys: Keys, written: str) -> Iterator[tuple[Span, list[bytes]]]:
    """Yield where a text may name somebody, with the hashes to look for."""
    if (whole := whole_subject(written)) is not None:
        yield (0, len(written)), list(subject_hashes(keys, whole))
        if is_clear(whole):
            return
    for span, spellings in addresses_in(written):
        hashes = (email_hashes(keys, spelling) for spelling in spellings)
        yield span, list(chain.from_iterable(hashes))
    for span, tails in numbers_in(written):
        yield span, list(tail_hashes(keys, tails))


def subject_hashes(keys: Keys, subject: Subject) -> Iterator[bytes]:
    """Yield the hashes by which an address or a number may be on the list."""
    if subject.kind is SubjectKind.EMAIL:
        yield from email_hashes(keys, subject.value)
    else:
        yield from keys.read(SubjectKind.PHONE, subject.value)


def domains_hashes(keys: Keys, hosts: Iterable[str]) -> Iterator[bytes]:
    """Yield the hashes of hosts and the domains they are in."""
    for host in hosts:
        yield from domain_hashes(keys, host)


def email_hashes(keys: Keys | None, address: str) -> Iterator[bytes]:
    """Yield the hashes by which an address may be on the list.

    An entry for a mailbox covers its subaddresses, and one for a domain all of it.
    """
    if keys is None:
        return
    with contextlib.suppress(InvalidSubject):
        spelt = canonical_email(address)
        for each in {spelt, mailbox_of(spelt)}:
            yield from keys.read(SubjectKind.EMAIL, each)
    yield from domain_hashes(keys, address.rpartition("@")[2])


def domain_hashes(keys: Keys | None, host: str) -> Iterator[bytes]:
    """Yield the hashes by which a host may be on the list."""
    if keys is not None:
        with contextlib.suppress(InvalidSubject):
            for name in names_above(canonical_domain(host)):
                yield from keys.read(SubjectKind.DOMAIN, name)


def person_hashes(keys: Keys | None, name: str, host: str) -> Iterator[bytes]:
    """Yield the hashes by which a name at a host may be on the list."""
    if keys is not None:
        with contextlib.suppress(InvalidSubject):
            for domain in names_above(canonical_domain(host)):
                subject = person_subject(name, domain)
                yield from keys.read(subject.kind, subject.value)


def phone_hashes(keys: Keys | None, number: str) -> Iterator[bytes]:
    """Yield the hashes by which a number may be on the list."""
    if keys is not None:
        for _, hashes in mentions(keys, number):
            yield from hashes


def tail_hashes(keys: Keys | None, tails: Iterable[str]) -> Iterator[bytes]:
    """Yield the hashes of the ends that a number in a text may have."""
    if keys is not None:
        for tail in tails:
            yield from keys.read("tail", tail)
