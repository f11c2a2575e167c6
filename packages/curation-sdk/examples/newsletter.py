"""A queue out of a table of your own: send each subscriber one welcome letter.

Run it with the DSN of any PostgreSQL:

    python examples/newsletter.py postgresql://user:password@localhost/database
"""

import asyncio
import enum
import sys
from datetime import datetime

from sqlalchemy import DateTime, Enum, ForeignKey, func, make_url, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import migrate, queue_index, run_job_loop


class Base(DeclarativeBase):
    type_annotation_map = {datetime: DateTime(timezone=True)}  # noqa: RUF012


class Welcome(enum.StrEnum):
    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


class Subscriber(Base):
    __tablename__ = "subscriber"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)
    welcome: Mapped[Welcome] = mapped_column(
        Enum(Welcome, native_enum=False), default=Welcome.QUEUED
    )
    error: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Letter(Base):
    __tablename__ = "letter_sent"

    subscriber_id: Mapped[int] = mapped_column(
        ForeignKey("subscriber.id"), primary_key=True
    )
    body: Mapped[str]


# The index claims walk along; without it the loop refuses to start.
queue_index(Subscriber.welcome, Welcome.QUEUED)


async def send_welcome(subscriber_id: int, session: AsyncSession) -> None:
    """Write one letter. Returning means done; raising means try again."""
    subscriber = await session.get_one(Subscriber, subscriber_id)
    if "@" not in subscriber.email:
        raise ValueError(f"{subscriber.email} is not an address")
    session.add(
        Letter(subscriber_id=subscriber.id, body=f"Welcome, {subscriber.email}!")
    )


async def main(dsn: str) -> None:
    engine = create_async_engine(make_url(dsn).set(drivername="postgresql+asyncpg"))
    await migrate(engine)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)

    async with AsyncSession(engine) as session, session.begin():
        session.add_all(Subscriber(email=f"reader{n}@example.org") for n in range(20))
        session.add(Subscriber(email="not an address"))

    settled = await run_job_loop(
        Subscriber,
        Welcome,
        Welcome.QUEUED,
        Welcome.SENDING,
        Welcome.SENT,
        Welcome.FAILED,
        send_welcome,
        batch_size=10,
        status_field_name="welcome",
        engine=engine,
        max_attempts=1,
    )

    async with AsyncSession(engine) as session:
        letters = await session.scalar(select(func.count()).select_from(Letter))
        failed = await session.scalars(
            select(Subscriber.error).where(Subscriber.welcome == Welcome.FAILED)
        )
        print(f"{settled} settled, {letters} letters, failed: {failed.all()}")
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
