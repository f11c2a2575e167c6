"""A property that is worked out when it is first asked for."""

from collections.abc import Callable
from typing import Generic, TypeVar

OwnerT = TypeVar("OwnerT")
ValueT = TypeVar("ValueT")


class once(Generic[OwnerT, ValueT]):  # noqa: N801 - written as a decorator
    """Like `functools.cached_property`, which until Python 3.12 takes a lock each time.

    Whoever asks in two threads at the same moment has it worked out twice.
    """

    def __init__(self, work_out: Callable[[OwnerT], ValueT]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    def __get__(self, owner: OwnerT, _type: type[OwnerT]) -> ValueT:
        """Work it out, and put it where it is found before this is asked again."""
        value = owner.__dict__[self._name] = self._work_out(owner)
        return value
