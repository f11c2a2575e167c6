"""What a filter may cost, over every route that takes one, and every way to compare."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import SQLAlchemyError

from scrapersky.curation.clause import where
from scrapersky.curation.condition import (
    MOST_COMPARISONS,
    MOST_IDS,
    MOST_VALUES,
    Comparison,
    Condition,
    read_conditions,
)
from scrapersky.db.explain import query_plan
from scrapersky.db.failure import explain
from scrapersky.errors import InvalidCondition
from scrapersky.records import CURATED, KINDS, Company, Kind
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

ODD_VALUES: tuple[Any, ...] = (
    "0", "", "true", "-P7D", "2026-11-01T00:00:00Z", "\x00", "\ud800", "%_\\",
    "9" * 30, "x" * 2_000, str(uuid4()), "nan", "1e400", 0, -1.5, 1e300, True, None,
    [], ["0"], [None], [True, 0, "x"], ["-P7D"], ["x"] * MOST_VALUES,
)  # fmt: skip
OWN_FIELDS = ("own.budget", "own.", "own.%", "own.a.b")
MANY = ["1"] * (MOST_VALUES + 1)


def one_of(field: str, values: list[str]) -> dict[str, Any]:
    return {"field": field, "comparison": "one_of", "value": values}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/companies/status", "filter"),
        ("/companies/work", "filter"),
        ("/rules/preview", "conditions"),
        ("/rules", "conditions"),
    ],
)
async def test_a_list_of_thousands_of_values_of_an_own_column_is_refused(
    desk: Desk, path: str, name: str
) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "/companies/status": {"status": "Contacted", "dry_run": True},
        "/companies/work": {},
        "/rules/preview": {"kind": "places"},
        "/rules": {"kind": "places", "name": "Long", "status": "Selected"},
    }

    answer = await desk.post(
        path, {**bodies[path], name: [one_of("own.a", MANY)]}, status=422
    )

    assert answer["detail"] == "one_of needs a list of at most 1,000 values."
    assert answer["hint"] == "Use fewer, or work in several steps."


@pytest.mark.parametrize(
    "path", ["/companies", "/companies/facets", "/companies/export"]
)
async def test_a_list_in_an_address_is_bounded_like_one_in_a_body(
    desk: Desk, path: str
) -> None:
    asked = {"filter": "own.a:one_of:" + ",".join(MANY)}

    answer = await desk.get(path, asked, status=422)

    assert answer["detail"] == "one_of needs a list of at most 1,000 values."


async def test_a_view_is_bounded_like_the_list_it_shows(desk: Desk) -> None:
    query = {"filter": ["own.a:one_of:" + ",".join(MANY)]}

    answer = await desk.post(
        "/views", {"name": "Long", "kind": "companies", "query": query}, status=422
    )

    assert answer["detail"] == "one_of needs a list of at most 1,000 values."


async def test_the_values_of_all_lists_are_counted_together() -> None:
    several = [one_of("name", ["x"] * MOST_VALUES)] * 10

    assert len(read_conditions(several)) == 10
    with pytest.raises(InvalidCondition, match="more than 10,000 values together"):
        read_conditions([*several, one_of("name", ["x"])])


async def test_alternatives_are_counted_with_the_conditions() -> None:
    each = {"field": "name", "value": "x", "or": [{"field": "name", "value": "y"}] * 3}

    assert len(read_conditions([each] * (MOST_COMPARISONS // 4))) == 25
    with pytest.raises(InvalidCondition, match="more than 100 comparisons"):
        read_conditions([each] * (MOST_COMPARISONS // 4 + 1))


async def test_values_within_alternatives_count_too() -> None:
    other = one_of("name", ["x"] * MOST_VALUES)
    each = {**other, "or": [other] * 5}

    with pytest.raises(InvalidCondition, match="more than 10,000 values together"):
        read_conditions([each, each])


async def test_ten_thousand_chosen_ids_are_allowed_and_one_parameter(
    desk: Desk,
) -> None:
    ids = [str(uuid4()) for _ in range(MOST_IDS)]
    status: dict[str, Any] = {"status": "Contacted", "dry_run": True}

    by_filter = {**status, "filter": [one_of("id", ids)]}
    assert (await desk.post("/companies/status", by_filter))["matched"] == 0
    counted = await desk.post("/companies/export/chosen/count", {"ids": ids})
    assert counted["count"] == 0
    clause = where(KINDS["companies"], read_conditions(by_filter["filter"]))
    assert len(parameters(clause)) == 1


@pytest.mark.parametrize("field", ["own.budget", "name", "lead_status", "confidence"])
async def test_a_list_of_values_is_one_parameter_whatever_the_field(field: str) -> None:
    value = "New" if field == "lead_status" else "1"

    clause = where(KINDS["companies"], read_conditions([one_of(field, [value] * 900)]))

    # Beside the values only the name of an own column.
    assert len(parameters(clause)) <= 2


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("id", [str(uuid4()) for _ in range(50)]),
        ("sitemap_curation_status", ["New", "Selected"]),
    ],
)
async def test_a_list_of_values_is_looked_up_in_the_index(
    desk: Desk, field: str, values: list[str]
) -> None:
    kind = KINDS["domains"]
    meant = where(kind, read_conditions([one_of(field, values)]))
    mine = kind.record.tenant_id == desk.tenant

    async with desk.engine.connect() as connection:
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        query = select(kind.record.id).where(mine, meant).limit(1)
        plan = await query_plan(connection, query)

    asked = [node.get("Index Cond", "") for node in plan.nodes]
    assert any(f"{field} = ANY" in condition for condition in asked), plan.nodes


def parameters(clause: ColumnElement[bool]) -> dict[str, Any]:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    return dict(clause.compile(dialect=dialect).params)


async def test_an_own_column_is_compared_as_a_text_and_as_a_number(desk: Desk) -> None:
    for own in ({"a": "1"}, {"a": 1}, {"a": 1.0}, {"a": "one"}, {"a": True}, {}):
        await desk.add(Company, name=str(own), own=own)

    async def found(asked: str) -> set[str]:
        page = await desk.get("/companies", {"filter": asked})
        return {item["name"] for item in page["items"]}

    as_one = {"{'a': '1'}", "{'a': 1}", "{'a': 1.0}"}
    assert await found("own.a:equal:1") == as_one
    assert await found("own.a:one_of:1,one,two") == {*as_one, "{'a': 'one'}"}
    assert await found("own.a:not_equal:1") == {"{'a': 'one'}", "{'a': True}", "{}"}


async def test_a_yes_or_no_is_not_a_matter_of_at_least(desk: Desk) -> None:
    asked = {"filter": "has_contact_form:at_least:0"}

    answer = await desk.get("/pages", asked, status=422)

    assert answer["detail"] == "has_contact_form cannot be compared with at_least."
    assert "equal" in answer["hint"]


def every_comparison(kind: Kind) -> Iterator[Condition]:
    """Compare every field in every way with every odd value."""
    own = OWN_FIELDS if "own" in kind.fields else ()
    fields = (*kind.fields, *kind.linked, *own)
    for field, comparison, value in itertools.product(fields, Comparison, ODD_VALUES):
        yield Condition.model_construct(
            field=field, comparison=comparison, value=value, alternatives=()
        )


def in_parts(clauses: list[ColumnElement[bool]], most: int) -> Iterator[list[Any]]:
    for start in range(0, len(clauses), most):
        yield clauses[start : start + most]


QUICK_KIND = "people"
"""The one with fewest columns; the others take a second each and more."""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, id=name, marks=() if name == QUICK_KIND else pytest.mark.slow
        )
        for name, kind in KINDS.items()
    ],
)
async def test_no_comparison_of_any_field_with_any_value_is_a_server_error(
    desk: Desk, kind: Kind
) -> None:
    """Each is refused in words, or is SQL that PostgreSQL runs or refuses by name."""
    clauses = [*written(kind)]

    async with desk.engine.connect() as connection:
        for some in in_parts(clauses, 100):
            counts = [func.count().filter(each) for each in some]
            with named_refusals():
                await connection.execute(select(*counts).select_from(kind.record))
            await connection.rollback()


def written(kind: Kind) -> Iterator[ColumnElement[bool]]:
    for condition in every_comparison(kind):
        with suppress(InvalidCondition):
            yield where(kind, [condition])


@contextmanager
def named_refusals() -> Iterator[None]:
    """Let PostgreSQL refuse what the API answers below 500."""
    try:
        yield
    except SQLAlchemyError as error:
        if explain(error) is None:
            raise


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
async def test_no_route_answers_a_comparison_with_a_server_error(
    desk: Desk, kind: Kind
) -> None:
    fields = (*kind.fields, *kind.linked, *OWN_FIELDS)
    for field, comparison in itertools.product(fields, Comparison):
        asked = f"{field}:{comparison}" + (
            "" if comparison in {"known", "unknown"} else ":0"
        )
        answer = await desk.client.get(
            f"/api/v3{kind.path}", params={"filter": asked, "limit": 1}
        )
        assert answer.status_code in {200, 422}, (asked, answer.text)
        if kind.name in CURATED:
            body = {
                "filter": [{"field": field, "comparison": comparison, "value": 0}],
                "status": kind.deciding.undecided.value,
                "dry_run": True,
            }
            answer = await desk.client.post(f"/api/v3{kind.path}/status", json=body)
            assert answer.status_code in {200, 422}, (body, answer.text)


async def test_a_person_has_as_many_views_as_a_list_can_show(desk: Desk) -> None:
    view = {"kind": "companies", "query": {"filter": ["name:contains:x"]}}
    await desk.run(
        "INSERT INTO saved_views (tenant_id, kind, name, query)"
        " SELECT :tenant, 'pages', g::text, '{}' FROM generate_series(1, 199) g",
        tenant=desk.tenant,
    )

    await desk.post("/views", {**view, "name": "Last"}, status=201)
    refused = await desk.post("/views", {**view, "name": "One more"}, status=409)

    assert refused["detail"] == "You have 200 views, which is the most."
    await desk.post("/views", {**view, "name": "Last"}, status=201)


async def test_the_filters_of_a_view_are_no_longer_than_an_address(desk: Desk) -> None:
    query = {"filter": ["name:contains:" + "x" * 900] * 20}

    refused = await desk.post(
        "/views", {"name": "Long", "kind": "companies", "query": query}, status=422
    )

    assert (
        refused["errors"][0]["what"] == "Use at most 16,384 characters in all filters."
    )


async def test_the_rules_of_a_tenant_are_short_enough_to_be_listed(desk: Desk) -> None:
    rule = {"kind": "places", "status": "Selected", "is_enabled": False}
    long = [one_of("name", ["x" * 600] * 1_000)]
    await desk.post("/rules", {**rule, "name": "a", "conditions": long}, status=201)
    made = await desk.post(
        "/rules", {**rule, "name": "b", "conditions": []}, status=201
    )

    refused = await desk.post(
        "/rules", {**rule, "name": "c", "conditions": long}, status=409
    )
    changed = await desk.send(
        "PATCH", f"/rules/{made['id']}", {"conditions": long}, status=409,
        headers={"If-Match": "*"},
    )  # fmt: skip

    assert refused["detail"] == changed["detail"]
    assert refused["hint"] == "Shorten the lists of this rule, or delete another."
    await desk.run("DELETE FROM selection_rules WHERE name IN ('a', 'b')")


async def test_a_long_filter_is_kept_in_short_with_what_was_decided(desk: Desk) -> None:
    body = {"filter": [one_of("domain", ["x" * 90] * 900)], "status": "Selected"}

    await desk.post("/domains/status", body)

    (action,) = (await desk.get("/actions"))["items"]
    assert action["selection"]["conditions"] == [
        {"field": "domain", "comparison": "one_of", "value": "900 values"}
    ]
