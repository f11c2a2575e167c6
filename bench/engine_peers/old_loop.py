"""The loop of the old product's kind: claim a batch, then a session and a commit each."""

import time

from sqlalchemy import BigInteger, Text, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables of this peer."""


class OldItem(Base):
    """A record with a status, as the old product kept it."""

    __tablename__ = "old_item"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text, index=True)


async def prepare(url: str, items: int) -> None:
    """Create the table and queue `items` records."""
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
        await connection.execute(
            insert(OldItem),
            [{"id": n, "name": f"item {n}", "status": "Queued"} for n in range(items)],
        )
    await engine.dispose()


async def drain(url: str, batch: int) -> float:
    """Work everything that is queued; return the seconds it took."""
    engine = create_async_engine(url)
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    async with sessions() as session:
        await session.execute(select(1))
    started = time.perf_counter()
    while claimed := await claim(sessions, batch):
        for item_id in claimed:
            await work(sessions, item_id)
    seconds = time.perf_counter() - started
    await engine.dispose()
    return seconds


async def claim(sessions: async_sessionmaker[AsyncSession], batch: int) -> list[int]:
    """Mark the next batch as being processed, in one transaction."""
    async with sessions() as session, session.begin():
        found = await session.scalars(
            select(OldItem.id)
            .where(OldItem.status == "Queued")
            .limit(batch)
            .with_for_update(skip_locked=True)
        )
        ids = list(found)
        await session.execute(
            update(OldItem).where(OldItem.id.in_(ids)).values(status="Processing")
        )
    return ids


async def work(sessions: async_sessionmaker[AsyncSession], item_id: int) -> None:
    """Do nothing with one record and mark it complete, in a session of its own."""
    async with sessions() as session, session.begin():
        item = await session.get(OldItem, item_id)
        if item is not None:
            item.status = "Complete"
