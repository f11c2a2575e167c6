"""A small CRM over a real socket that creates whatever it is told to: nothing is folded by a key.

It loses answers, answers with pages and errors, and other people edit in it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Row = dict[str, Any]
FIELDS: dict[str, list[dict[str, Any]]] = {
    "company": [
        {"name": "name", "label": "Company name", "ours": "name"},
        {"name": "domain", "type": "url", "ours": "domain"},
        {"name": "phone", "type": "phone", "ours": "phone"},
        {"name": "city", "ours": "city"},
        {
            "name": "status",
            "type": "choice",
            "options": {"1": "New", "2": "Won", "9": "Lost"},
        },
    ],
    "person": [
        {"name": "name", "ours": "name"},
        {"name": "email", "type": "email", "ours": "email"},
        {"name": "phone", "type": "phone", "ours": "phone"},
        {"name": "title", "ours": "role"},
    ],
}
OWN = [
    "scrapersky_id",
    "scrapersky_evidence_url",
    "scrapersky_verified_on",
    "scrapersky_source",
]


@dataclass
class Fault:
    """What goes wrong with the next request that fits."""

    method: str
    how: str
    """lost: written, no answer; unsent: not written, no answer; or a status with a body."""
    status: int = 500
    body: bytes = b"<html>bad gateway</html>"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    path: str = ""


@dataclass
class PlainCrm:
    """The records, and what was asked."""

    rows: dict[str, dict[str, Row]] = field(
        default_factory=lambda: {"company": {}, "person": {}}
    )
    changed: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    token: str = "the-token"
    port: int = 0
    counter: int = 0
    changes_a_page: int = 1_000
    on_call: Callable[[str, str], Awaitable[None]] | None = None
    """What somebody else does while a call is answered."""
    unique_email: bool = False
    index_lags: bool = False
    """Whether a search by e-mail address or domain does not show anything yet."""

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def description(self, **changes: Any) -> str:
        """Return what a person writes about this API."""

        def kind(name: str) -> dict[str, Any]:
            return {
                "create": f"POST /{name}",
                "update": f"PATCH /{name}/{{id}}",
                "read": f"GET /{name}/{{id}}",
                "read_own": f"GET /{name}?scrapersky_id={{our_id}}",
                "find": f"GET /{name}?{'domain' if name == 'company' else 'email'}={{key}}",
                "changes": f"GET /{name}-changes?since={{cursor}}",
                "erase": f"DELETE /{name}/{{id}}",
                "fields": FIELDS[name] + [{"name": one} for one in OWN],
                "records": "data",
                "deleted": "is_deleted",
                "merged": "merged_ids",
                "unsubscribed": "unsubscribed",
                "bounced": "bounced",
                "company": "company",
                **(
                    {"link": "PUT /person/{id}/company/{company_id}"}
                    if name == "person"
                    else {}
                ),
            }

        return json.dumps(
            {
                "base_url": f"http://127.0.0.1:{self.port}",
                "account": "GET /me",
                "error": "error",
                "company": kind("company"),
                "person": kind("person"),
                **changes,
            }
        )

    def add(self, kind: str, **values: Any) -> str:
        """Make a record by hand."""
        self.counter += 1
        id_ = str(self.counter)
        self.rows[kind][id_] = {"id": id_, **values}
        self.changed.append((kind, id_))
        return id_

    def edit(self, kind: str, id_: str, **values: Any) -> None:
        self.rows[kind][id_] |= values
        self.changed.append((kind, id_))

    def merge(self, kind: str, kept: str, gone: str) -> str:
        """Merge two records into a new one, as some CRMs do."""
        row = self.rows[kind].pop(gone) | self.rows[kind].pop(kept)
        row.pop("id")
        return self.add(kind, **row, merged_ids=[kept, gone])

    def of(self, kind: str, our_id: Any) -> list[Row]:
        return [
            r for r in self.rows[kind].values() if r.get("scrapersky_id") == str(our_id)
        ]

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                method, target, _ = lines[0].split(" ")
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in lines[1:])
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if not await self._one(writer, method, target, headers, body):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(
        self,
        writer: Any,
        method: str,
        target: str,
        headers: dict[str, str],
        body: bytes,
    ) -> bool:
        self.calls.append((method, target))
        if self.on_call is not None:
            await self.on_call(method, target)
        fault = next(
            (
                f
                for f in self.faults
                if f.method == method and f.path in target and f.times
            ),
            None,
        )
        if fault is not None:
            fault.times -= 1
            if fault.how == "unsent":
                return False
            if fault.how == "status":
                await answer(writer, fault.status, fault.body, fault.headers)
                return True
        if headers.get("authorization") != f"Bearer {self.token}":
            await answer(
                writer, 401, b'{"message": "token Bearer the-token is invalid"}'
            )
            return True
        status, found = self._handle(method, target, body)
        if fault is not None and fault.how == "lost":
            return False
        content = b"" if found is None else json.dumps(found).encode()
        if fault is not None and fault.how == "half":
            writer.write(
                f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode()
                + content[: len(content) // 2]
            )
            await writer.drain()
            return False
        await answer(writer, status, content)
        return True

    def _handle(self, method: str, target: str, body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        given = json.loads(body) if body else {}
        if parts == ["me"]:
            return 200, {"ok": True}
        if parts[0].endswith("-changes"):
            kind = parts[0].removesuffix("-changes")
            since = int(query.get("since") or 0)
            end = min(since + self.changes_a_page, len(self.changed))
            ids = dict.fromkeys(id_ for k, id_ in self.changed[since:end] if k == kind)
            there = self.rows[kind]
            told = [there.get(id_, {"id": id_, "is_deleted": True}) for id_ in ids]
            more = end < len(self.changed)
            return 200, {"data": told, "cursor": str(end), "has_more": more}
        kind, rows = parts[0], self.rows[parts[0]]
        if method == "POST":
            if self.unique_email and kind == "person":
                email = str(given.get("email")).lower()
                if any(str(row.get("email")).lower() == email for row in rows.values()):
                    return 409, {"message": "the address exists"}
            id_ = self.add(kind, **given)
            return 201, {"data": rows[id_]}
        if len(parts) == 1 and self.index_lags and "scrapersky_id" not in query:
            return 200, {"data": []}
        if len(parts) == 1:
            found = [
                row
                for row in rows.values()
                if all(str(row.get(n)).lower() == v.lower() for n, v in query.items())
            ]
            return 200, {"data": found}
        if parts[1] not in rows:
            return 404, {"message": "no such record"}
        if len(parts) == 4:
            self.edit(kind, parts[1], company=parts[3])
        elif method == "PATCH":
            self.edit(kind, parts[1], **given)
        elif method == "DELETE":
            del rows[parts[1]]
            self.changed.append((kind, parts[1]))
            return 200, {}
        return 200, {"data": rows[parts[1]]}


async def answer(
    writer: Any, status: int, content: bytes, headers: dict[str, str] | None = None
) -> None:
    lines = [
        f"HTTP/1.1 {status} X",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
    await writer.drain()
