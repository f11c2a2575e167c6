"""Pages that name somebody are not kept: their bytes go, and whose proof that was can see it.

What a snapshot says of itself stays: when which address answered, and why it is void. Other pages
of the site may be packed against one that goes; they are packed anew first.
"""

import asyncio
import hashlib
import html
import re
from collections.abc import AsyncIterator, Collection, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from zstandard import ZstdError

from scrapersky.db.transaction import (
    Database,
    commit_chunk,
    run_in_transaction,
    transaction,
)
from scrapersky.kit.delta import pack, unpack, unpack_or_nothing
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.privacy.subject import Subject, SubjectKind
from scrapersky.privacy.sweep import SearchTerm
from scrapersky.records.snapshot import VoidReason

CONTENTS_PER_STEP: Final = 200
"""Pages that are unpacked and looked through in one step: well under a second."""
LOOKED_AT_PER_STEP: Final = 5_000
"""Pages of which one step asks whether anything refers to them."""
FIRST: Final = b""

OF_CONTACT: Final = """SELECT s.hash FROM contacts c JOIN contact_evidence e
    ON e.contact_id = c.id JOIN page_snapshots s ON s.id = e.snapshot_id
  WHERE c.tenant_id = :tenant AND {}"""
OF_PERSON: Final = """SELECT s.hash FROM people p
  CROSS JOIN LATERAL jsonb_array_elements(p.evidence) AS n (j)
  JOIN page_snapshots s ON s.id = CAST(n.j->>'snapshot' AS uuid)
  WHERE p.tenant_id = :tenant AND {}"""
OF_OTHERS: Final = """SELECT s.hash FROM pages p JOIN page_snapshots s ON s.page_id = p.id
  WHERE p.tenant_id = :tenant AND p.other_values <> '[]' AND p.other_values @> ANY(
    SELECT jsonb_build_array(jsonb_build_object('value', n))
    FROM unnest(CAST(:named AS text[])) AS n)"""
OF_DOMAIN: Final = """SELECT s.hash FROM domains d JOIN page_snapshots s ON s.domain_id = d.id
  WHERE d.tenant_id = :tenant AND EXISTS (SELECT FROM unnest(CAST(:named AS text[])) AS n
    WHERE d.domain = n OR right(d.domain, length(n) + 1) = '.' || n)"""
NAMED: Final = {
    SubjectKind.EMAIL: (
        OF_CONTACT.format("c.email = ANY(:named)"),
        OF_CONTACT.format("mailbox_of(c.email) = ANY(:named)"),
        OF_PERSON.format("mailbox_of(p.email) = ANY(:named)"),
        OF_OTHERS,
    ),
    SubjectKind.PHONE: (
        OF_CONTACT.format("c.phone = ANY(:named)"),
        OF_CONTACT.format("c.phones ?| CAST(:named AS text[])"),
        OF_PERSON.format("p.phone = ANY(:named)"),
        OF_OTHERS,
    ),
    SubjectKind.DOMAIN: (OF_DOMAIN,),
    SubjectKind.PERSON: (
        OF_PERSON.format("""(p.domain_id, p.name_key) IN (
      SELECT d.id, split_part(n, '@', 1) FROM unnest(CAST(:named AS text[])) AS n
      JOIN domains d ON d.tenant_id = :tenant AND d.domain = split_part(n, '@', 2))"""),
    ),
}
"""Where the pages are found that name somebody, by what they are known by."""
VOID: Final = text("""
UPDATE page_snapshots SET voided_at = clock_timestamp(), void_reason = :reason
WHERE tenant_id = :tenant AND hash = ANY(:hashes) AND voided_at IS NULL
""")
# Shared with a page that is kept, the bytes are kept too.
UNKEPT: Final = """NOT EXISTS (SELECT FROM page_snapshots s WHERE s.tenant_id = c.tenant_id
    AND s.hash = c.hash AND s.voided_at IS NULL)"""
