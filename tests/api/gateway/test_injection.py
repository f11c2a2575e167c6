"""What is asked of lists is a question, never a statement: over every route."""

import itertools
import random
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from tests.api.gateway.document import Operation, properties
from tests.api.gateway.planted import plant
from tests.api.gateway.rig import House
from tests.api.gateway.test_foreign import API, TAKE_BODIES

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("quiet"),
]

ASKED = [found for found in API if found.method == "GET" and not found.takes_id]
TRIED = (
    {"sort": "(select pg_sleep(9))"},
    {"sort": "id; DROP TABLE domains"},
    {"sort": "-id,(select 1)"},
    {"filter": "name:equals:'; SELECT pg_sleep(9); --"},
    {"filter": "id) OR (1=1:equals:x"},
    {"filter": "tenant_id:is_set"},
    {"filter": "password_hash:is_set"},
    {"filter": "name:contains:" + "%" * 2_000},
    {"filter": "name:contains:" + "\\" * 500},
    {"filter": "name:matches:(a+)+$"},
    {"filter": ":" * 200},
    {"q": "%_%_%_" * 300},
    {"q": "' OR ''='"},
    {"q": "x" * 8_000},
    {"field": "status,(select 1)"},
    {"columns": "password_hash,tenant_id"},
    {"cursor": "forged"},
    {"cursor": "A" * 6_000},
    {"limit": "1000000000"},
    {"limit": "-1"},
    {"limit": "0"},
    {"limit": "NaN"},
    {"limit": "1e400"},
    {"limit": "true"},
    {"limit": "9223372036854775808"},
    {"limit": "9" * 5_000},
    {"minutes": "-1"},
    {"minutes": "99999999999"},
)


@pytest.mark.parametrize("operation", ASKED, ids=lambda found: found.id)
async def test_a_list_asked_nastily_answers_plainly(
    house: House, operation: Operation
) -> None:
    started = time.process_time()

    for params in asked_of(operation):
        answer = await house.client.get(
            operation.address(uuid4()), params=params, headers=house.admin.headers
        )
        assert answer.status_code < 500, (params, answer.text)
        name = next(iter(params))
        if name in {"limit", "cursor", "columns"} and takes(operation, name):
            assert answer.status_code in {403, 422}, (params, answer.text)

    assert time.process_time() - started < 10


def asked_of(operation: Operation) -> Iterator[dict[str, str]]:
    """Ask for each thing alone that an operation reads, and for the others at once."""
    unread: dict[str, str] = {}
    for params in TRIED:
        (name,) = params
        if takes(operation, name):
            yield params
        else:
            unread |= params
    yield unread


def takes(operation: Operation, name: str) -> bool:
    return any(parameter["name"] == name for parameter in operation.parameters)


LONG = 100_000
KILLERS = tuple(
    (piece * LONG)[:LONG] + "!" for piece in ("a", "1 ", "@a.", "(", "a-", "http://")
)
"""Texts over which a careless pattern takes minutes."""
ENOUGH = 0.05
"""Seconds of the processor for one such text."""
SHAPES: dict[str, Callable[[str], object]] = {
    "string": str, "array": lambda text: [text], "object": lambda text: {"x": text},
}  # fmt: skip


@pytest.mark.parametrize(
    "turns", [1, pytest.param(len(KILLERS), marks=pytest.mark.long)]
)
async def test_no_text_is_long_enough_to_hold_a_validator_up(
    house: House, turns: int
) -> None:
    slow: list[tuple[str, int, float]] = []
    for operation, turn in itertools.product(TAKE_BODIES, range(turns)):
        body, count = filled(operation, turn)
        taken = [await seconds_for(house, operation, body)]
        # A collection of garbage, or a beat of a worker, may fall into one of them.
        while taken[-1] > count * ENOUGH and len(taken) < 4:
            taken.append(await seconds_for(house, operation, body))
        if min(taken) > count * ENOUGH:
            slow.append((operation.id, turn, min(taken)))

    assert slow == []


def filled(operation: Operation, turn: int) -> tuple[dict[str, object], int]:
    """Make up a body in which every text is a killer; return how many there are."""
    kinds = properties(operation.body or {}, operation.document)
    names = [name for name, kind in kinds.items() if kind in {*SHAPES, None}]
    texts = {
        name: SHAPES.get(kinds[name] or "string", str)(KILLERS[at % len(KILLERS)])
        for at, name in enumerate(names, start=turn)
    }
    return {**(operation.sample_body() or {}), **texts}, max(len(texts), 1)


