"""Idempotency-Key: a POST sent twice has one effect, and both get the same answer."""

import asyncio
import hashlib
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.types import Message, Receive, Send

from scrapersky.errors import (
    AnswerNotKept,
    KeyReused,
    MalformedRequest,
    StillWorking,
)
from scrapersky.records import IdempotencyKey

HEADER: Final = "idempotency-key"
KEPT: Final = timedelta(hours=24)
HELD: Final = timedelta(minutes=2)
"""How long the first request may work before another takes its place."""
PATIENCE: Final = 8.0
"""Seconds that a second request waits for the first one's answer."""
POLL: Final = 0.1
LARGEST_ANSWER: Final = 262_144
FORM: Final = re.compile(r"^[\x21-\x7e]{1,200}$")
SWEPT: Final = 50
NOT_KEPT: Final = 0
"""The status of an answer that was given once and must not lie in the database."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that was given before."""

    status: int
    media_type: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Errand:
    """One request with a key: whose, to which route."""

    engine: AsyncEngine
    tenant_id: UUID
    route: str
    key: str
    holder: UUID = field(default_factory=uuid4)

    async def begin(self) -> Kept | None:
        """Take the errand on; or return the answer it had, once it has one."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            if await self._claim():
                return None
            row = await self._look()
            if row is not None and row.status is not None:
                return self._read(row)
            if asyncio.get_running_loop().time() > deadline:
                raise StillWorking(
                    "The first request with this Idempotency-Key is not done yet.",
                    hint="Ask again in a moment, with the same key.",
                )
            await asyncio.sleep(POLL)

    async def refuse_other(self, fingerprint: bytes) -> None:
        """Raise if the key was used with another body."""
        row = await self._look()
        if row is not None and row.fingerprint not in {None, fingerprint}:
            raise KeyReused(
                "This Idempotency-Key was used for a request with another body.",
                hint="A new request needs a new key.",
            )

    async def finish(self, answer: Kept, fingerprint: bytes, *, is_kept: bool) -> None:
        """Keep the answer of an errand that was done, or forget one that failed."""
        mine = (*self._mine(), IdempotencyKey.holder == self.holder)
        is_done = 200 <= answer.status < 300  # noqa: PLR2004 - success
        async with self.engine.begin() as connection:
            if not is_done:
                # Nothing was changed, so the same key may be tried again.
                await connection.execute(delete(IdempotencyKey).where(*mine))
                return
            can_keep = is_kept and len(answer.body) <= LARGEST_ANSWER
            await connection.execute(
                update(IdempotencyKey)
                .where(*mine)
                .values(
                    status=answer.status if can_keep else NOT_KEPT,
                    media_type=answer.media_type if can_keep else None,
                    body=answer.body if can_keep else None,
                    fingerprint=fingerprint,
                    expires_at=func.clock_timestamp() + KEPT,
                )
            )

    async def _claim(self) -> bool:
        now = func.clock_timestamp()
        values = {
            "holder": self.holder,
            "held_until": now + HELD,
            "expires_at": now + KEPT,
        }
        over = select(*primary_key()).where(IdempotencyKey.expires_at < now)
        statement = (
            insert(IdempotencyKey)
            .values(tenant_id=self.tenant_id, route=self.route, key=self.key, **values)
            .on_conflict_do_update(
                index_elements=["tenant_id", "route", "key"],
                set_={**values, "status": None, "fingerprint": None, "body": None},
                where=or_(
                    IdempotencyKey.expires_at < now,
                    (IdempotencyKey.status.is_(None))
                    & (IdempotencyKey.held_until < now),
                ),
            )
            .returning(IdempotencyKey.holder)
        )
        async with self.engine.begin() as connection:
            held = (await connection.execute(statement)).first()
            await connection.execute(
                delete(IdempotencyKey).where(
                    tuple_(*primary_key()).in_(
                        over.limit(SWEPT).with_for_update(skip_locked=True)
                    )
                )
            )
        return held is not None

    async def _look(self) -> Any:  # noqa: ANN401 - a row, or None
        query = select(
            IdempotencyKey.fingerprint,
            IdempotencyKey.status,
            IdempotencyKey.media_type,
            IdempotencyKey.body,
        ).where(*self._mine())
        async with self.engine.connect() as connection:
            return (await connection.execute(query)).one_or_none()

    def _mine(self) -> tuple[Any, ...]:
        return (
            IdempotencyKey.tenant_id == self.tenant_id,
            IdempotencyKey.route == self.route,
            IdempotencyKey.key == self.key,
        )

    @staticmethod
    def _read(row: Any) -> Kept:  # noqa: ANN401 - a row
        if row.status == NOT_KEPT:
            raise AnswerNotKept(
                "This request was done already; its answer was shown once only.",
                hint="Look at what it made, or ask with a new key.",
            )
        return Kept(row.status, row.media_type, row.body or b"")


def primary_key() -> tuple[Any, ...]:
    """Return the columns that name an errand."""
    return IdempotencyKey.tenant_id, IdempotencyKey.route, IdempotencyKey.key


def key_of(header: str) -> str:
    """Read the header; any printable text of a reasonable length is a key."""
    if FORM.match(header) is None:
        raise MalformedRequest(
            "The Idempotency-Key is not 1 to 200 printable characters.",
            hint="A new UUID for every request is a good key.",
        )
    return header


class Hashed:
    """A body whose fingerprint is taken as it passes."""

    def __init__(self, receive: Receive, about: str) -> None:
        self._receive = receive
        self._hash = hashlib.sha256(about.encode())

    async def __call__(self) -> Message:
        """Return the next part."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._hash.update(message.get("body", b""))
        return message

    async def drain(self) -> None:
        """Read what is left."""
        while True:
            message = await self()
            if message["type"] != "http.request" or not message.get("more_body"):
                return

    def fingerprint(self) -> bytes:
        """Return what stands for everything that has passed."""
        return self._hash.digest()


class Recorded:
    """An answer that is kept while it is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500
        self.media_type: str | None = None
        self._parts: list[bytes] = []
        self._size = 0

    async def __call__(self, message: Message) -> None:
        """Note one part of the answer and send it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = dict(message.get("headers", []))
            self.media_type = headers.get(b"content-type", b"").decode() or None
        elif message["type"] == "http.response.body":
            part = message.get("body", b"")
            self._size += len(part)
            if self._size <= LARGEST_ANSWER + 1:
                self._parts.append(part)
        await self._send(message)

    def answer(self) -> Kept:
        """Return what was sent; longer than can be kept stays longer."""
        body = b"".join(self._parts)
        return Kept(
            self.status,
            self.media_type,
            body.ljust(min(self._size, LARGEST_ANSWER + 1), b" "),
        )
