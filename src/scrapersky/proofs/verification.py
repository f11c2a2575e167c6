"""Verify an exported list: every value is derived again from the pages that its row names."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final
from uuid import UUID

from cachetools import LRUCache
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.errors import ExtractionError
from contact_extraction.reader import reader_version
from scrapersky.crawler import Sandbox
from scrapersky.errors import FetchError
from scrapersky.export.proof import PROOF, RowProof
from scrapersky.proofs.exported import NumberedRow, exported_rows
from scrapersky.proofs.judge import OURS, RowJudge
from scrapersky.proofs.known_record import KnownRecord, known_records
from scrapersky.proofs.outcome import Judgement, ProofVerdict, VerificationReport
from scrapersky.proofs.reading import PageValues, read_again
from scrapersky.proofs.stored_page import StoredPage, pages_by_hash

ROWS_PER_STEP: Final = 200
PAGES_HELD: Final = 2_000
"""Pages whose values are remembered: neighbours of a list are of the same sites."""
PAGES_PER_QUERY: Final = 50

Held = tuple[PageValues | None, str | None, bool]
"""What follows from a page, else why it cannot be read; and whether the readers are its own."""


@dataclass(slots=True)
class Verifier:
    """Verifies the rows of one tenant's lists, with what it needs to read pages again."""

    engine: AsyncEngine
    sandbox: Sandbox
    tenant_id: UUID
    report: VerificationReport = field(default_factory=VerificationReport)
    _pages: LRUCache[bytes, list[Held]] = field(
        default_factory=lambda: LRUCache(PAGES_HELD)
    )

    async def verify(
        self, rows: Iterable[NumberedRow], show: Callable[[VerificationReport], None]
    ) -> None:
        """Verify rows, some at a time."""
        waiting = iter(rows)
        while step := [*islice(waiting, ROWS_PER_STEP)]:
            await self.verify_step(step)
            show(self.report)

    async def verify_step(self, rows: Sequence[NumberedRow]) -> None:
        """Verify a few rows."""
        proofs = {number: RowProof.read(row.get(PROOF, "")) for number, row in rows}
        given = [one for one in proofs.values() if one is not None]
        records = await self.records_of(given)
        pages = await self.pages_of({digest for one in given for digest in one.hashes})
        for number, row in rows:
            self.report.rows += 1
            judged = judgements(row, proofs[number], records, pages)
            for column, value, judgement in judged:
                self.report.add(number, column, value, judgement)

    async def records_of(self, proofs: Sequence[RowProof]) -> dict[UUID, KnownRecord]:
        """Return what is known of the records that rows name."""
        found: dict[UUID, KnownRecord] = {}
        async with self.engine.connect() as connection:
            for kind in {one.kind for one in proofs}:
                ids = {one.record_id for one in proofs if one.kind == kind}
                found |= await known_records(connection, self.tenant_id, kind, [*ids])
        return found

    async def pages_of(self, hashes: set[bytes]) -> Mapping[bytes, list[Held]]:
        """Return what follows from pages, by their hashes; each is read once."""
        found = {one: self._pages[one] for one in hashes if one in self._pages}
        wanted = iter(sorted(hashes - found.keys()))
        while some := [*islice(wanted, PAGES_PER_QUERY)]:
            async with self.engine.connect() as connection:
                stored = await pages_by_hash(connection, self.tenant_id, some)
            held = await asyncio.gather(*map(self.read, stored))
            for digest in some:
                pairs = zip(stored, held, strict=True)
                found[digest] = [each for page, each in pairs if page.hash == digest]
        self._pages.update(found)
        return found

    async def read(self, page: StoredPage) -> Held:
        """Return what follows from a page, or why that cannot be said."""
        is_alike = page.reader == reader_version()
        if page.body is None:
            return None, why_not_kept(page), is_alike
        if not page.is_intact:
            self.report.damaged.add(page.hash)
            return None, "the stored bytes are not those that were read", is_alike
        self.report.pages += 1
        try:
            found = await read_again(self.sandbox, page)
        except (ExtractionError, FetchError) as error:
            return None, f"it cannot be read again: {error}", is_alike
        return PageValues.of(page, found), None, is_alike


def judgements(
    row: Mapping[str, str],
    proof: RowProof | None,
    records: Mapping[UUID, KnownRecord],
    pages: Mapping[bytes, list[Held]],
) -> Iterator[tuple[str, str, Judgement]]:
    """Yield each value of a row with its verdict."""
    record = records.get(proof.record_id) if proof else None
    if proof is None or record is None:
        verdict = Judgement(ProofVerdict.CONTRADICTED, "the row has no proof")
        if proof is not None:
            verdict = Judgement(
                ProofVerdict.NOT_KEPT, "its record is gone: deleted or erased"
            )
        given = ((name, value) for name, value in row.items() if value)
        yield from ((n, v, verdict) for n, v in given if n not in OURS)
        return
    named = {digest: pages.get(digest, []) for digest in proof.hashes}
    held = [one for some in named.values() for one in some]
    # Another site's page says nothing of this one's, whatever stands there.
    values = [one for one, *_ in held if one and one.domain_id == record.domain_id]
    for digest, some in named.items():
        if some and not any(one is None or one in values for one, *_ in some):
            why = "the page is of another website"
            yield PROOF, digest.hex(), Judgement(ProofVerdict.CONTRADICTED, why)
        elif not some:
            why = "nothing is known of a page with that hash"
            yield PROOF, digest.hex(), Judgement(ProofVerdict.NOT_KEPT, why)
    missing = [why for one, why, _ in held if one is None and why]
    if any(not some for some in named.values()):
        missing.append("nothing is known of a page with that hash")
    yield from RowJudge(
        row=row,
        kind=proof.kind,
        record=record,
        pages=values,
        missing=missing[0] if missing else None,
        is_read_alike=all(is_alike for *_, is_alike in held),
        exported_at=proof.at,
    ).judgements()


def why_not_kept(page: StoredPage) -> str:
    """Say why the bytes of a page are not there."""
    return f"the page is not kept: {page.void_reason or 'there was no room for it'}"


async def verify_file(
    path: Path, verifier: Verifier, show: Callable[[VerificationReport], None]
) -> VerificationReport:
    """Verify every value of an exported file."""
    with exported_rows(path) as rows:
        await verifier.verify(rows, show)
    return verifier.report
