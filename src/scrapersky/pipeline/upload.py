"""Files that people upload: kept in the database, so that every host can read them."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.db.chunks import change_in_chunks
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.records.upload import UploadedPart

PART_BYTES: Final = 1 << 20
"""Bytes of a piece; a file of any size passes through about this much memory."""
READING_FOLDER: Final = "reading"
"""Below the data directory, and not of what is backed up: files while they are read."""
COPY_LIFETIME_SECONDS: Final = 86_400.0
"""Seconds after which nobody reads a copy any more."""
# The first piece of a file goes first: without it there is no file, and nobody reads half.
OLD_PARTS: Final = """DELETE FROM uploaded_parts WHERE (name, position) IN (
  SELECT name, position FROM uploaded_parts
  WHERE created_at < statement_timestamp() - CAST(:age AS interval)
  ORDER BY created_at LIMIT :chunk FOR UPDATE SKIP LOCKED)"""


async def store_upload(
    connection: AsyncConnection, tenant_id: UUID, name: str, path: Path
) -> None:
    """Keep a file under this name, in the transaction of whoever uses it."""
    with await asyncio.to_thread(path.open, "rb") as file:
        pieces = pieces_of(file)
        position = 0
        while (content := await asyncio.to_thread(next, pieces, None)) is not None:
            values = {"name": name, "position": position, "content": content}
            await connection.execute(
                insert(UploadedPart).values(tenant_id=tenant_id, **values)
            )
            position += 1


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """Cut a file between two lines: an address in two pieces could not be erased."""
    rest = b""
    while content := file.read(PART_BYTES):
        piece = rest + content
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1 or len(piece)
        rest = piece[end:]
        yield piece[:end]
    if rest:
        yield rest


@asynccontextmanager
async def fetched_upload(
    engine: AsyncEngine, root: Path, name: str
) -> AsyncIterator[Path | None]:
    """Give a file that was uploaded, below this directory and while the block lasts.

    No copy stays: an erasure does not reach those on other hosts. None if there is none.
    """
    async with engine.connect() as connection:
        first = await read_part(connection, name, 0)
    if first is None:
        yield None
        return
    place = root / READING_FOLDER
    await asyncio.to_thread(delete_old_copies, place)
    with TemporaryDirectory(dir=place) as folder:
        path = Path(folder) / Path(name).name
        with await asyncio.to_thread(path.open, "wb") as file:
            async with engine.connect() as connection:
                await copy_parts(connection, name, first, file)
        yield path


def delete_old_copies(place: Path) -> None:
    """Make the directory, and delete what processes that were killed have left there."""
    place.mkdir(parents=True, exist_ok=True)
    for left in place.iterdir():
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > COPY_LIFETIME_SECONDS:
                shutil.rmtree(left)


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


async def purge_uploads(
    engine: AsyncEngine, older_than: timedelta, is_stopping: IsStopping = never
) -> int:
    """Forget files that were uploaded long ago; what they held is in records."""
    return await change_in_chunks(
        engine, (OLD_PARTS,), {"age": older_than}, is_stopping
    )
