"""Files that people upload: kept in the database, so that every host can read them."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID, uuid4

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.records.upload import UploadedPart

PART: Final = 1 << 20
"""Bytes of a piece; a file of any size passes through this much memory."""


async def store_upload(
    connection: AsyncConnection, tenant_id: UUID, name: str, path: Path
) -> None:
    """Keep a file under this name, in the transaction of whoever uses it."""
    file = await asyncio.to_thread(path.open, "rb")
    position = 0
    try:
        while content := await asyncio.to_thread(file.read, PART):
            values = {"name": name, "position": position, "content": content}
            await connection.execute(
                insert(UploadedPart).values(tenant_id=tenant_id, **values)
            )
            position += 1
    finally:
        file.close()


async def fetch_upload(engine: AsyncEngine, root: Path, name: str) -> None:
    """Put a file that was uploaded on another host below this directory, if there is one."""
    target = root / name
    if await asyncio.to_thread(target.exists):
        return
    async with engine.connect() as connection:
        content = await read_part(connection, name, 0)
        if content is None:
            return
        await asyncio.to_thread(target.parent.mkdir, parents=True, exist_ok=True)
        # Two stages may fetch it at once: each has a file of its own until it is whole.
        unfinished = target.with_suffix(f".{uuid4().hex}")
        with await asyncio.to_thread(unfinished.open, "wb") as file:
            await copy_parts(connection, name, content, file)
    await asyncio.to_thread(unfinished.rename, target)


async def copy_parts(
    connection: AsyncConnection, name: str, first: bytes, file: BinaryIO
) -> None:
    """Write the pieces of a file, one after the other."""
    content: bytes | None = first
    position = 0
    while content is not None:
        await asyncio.to_thread(file.write, content)
        position += 1
        content = await read_part(connection, name, position)


async def read_part(
    connection: AsyncConnection, name: str, position: int
) -> bytes | None:
    """Read a piece; None beyond the last."""
    found: bytes | None = await connection.scalar(
        select(UploadedPart.content).where(
            UploadedPart.name == name, UploadedPart.position == position
        )
    )
    return found


async def purge_uploads(engine: AsyncEngine, older_than: timedelta) -> int:
    """Forget files that were uploaded long ago; what they held is in records."""
    old = UploadedPart.created_at < func.clock_timestamp() - older_than
    async with engine.begin() as connection:
        return (await connection.execute(delete(UploadedPart).where(old))).rowcount