async def seconds_for(house: House, operation: Operation, body: object) -> float:
    began = time.process_time()
    answer = await house.client.request(
        operation.method,
        operation.address(uuid4()),
        headers={**house.admin.headers, "If-Match": "*"},
        json=body,
    )
    assert answer.status_code < 500, (operation.id, answer.text[:500])
    return time.process_time() - began


async def test_nothing_was_dropped(house: House) -> None:
    assert await house.scalar("SELECT count(*) FROM domains") >= 0


CLOSERS = ("", "'", "')", "'))", '"', '")', "`", "\\'", "%'", "%')", "1", "1)")
CLAIMS = (
    " AND {0}", " OR {0}", " AND ({0})", "||(CASE WHEN {0} THEN 'a' ELSE 'b' END)||",
    ",(CASE WHEN {0} THEN 1 ELSE 1/0 END)", " AND 1=(CASE WHEN {0} THEN 1 ELSE 2 END)",
)  # fmt: skip
ORDERS = (
    " AND 1=(SELECT 1 FROM pg_sleep(3))", ";SELECT pg_sleep(3)", "||pg_sleep(3)||",
    " UNION SELECT NULL", " UNION ALL SELECT version(),NULL,NULL",
    " AND 1=CAST(version() AS int)", " AND 1=CAST((SELECT current_user) AS int)",
    ";COPY (SELECT 1) TO PROGRAM 'id'", " ORDER BY 99", ";DROP TABLE contacts",
)  # fmt: skip
ENDINGS = ("", "--", "-- -", "/*", "#", ";", " AND '1'='1", "\x00")
SLOW = 2.5
"""Seconds after which a `pg_sleep` must have worked."""
TOLD = (
    "syntax error",
    "postgresql",
    "asyncpg",
    "sqlalchemy",
    "pg_catalog",
    "traceback",
)
QUESTIONS = 20_000


def places(operation: Operation) -> Iterator[tuple[str, str]]:
    """Name every place in a question where words can stand, as a pattern."""
    for parameter in operation.parameters:
        if parameter["in"] == "query":
            yield parameter["name"], "{}"
    if takes(operation, "filter"):
        for field in ("name", "email", "domain", "url", "status", "id", "created_at"):
            for comparison in (
                "equal",
                "contains",
                "starts_with",
                "at_least",
                "one_of",
            ):
                yield "filter", f"{field}:{comparison}:{{}}"
        yield "filter", "{}:equal:x"
        yield "filter", "name:{}:x"
    if takes(operation, "sort"):
        yield "sort", "-{}"


def questions() -> list[tuple[Operation, str, str, str, str | None]]:
    """Make up orders, and claims that are true and false, for every place of every list."""
    found: list[tuple[Operation, str, str, str, str | None]] = []
    for operation in ASKED:
        for (name, pattern), closer, ending in itertools.product(
            places(operation), CLOSERS, ENDINGS
        ):
            for claim in CLAIMS:
                true, false = (
                    f"{closer}{claim.format(said)}{ending}" for said in ("7=7", "7=8")
                )
                found.append((operation, name, pattern, true, false))
            found += (
                (operation, name, pattern, closer + order + ending, None)
                for order in ORDERS
            )
    return random.Random(20_261_115).sample(found, min(QUESTIONS, len(found)))


@pytest.mark.long
async def test_twenty_thousand_injections_find_nothing(house: House) -> None:
    """As sqlmap looks for holes: by errors, by time, and by what is true."""
    await plant(house.engine, house.home, "goldcrest")
    asked = 0

    async def ask(operation: Operation, name: str, value: str) -> tuple[int, str]:
        nonlocal asked
        # A hole sleeps every time; a busy machine does not.
        for _ in range(3):
            asked += 1
            began = time.monotonic()
            answer = await house.client.get(
                operation.address(uuid4()),
                params={name: value},
                headers=house.admin.headers,
            )
            if time.monotonic() - began < SLOW:
                break
        else:
            pytest.fail(f"{operation.id} slept for {name}={value}")
        assert answer.status_code < 500, (operation.id, name, value, answer.text)
        said = answer.text.lower()
        if answer.status_code >= 400:
            assert not [w for w in TOLD if w in said], (operation.id, name, value, said)
        return answer.status_code, said.replace(value.lower(), "")

    for operation, name, pattern, first, second in questions():
        one = await ask(operation, name, pattern.format(first))
        if second is not None:
            other = await ask(operation, name, pattern.format(second))
            assert one[0] == other[0], (operation.id, name, pattern.format(first))

    print(f"{asked} questions to {len(ASKED)} lists")
    assert await house.scalar("SELECT count(*) FROM contacts") > 0