NEXT_CONTENTS: Final = text(f"""
SELECT c.tenant_id, c.hash, {UNKEPT} AS is_unkept FROM page_contents c
WHERE (c.tenant_id, c.hash) > (:tenant, :after) ORDER BY c.tenant_id, c.hash LIMIT :most
""")  # noqa: S608 - our own words
TAKE: Final = text(f"""
SELECT c.hash, c.base, c.size, c.content FROM page_contents c
WHERE c.tenant_id = :tenant AND c.hash = ANY(:hashes) AND {UNKEPT} ORDER BY c.hash FOR UPDATE
""")  # noqa: S608 - our own words
PACKED_AGAINST: Final = text("""
SELECT hash, base, size, content FROM page_contents
WHERE tenant_id = :tenant AND base = ANY(:hashes) AND hash <> ALL(:hashes)
ORDER BY hash FOR UPDATE
""")
PACK_ANEW: Final = text("""
UPDATE page_contents SET content = :content, base = :base
WHERE tenant_id = :tenant AND hash = :hash
""")
DELETE: Final = text("""
DELETE FROM page_contents WHERE tenant_id = :tenant AND hash = ANY(:hashes)
""")
CREDIT: Final = text("""
UPDATE snapshot_usage SET bytes = greatest(0, bytes - :bytes) WHERE tenant_id = :tenant
""")
READABLE: Final = text("""
SELECT c.hash, c.size, c.content, b.size AS base_size, b.content AS base_content
FROM page_contents c LEFT JOIN page_contents b
  ON b.tenant_id = c.tenant_id AND b.hash = c.base
WHERE c.tenant_id = :tenant AND c.hash > :after ORDER BY c.hash LIMIT :most
""")


async def void_pages_of(
    connection: AsyncConnection,
    tenant_id: UUID,
    subjects: Sequence[Subject],
    reason: VoidReason,
) -> list[bytes]:
    """Void the pages from which what is known of these was read, before that is removed.

    Returns their hashes: the bytes are removed once this is committed.
    """
    hashes: set[bytes] = set()
    for kind, queries in NAMED.items():
        named = [one.value for one in subjects if one.kind is kind]
        for query in queries if named else ():
            values = {"tenant": tenant_id, "named": named}
            found = await connection.scalars(text(query), values)
            hashes.update(map(bytes, found))
    await void(connection, tenant_id, hashes, reason)
    return sorted(hashes)


async def void(
    connection: AsyncConnection,
    tenant_id: UUID,
    hashes: Collection[bytes],
    reason: VoidReason,
) -> None:
    """Void every snapshot of these bytes."""
    if hashes:
        values = {"tenant": tenant_id, "hashes": [*hashes], "reason": reason.value}
        await connection.execute(VOID, values)


async def remove_unkept(
    database: Database, tenant_id: UUID | None = None, is_stopping: IsStopping = never
) -> int:
    """Remove bytes that nothing kept refers to, of one tenant or of all; return how many."""
    tenant, after, removed = tenant_id or UUID(int=0), FIRST, 0
    while not is_stopping():
        values = {"tenant": tenant, "after": after, "most": LOOKED_AT_PER_STEP}
        async with transaction(database) as connection:
            rows = (await connection.execute(NEXT_CONTENTS, values)).all()
        mine = [row for row in rows if tenant_id in (None, row.tenant_id)]
        unkept: dict[UUID, list[bytes]] = {}
        for row in mine:
            if row.is_unkept:
                unkept.setdefault(row.tenant_id, []).append(bytes(row.hash))
        for owner, hashes in unkept.items():
            removed += await remove_in_steps(database, owner, hashes)
        if len(mine) < LOOKED_AT_PER_STEP:
            break
        tenant, after = mine[-1].tenant_id, bytes(mine[-1].hash)
    return removed


async def remove_in_steps(
    database: Database, tenant_id: UUID, hashes: Sequence[bytes]
) -> int:
    """Remove bytes, some at a time."""
    removed = 0
    for start in range(0, len(hashes), CONTENTS_PER_STEP):
        some = hashes[start : start + CONTENTS_PER_STEP]
        removed += await run_in_transaction(
            database, partial(remove_contents, tenant_id, some)
        )
        await commit_chunk(database)
    return removed


