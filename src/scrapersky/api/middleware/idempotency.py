"""Idempotency-Key: a change sent twice has one effect, and both get the same answer."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    delete,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from starlette.types import Message, Receive, Send

from scrapersky.api.transaction import RequestTransaction
from scrapersky.errors import (
    AnswerNotKept,
    KeyReused,
    MalformedRequest,
    StillWorking,
)
from scrapersky.records import IdempotencyKey

HEADER: Final = "idempotency-key"
KEYED_METHODS: Final = frozenset({"POST", "PATCH"})
"""What takes a key: a PUT or DELETE sent twice is the same anyway."""
ANSWER_RETENTION: Final = timedelta(hours=24)
HOLD_TIMEOUT: Final = timedelta(seconds=20)
"""How long after its process died a request that works in chunks keeps others waiting."""
HOLD_RENEWAL_SECONDS: Final = 5.0
WAIT_SECONDS: Final = 8.0
"""Seconds that a second request waits for the first one's answer."""
POLL_SECONDS: Final = 0.1
MAX_RESPONSE_BYTES: Final = 262_144
FORM: Final = re.compile(r"^[\x21-\x7e]{1,200}$")
SWEPT_ROWS: Final = 50
NOT_KEPT: Final = 0
"""The status of an answer that was given once and must not lie in the database."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An answer that was given before."""

    status: int
    media_type: str | None
    body: bytes
    fingerprint: bytes | None = None
    """Of the request that it answered."""

    def refuse_other(self, fingerprint: bytes) -> None:
        """Raise if the key was used with another body."""
        if self.fingerprint not in {None, fingerprint}:
            raise KeyReused(
                "This Idempotency-Key was used for a request with another body.",
                hint="A new request needs a new key.",
            )


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """One request with a key: whose, to which route.

    Its row is written in the transaction of the request and commits with it. A route
    that works in chunks commits the row first, and renews its `held_until` while it
    works.
    """

    transaction: RequestTransaction
    engine: AsyncEngine
    tenant_id: UUID
    route: str
    key: str
    in_chunks: bool = False
    holder: UUID = field(default_factory=uuid4)

    async def begin(self) -> StoredResponse | None:
        """Claim the key; or return the answer it had, once it has one."""
        deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
        while True:
            connection = await self.transaction.join(self.engine)
            if await self._claim(connection):
                if self.in_chunks:
                    await self.transaction.commit()
                return None
            row = await self._look(connection)
            # Nobody waits for another request with a connection in hand.
            await self.transaction.abandon()
            if row is not None and row.status is not None:
                return self._read(row)
            if asyncio.get_running_loop().time() > deadline:
                raise StillWorking(
                    "The first request with this Idempotency-Key is not done yet.",
                    hint="Ask again in a moment, with the same key.",
                )
            await asyncio.sleep(POLL_SECONDS)

    async def keep(self, answer: StoredResponse, *, is_kept: bool) -> None:
        """Keep the answer, in the transaction that has done it."""
        can_keep = is_kept and len(answer.body) <= MAX_RESPONSE_BYTES
        connection = await self.transaction.join(self.engine)
        await connection.execute(
            update(IdempotencyKey)
            .where(*self._mine(), IdempotencyKey.holder == self.holder)
            .values(
                status=answer.status if can_keep else NOT_KEPT,
                media_type=answer.media_type if can_keep else None,
                body=answer.body if can_keep else None,
                fingerprint=answer.fingerprint,
                expires_at=func.clock_timestamp() + ANSWER_RETENTION,
            )
        )

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Keep others from taking the place of a request that works in chunks."""
        renewing = asyncio.create_task(self._renew()) if self.in_chunks else None
        try:
            yield
        finally:
            if renewing is not None:
                renewing.cancel()
                await asyncio.wait([renewing])

    async def _renew(self) -> None:
        until = func.clock_timestamp() + HOLD_TIMEOUT
        while True:
            await asyncio.sleep(HOLD_RENEWAL_SECONDS)
            with suppress(SQLAlchemyError, OSError):
                async with self.engine.begin() as connection:
                    await connection.execute(
                        update(IdempotencyKey)
                        .where(*self._mine(), IdempotencyKey.holder == self.holder)
                        .where(IdempotencyKey.status.is_(None))
                        .values(held_until=until)
                    )

    async def release(self) -> None:
        """Let the same key be tried again after work in chunks has failed.

        Where that was because the database is away, it is free after `HOLD_TIMEOUT`.
        """
        mine = (*self._mine(), IdempotencyKey.holder == self.holder)
        with suppress(SQLAlchemyError, OSError):
            async with self.engine.begin() as connection:
                await connection.execute(
                    delete(IdempotencyKey).where(*mine, IdempotencyKey.status.is_(None))
                )

    async def _claim(self, connection: AsyncConnection) -> bool:
        now = func.clock_timestamp()
        values: dict[str, ColumnElement[Any]] = {
            "holder": literal(self.holder),
            "held_until": now + HOLD_TIMEOUT,
            "expires_at": now + ANSWER_RETENTION,
        }
        named: dict[str, ColumnElement[Any]] = {
            "tenant_id": literal(self.tenant_id),
            "route": literal(self.route),
            "key": literal(self.key),
        }
        # Whoever has not committed yet holds the lock: to insert would wait for them.
        lock = select(
            func.pg_try_advisory_xact_lock(literal(self._lock(), BigInteger)).label(
                "is_mine"
            )
        ).cte("lock")
        row = {**named, **values}
        statement = (
            insert(IdempotencyKey)
            .from_select([*row], select(*row.values()).where(lock.c.is_mine))
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
        over = select(*primary_key()).where(IdempotencyKey.expires_at < now)
        held = (await connection.execute(statement)).first()
        if held is not None:
            await connection.execute(
                delete(IdempotencyKey).where(
                    tuple_(*primary_key()).in_(
                        over.limit(SWEPT_ROWS).with_for_update(skip_locked=True)
                    )
                )
            )
        return held is not None

    def _lock(self) -> int:
        named = f"{self.tenant_id} {self.route} {self.key}".encode()
        digest = hashlib.sha256(named).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    async def _look(self, connection: AsyncConnection) -> Any:  # noqa: ANN401 - a row, or None
        query = select(
            IdempotencyKey.fingerprint,
            IdempotencyKey.status,
            IdempotencyKey.media_type,
            IdempotencyKey.body,
        ).where(*self._mine())
        return (await connection.execute(query)).one_or_none()

    def _mine(self) -> tuple[Any, ...]:
        return (
            IdempotencyKey.tenant_id == self.tenant_id,
            IdempotencyKey.route == self.route,
            IdempotencyKey.key == self.key,
        )

    @staticmethod
    def _read(row: Any) -> StoredResponse:  # noqa: ANN401 - a row
        if row.status == NOT_KEPT:
            raise AnswerNotKept(
                "This request was done already; its answer was shown once only.",
                hint="Look at what it made, or ask with a new key.",
            )
        return StoredResponse(
            row.status, row.media_type, row.body or b"", row.fingerprint
        )


def primary_key() -> tuple[Any, ...]:
    """Return the columns that name a request."""
    return IdempotencyKey.tenant_id, IdempotencyKey.route, IdempotencyKey.key


def key_of(header: str) -> str:
    """Read the header; any printable text of a reasonable length is a key."""
    if FORM.match(header) is None:
        raise MalformedRequest(
            "The Idempotency-Key is not 1 to 200 printable characters.",
            hint="A new UUID for every request is a good key.",
        )
    return header


class HashedBody:
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


class ResponseRecorder:
    """An answer that is held back until it is whole, so that it can be kept first."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self.status = 500

    async def __call__(self, message: Message) -> None:
        """Note one part of the answer; with the last one, send all."""
        self._messages.append(message)
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif not message.get("more_body"):
            for each in self._messages:
                await self._send(each)

    def answer(self, fingerprint: bytes) -> StoredResponse:
        """Return the answer to a request of this fingerprint."""
        start, *parts = self._messages
        headers = dict(start.get("headers", []))
        media_type = headers.get(b"content-type", b"").decode() or None
        body = b"".join(part.get("body", b"") for part in parts)
        return StoredResponse(self.status, media_type, body, fingerprint)
