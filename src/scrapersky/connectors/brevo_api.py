"""Calls to Brevo: two meters, pages, and imports that take their time."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from scrapersky.connectors.brevo_values import (
    EMAIL,
    Values,
    company_file,
    instant,
    record_of,
    without_email,
)
from scrapersky.connectors.protocol import CrmKind, CrmRecord
from scrapersky.connectors.session import CrmAnswer, CrmCall, CrmSession, path_part
from scrapersky.errors import CrmBusy

FAST: Final = {"second": 1, "fast": 1}
SLOW: Final = {"slow": 1}
PATHS: Final = {CrmKind.PERSON: "contacts", CrmKind.COMPANY: "companies"}
PAGE_ROWS: Final = 1000
WAITS: Final = {CrmKind.PERSON: (3, 5, 10, 20), CrmKind.COMPANY: (30, 60)}
"""Seconds before each look at what an import has made."""
NO_SUCH: Final = 404
BAD_REQUEST: Final = 400
TOO_MANY: Final = 429
UNFINISHED: Final = {"queued", "in_process", "processing"}
IMPORT_PAUSE: Final = timedelta(minutes=1)


class BrevoApi:
    """The calls that the connector makes more than once."""

    def __init__(self, session: CrmSession, lists: Sequence[int]) -> None:
        """Begin; new contacts join these lists."""
        self._session = session
        self._lists = list(lists)
        session.hear = self._hear

    async def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        is_repeatable: bool = True,
        accept: Sequence[int] = (),
    ) -> Any:  # noqa: ANN401 - whatever they answer
        """Make a call; those about contacts have a meter of their own."""
        call = CrmCall(
            method=method,
            path=f"/v3{path}",
            query=query or {},
            json=body,
            meter=FAST if path.startswith("/contacts") else SLOW,
            is_write=method != "GET",
            is_repeatable=is_repeatable,
            accept=accept,
        )
        return (await self._session.ask(call)).json() or {}

    async def _hear(self, answer: CrmAnswer) -> timedelta | None:
        """Say how long a refusal lasts; nothing else tells, and no date comes with it."""
        reset = answer.headers.get("x-sib-ratelimit-reset", "")
        if answer.status != TOO_MANY or not reset.isdecimal():
            return None
        return timedelta(seconds=max(int(reset), 1))

    async def page(
        self, kind: CrmKind, at: int, since: str | None, order: str = "desc"
    ) -> list[dict[str, Any]]:
        """Return a page of records as they are."""
        query: dict[str, Any] = {
            "limit": PAGE_ROWS,
            "sort": order,
            "modifiedSince": since,
        }
        query |= (
            {"offset": at} if kind is CrmKind.PERSON else {"page": at // PAGE_ROWS + 1}
        )
        answer = await self.ask("GET", f"/{PATHS[kind]}", query=query)
        rows: list[dict[str, Any]] = answer[
            "contacts" if kind is CrmKind.PERSON else "items"
        ]
        return rows

    async def all(
        self, kind: CrmKind, since: datetime | None = None
    ) -> AsyncIterator[CrmRecord]:
        """Yield records, those made last first."""
        at = 0
        while True:
            rows = await self.page(kind, at, instant(since) if since else None)
            for row in rows:
                yield record_of(kind, row)
            if len(rows) < PAGE_ROWS:
                return
            at += PAGE_ROWS

    async def by_email(self, email: str) -> CrmRecord | None:
        """Return the contact with an address."""
        path = f"/contacts/{path_part(email)}"
        query = {"identifierType": "email_id"}
        row = await self.ask("GET", path, query=query, accept=(BAD_REQUEST, NO_SUCH))
        return record_of(CrmKind.PERSON, row) if "id" in row else None

    async def start(
        self, kind: CrmKind, rows: Sequence[Values], *, is_update: bool = False
    ) -> int:
        """Begin an import; a contact that is there already is left as it is."""
        if kind is CrmKind.COMPANY:
            content, content_type = company_file(rows, is_update=is_update)
            call = CrmCall(
                method="POST",
                path="/v3/companies/import",
                body=content,
                content_type=content_type,
                meter=SLOW,
                is_write=True,
                is_repeatable=is_update,
            )
            return int((await self._session.ask(call)).json()["processId"])
        body = {
            "jsonBody": [
                {"email": row[EMAIL], "attributes": without_email(row)} for row in rows
            ],
            "listIds": self._lists,
            "updateExistingContacts": False,
            "emptyContactsAttributes": False,
            "disableNotification": True,
        }
        return int((await self.ask("POST", "/contacts/import", body))["processId"])

    async def is_done(self, process: int) -> bool:
        """Wait for an import; say whether it has ended."""
        for wait in (0, *WAITS[CrmKind.COMPANY]):
            await self._session.clock.sleep(wait)
            row = await self.ask("GET", f"/processes/{process}")
            if row["status"] == "completed":
                return True
        return False

    async def wait_for_imports(self) -> None:
        """Return when no import runs; raise where that takes too long."""
        query = {"limit": 50, "sort": "desc"}
        for wait in (0, *WAITS[CrmKind.COMPANY]):
            await self._session.clock.sleep(wait)
            rows = (await self.ask("GET", "/processes", query=query)).get("processes")
            if not any(one["status"] in UNFINISHED for one in rows or ()):
                return
        raise CrmBusy("An import of Brevo still runs.", after=IMPORT_PAUSE)