async def remove_contents(
    tenant_id: UUID, hashes: Sequence[bytes], connection: AsyncConnection
) -> int:
    """Remove bytes that nothing refers to any more; return how many pages' they were."""
    values: dict[str, Any] = {"tenant": tenant_id, "hashes": [*hashes]}
    gone = {bytes(row.hash): row for row in await connection.execute(TAKE, values)}
    if not gone:
        return 0
    values["hashes"] = [*gone]
    dependents = (await connection.execute(PACKED_AGAINST, values)).all()
    saved = sum(len(row.content) for row in (*gone.values(), *dependents))
    packed = await asyncio.to_thread(packed_anew, dependents, gone)
    # What is damaged can be read by nobody, and goes too.
    damaged = {bytes(row.hash) for row in dependents} - {one["hash"] for one in packed}
    values["hashes"] += damaged
    for anew in packed:
        await connection.execute(PACK_ANEW, {"tenant": tenant_id, **anew})
        saved -= len(anew["content"])
    await connection.execute(DELETE, values)
    await connection.execute(CREDIT, {"tenant": tenant_id, "bytes": saved})
    return len(gone)


def packed_anew(
    dependents: Sequence[Any], bases: dict[bytes, Any]
) -> list[dict[str, Any]]:
    """Pack pages without the one that goes: the first alone, the others against it.

    Leaves out those whose bytes, or whose base, are damaged.
    """
    firsts: dict[bytes, tuple[bytes, bytes]] = {}
    packed = []
    for row in dependents:
        old = bases[bytes(row.base)]
        whole = unpack_or_nothing(bytes(old.content), old.size)
        body = unpack_or_nothing(bytes(row.content), row.size, whole)
        if hashlib.sha256(body).digest() != bytes(row.hash):
            continue
        first = firsts.get(bytes(row.base))
        if first is None:
            firsts[bytes(row.base)] = bytes(row.hash), body
        content = pack(body, None if first is None else first[1])
        packed.append(
            {
                "hash": bytes(row.hash),
                "base": None if first is None else first[0],
                "content": content,
            }
        )
    return packed


async def remove_pages_naming(
    database: Database, tenant_id: UUID, wanted: SearchTerm, reason: VoidReason
) -> int:
    """Look through every page of a tenant, and remove those in which it is written."""
    voided = 0
    async for hashes in pages_naming(database, tenant_id, wanted):
        await run_in_transaction(
            database,
            partial(void_here, tenant_id=tenant_id, hashes=hashes, reason=reason),
        )
        voided += await remove_in_steps(database, tenant_id, hashes)
    return voided


async def void_here(
    connection: AsyncConnection,
    tenant_id: UUID,
    hashes: Collection[bytes],
    reason: VoidReason,
) -> None:
    """Void pages in a transaction of their own."""
    await void(connection, tenant_id, hashes, reason)


async def pages_naming(
    database: Database, tenant_id: UUID, wanted: SearchTerm
) -> AsyncIterator[list[bytes]]:
    """Yield the hashes of pages in which it is written, a stretch at a time."""
    after = FIRST
    while True:
        values = {"tenant": tenant_id, "after": after, "most": CONTENTS_PER_STEP}
        async with transaction(database) as connection:
            rows = (await connection.execute(READABLE, values)).all()
        if found := await asyncio.to_thread(hashes_naming, rows, wanted):
            yield found
        if len(rows) < CONTENTS_PER_STEP:
            return
        after = bytes(rows[-1].hash)


def body_of(row: Any) -> bytes:  # noqa: ANN401 - a row
    """Unpack a page."""
    base = None
    if row.base_content is not None:
        base = unpack(bytes(row.base_content), row.base_size)
    return unpack(bytes(row.content), row.size, base)


def text_of(body: bytes) -> str:
    """Read bytes as the text that they most likely are; addresses and digits are alike in all."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("latin-1")


def hashes_naming(rows: Sequence[Any], wanted: SearchTerm) -> list[bytes]:
    """Return the hashes of those pages in which it is written."""
    pattern = re.compile(wanted.pattern, re.IGNORECASE)
    signs = [sign.encode() for sign in wanted.signs]
    found = []
    for row in rows:
        try:
            body = body_of(row)
        except ZstdError:
            # What nobody can read may name them, and serves nobody.
            found.append(bytes(row.hash))
            continue
        if signs and not any(sign in body.lower() for sign in signs):
            continue
        # Letters that a page writes as numbers are not found by their bytes; nor need they be:
        # what a person is looked for by has plain letters too.
        if pattern.search(html.unescape(text_of(body))):
            found.append(bytes(row.hash))
    return found
