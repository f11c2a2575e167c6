"""What a user declares; no line of it is a type error."""

import enum
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import Done, Outcome, Stage, Worker, run_job_loop, stage
from curation_sdk.testing import drain


class Status(enum.StrEnum):
    QUEUED = "queued"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


class Base(DeclarativeBase):
    pass


class Letter(Base):
    __tablename__ = "letter"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Status]


class Parcel(Base):
    __tablename__ = "parcel"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[Status]


class Stamps(Protocol):
    def stamp(self) -> str: ...


class Scales(Protocol):
    def weigh(self) -> int: ...


class PostOffice:
    def stamp(self) -> str:
        return "stamped"

    def weigh(self) -> int:
        return 1


@stage(
    "letters",
    Letter,
    claims=Letter.status,
    queued=Status.QUEUED,
    processing=Status.WORKING,
    done=Status.DONE,
    failed=Status.FAILED,
    order_by=Letter.id,
    batch=10,
    timeout=timedelta(seconds=3),
)
async def send_letter(letter: Letter, tools: Stamps) -> Outcome:
    return Done(empty_because=f"{letter.id} {tools.stamp()}")


@stage(
    "parcels",
    claims=Parcel.status,
    queued=Status.QUEUED,
    processing=Status.WORKING,
    done=Status.DONE,
    failed=Status.FAILED,
    order_by=[Parcel.id.desc()],
)
async def send_parcel(parcel: Parcel, tools: Scales) -> Done:
    return Done(empty_because=f"{parcel.id} {tools.weigh()}")


@stage(
    "unstamped",
    claims=Letter.status,
    queued=Status.QUEUED,
    processing=Status.WORKING,
    done=Status.DONE,
    failed=Status.FAILED,
)
async def send_unstamped(_letter: Letter, _tools: object) -> Outcome:
    return Done()


async def post(letter_id: int, session: AsyncSession) -> None:
    (await session.get_one(Letter, letter_id)).status = Status.DONE


def post_later(letter_id: int, session: AsyncSession) -> Awaitable[None]:
    return post(letter_id, session)


async def use(engine: AsyncEngine) -> None:
    letters: Stage[Letter, Stamps] = send_letter.configured(batch=5, concurrency=1)
    parcels: Stage[Parcel, Scales] = send_parcel
    office = PostOffice()
    both: list[Stage[Any, PostOffice]] = [letters, parcels]
    Worker(engine, both, tools=office)
    Worker(engine, [letters, send_unstamped], tools=office)
    Worker(engine, [send_unstamped])
    await drain(engine, letters, send_unstamped, tools=office)
    for function in (post, post_later):
        await run_job_loop(
            Letter,
            Status,
            Status.QUEUED,
            Status.WORKING,
            Status.DONE,
            Status.FAILED,
            function,
            order_by_column=[Letter.id.asc(), "status"],
            engine=engine,
            mode="one_batch",
        )
