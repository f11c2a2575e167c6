"""An instance made of a claimed row is what SQLAlchemy itself would call detached."""

import pytest
from sqlalchemy import inspect
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    configure_mappers,
    make_transient_to_detached,
    mapped_column,
)
from sqlalchemy.orm.exc import DetachedInstanceError

from curation_sdk.compat import detach, instance_maker


class Base(DeclarativeBase):
    pass


class Letter(Base):
    __tablename__ = "letters_of_compat"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    long: Mapped[str]

    def __init__(self, **_: object) -> None:
        raise AssertionError("the constructor is not for rows")


# As the first claim of a worker does.
configure_mappers()


def a_letter() -> Letter:
    mapper = inspect(Letter)
    made: Letter = instance_maker(mapper)()
    made.__dict__.update(id=7, text="Dear")
    detach(made, mapper, 7, ["long"])
    return made


def test_it_is_as_sqlalchemy_would_detach_it() -> None:
    ours, theirs = a_letter(), instance_maker(inspect(Letter))()
    theirs.__dict__.update(id=7, text="Dear")
    make_transient_to_detached(theirs)

    for one in (inspect(ours), inspect(theirs)):
        assert one.detached
        assert one.identity == (7,)
        assert one.unloaded == {"long"}
    assert inspect(ours).identity_key == inspect(theirs).identity_key
    assert ours.text == "Dear"


def test_what_was_not_loaded_raises() -> None:
    with pytest.raises(DetachedInstanceError):
        _ = a_letter().long
