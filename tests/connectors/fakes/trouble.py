"""Ways in which a call goes wrong, and the step at which it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Step = Literal["before", "instead", "midway", "half", "after"]


@dataclass(slots=True)
class Trouble:
    """One kind of mishap: of which calls, at which step, how often."""

    step: Step
    """before: the connection breaks and nothing is done; instead: this answer and nothing
    is done; midway: half of a batch is done, then this answer; half: all is done, and half
    of the answer comes; after: all is done, and nothing comes back."""
    of: str = ""
    """A part of what it says in the log of calls, as `POST /crm/objects`."""
    status: int = 500
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    passes: int = 0
    """So many calls go well first."""
    times: int = 1


def lost_request(of: str = "", **how: Any) -> Trouble:
    return Trouble("before", of, **how)


def lost_answer(of: str = "", **how: Any) -> Trouble:
    return Trouble("after", of, **how)


def half_an_answer(of: str = "", **how: Any) -> Trouble:
    return Trouble("half", of, **how)


def half_a_batch(of: str = "", **how: Any) -> Trouble:
    return Trouble("midway", of, **how)


def bad_gateway(of: str = "", **how: Any) -> Trouble:
    return Trouble("instead", of, 502, "<html><body><h1>502</h1></body></html>", **how)


def answered(of: str, status: int, body: Any = None, **how: Any) -> Trouble:
    return Trouble("instead", of, status, body, **how)


def next_trouble(troubles: list[Trouble], call: str) -> Trouble | None:
    """Take what happens to this call, if anything does."""
    for trouble in troubles:
        if trouble.of not in call or not trouble.times:
            continue
        if trouble.passes:
            trouble.passes -= 1
            continue
        trouble.times -= 1
        return trouble
    return None
