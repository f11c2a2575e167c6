"""Calls to HubSpot: what they cost, and what its answers say of limits."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from scrapersky.connectors.hubspot_values import STANDING, record_of
from scrapersky.connectors.protocol import CrmKind, CrmRecord
from scrapersky.connectors.session import CrmAnswer, CrmCall, CrmSession
from scrapersky.errors import CrmScopeMissing

VERSION: Final = "2026-09"
"""Of every path; each is supported for eighteen months."""
KINDS: Final = {CrmKind.COMPANY: "companies", CrmKind.PERSON: "contacts"}
PAGE_ROWS: Final = 200
DAY_IS_SPENT: Final = timedelta(hours=1)
POLICIES: Final = {"DAILY": DAY_IS_SPENT, "SECONDLY": timedelta(seconds=1)}
A_CALL: Final = {"burst": 1, "daily": 1}
NO_SUCH: Final = 404
TOO_MANY: Final = 429


class HubspotApi:
    """The calls that the connector makes more than once."""

    def __init__(self, session: CrmSession) -> None:
        """Begin, and listen to what answers say of limits."""
        self._session = session
        session.hear = self._hear

    async def _hear(self, answer: CrmAnswer) -> timedelta | None:
        """Take notice of what is left; say how long to wait where HubSpot says which limit."""
        left = answer.headers.get("x-hubspot-ratelimit-remaining", "")
        if left.isdecimal():
            await self._session.metering.learn("burst", left=int(left))
        if answer.status != TOO_MANY:
            return None
        found = re.search(rb'"policyName":\s*"(\w+)"', answer.content)
        policy = found[1].decode() if found else ""
        if policy == "DAILY":
            await self._session.metering.learn("daily", left=0, after=DAY_IS_SPENT)
        return POLICIES.get(policy)

    async def post(
        self, path: str, body: Mapping[str, Any], accept: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Write, or ask in a body; return the parsed answer."""
        call = CrmCall(
            method="POST",
            path=path,
            json=body,
            accept=accept,
            meter=A_CALL,
            is_write=True,
        )
        found = (await self._session.ask(call)).json()
        return found if isinstance(found, dict) else {}

    async def may(self, call: CrmCall) -> bool:
        """Say whether a call is allowed: an empty one is refused for what it lacks, not done."""
        try:
            await self._session.ask(call)
        except CrmScopeMissing:
            return False
        return True

    async def properties(self, kind: CrmKind) -> list[dict[str, Any]]:
        """Return the schema of a kind, without what was archived."""
        path = f"/crm/properties/{VERSION}/{KINDS[kind]}"
        call = CrmCall(method="GET", path=path, meter=A_CALL)
        rows = (await self._session.ask(call)).rows("results")
        return [row for row in rows if not row.get("archived")]

    async def read(
        self,
        kind: CrmKind,
        ids: Sequence[str],
        names: Sequence[str],
        key: str | None = None,
    ) -> list[CrmRecord]:
        """Read a batch by their ids, or by a property that only one may have."""
        path = f"/crm/objects/{VERSION}/{KINDS[kind]}/batch/read"
        body: dict[str, Any] = {
            "inputs": [{"id": one} for one in ids],
            "properties": [*names, *STANDING[kind]],
        }
        if key:
            body["idProperty"] = key
        call = CrmCall(method="POST", path=path, json=body, meter=A_CALL)
        rows = (await self._session.ask(call)).rows("results")
        return [record_of(kind, row) for row in rows]

    async def alone(
        self, kind: CrmKind, their_id: str, names: Sequence[str]
    ) -> CrmRecord | None:
        """Read one record; a merged one is answered with the one that swallowed it."""
        call = CrmCall(
            method="GET",
            path=f"/crm/objects/{VERSION}/{KINDS[kind]}/{their_id}",
            query={"properties": ",".join([*names, *STANDING[kind]])},
            meter=A_CALL,
            accept=(NO_SUCH,),
        )
        answer = await self._session.ask(call)
        # A page that says 404 is not HubSpot's word that somebody deleted it.
        row = answer.json()
        return None if answer.status == NO_SUCH else record_of(kind, row)

    async def search(self, kind: CrmKind, body: Mapping[str, Any]) -> dict[str, Any]:
        """Search, which has a limit of its own and lags."""
        path = f"/crm/objects/{VERSION}/{KINDS[kind]}/search"
        meter = {"search": 1, **A_CALL}
        call = CrmCall(method="POST", path=path, json=body, meter=meter)
        answer = await self._session.ask(call)
        return {**answer.json(), "results": answer.rows("results")}

    async def having(
        self, kind: CrmKind, key: str, values: Sequence[str], names: Sequence[str]
    ) -> list[CrmRecord]:
        """Return the records whose property has one of these values."""
        filters = [{"propertyName": key, "operator": "IN", "values": list(values)}]
        body = {
            "filterGroups": [{"filters": filters}],
            "properties": [*names, *STANDING[kind]],
            "limit": PAGE_ROWS,
        }
        found: list[CrmRecord] = []
        after: str | None = "0"
        while after is not None:
            answer = await self.search(kind, body | {"after": after})
            found += [record_of(kind, row) for row in answer["results"]]
            after = answer.get("paging", {}).get("next", {}).get("after")
        return found
