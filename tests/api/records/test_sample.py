"""A sample to check: drawn from a list, marked by people, measured with an interval."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import insert

from contact_extraction.measuring.corpus import read_corpus
from scrapersky.companies.matching import match_tenant
from scrapersky.curation.sample import SAMPLE_VALUES, corrected_share, precision_of
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.retention import forget_expired
from scrapersky.privacy.subject import email_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.records import Evidence, Place, SampledValue, ValueSample
from scrapersky.records.audit import Actor
from scrapersky.records.status import ValueMark
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = 30


async def a_list(desk: Desk, count: int = COUNT) -> None:
    """Store companies with an e-mail address each, and where it was read."""
    for number in range(count):
        name = f"shop-{number}.example"
        domain = await desk.add_domain(name, verdict="own_site")
        contact = await desk.add_contact(
            f"info@{name}", domain=domain, email_type="CORPORATE", confidence=0.8
        )
        await desk.add(
            Evidence, contact_id=contact, field="email", value=f"info@{name}",
            url=f"https://{name}/contact", snippet=f"Write to info@{name}", method="text",
            confidence=0.8, robots="allowed", seen_at=utc_now(),
        )  # fmt: skip
        await desk.add(
            Place, name=f"Shop {number}", source="osm", source_place_id=str(number),
            website=f"https://{name}/", address=f"Weg {number}, 80331 München",
        )  # fmt: skip
    await match_tenant(desk.engine, desk.tenant)


async def draw(desk: Desk, **asked: Any) -> Any:
    body = {"kind": "companies", "field": "email", **asked}
    return await desk.send("POST", "/samples", body, status=201)


async def mark(desk: Desk, sample: Any, position: int, said: str | None) -> Any:
    path = f"/samples/{sample['id']}/values/{position}"
    return await desk.send("PUT", path, {"mark": said})


async def test_twenty_values_of_a_list_are_drawn_with_where_each_was_read(
    desk: Desk,
) -> None:
    await a_list(desk)

    sample = await draw(desk)

    assert (sample["population"], sample["drawn"]) == (COUNT, SAMPLE_VALUES)
    assert len({one["value"] for one in sample["values"]}) == SAMPLE_VALUES
    for one in sample["values"]:
        assert one["url"] == f"https://{one['domain']}/contact"
        assert one["value"] in one["snippet"]
        assert (one["mark"], one["confidence"]) == (None, 0.8)
    assert sample["precision"]["share"] is None


async def test_a_sample_is_drawn_of_what_the_filter_leaves(desk: Desk) -> None:
    await a_list(desk, 6)

    sample = await draw(desk, filter=["name:one_of:Shop 1,Shop 2"])
    contacts = await draw(desk, kind="contacts", q="shop-3")

    assert {one["domain"] for one in sample["values"]} == {
        "shop-1.example", "shop-2.example",
    }  # fmt: skip
    assert [one["value"] for one in contacts["values"]] == ["info@shop-3.example"]


@pytest.mark.slow
async def test_marks_measure_the_list_and_can_be_taken_back(desk: Desk) -> None:
    await a_list(desk)
    sample = await draw(desk)
    for position in range(1, 10):
        await mark(desk, sample, position, "right")
    await mark(desk, sample, 11, "unknown")
    measured = await mark(desk, sample, 10, "wrong")
    (listed,) = await desk.get("/samples", {"kind": "companies"})
    undone = await mark(desk, sample, 10, None)

    assert (measured["right"], measured["wrong"]) == (9, 1)
    assert measured["share"] == pytest.approx(0.9)
    assert measured["low"] < 0.9 < measured["high"]
    assert listed["precision"] == measured
    assert (undone["right"], undone["wrong"]) == (9, 0)


@pytest.mark.slow
async def test_marks_correct_the_confidence_of_the_tenant(desk: Desk) -> None:
    await a_list(desk)
    sample = await draw(desk)
    for position in range(1, 11):
        await mark(desk, sample, position, "right" if position < 6 else "wrong")

    (found,) = await desk.get("/samples/precision")

    assert found["field"] == "email"
    assert found["claimed"] == pytest.approx(0.8)
    assert found["corrected"] == pytest.approx((5 + 8) / 20)


async def test_a_value_that_was_drawn_twice_counts_as_it_was_marked_last(
    desk: Desk,
) -> None:
    await a_list(desk, 1)
    for said in ("wrong", "right"):
        await mark(desk, await draw(desk), 1, said)

    (found,) = await desk.get("/samples/precision")

    assert (found["precision"]["right"], found["precision"]["wrong"]) == (1, 0)


async def test_what_was_marked_is_exported_as_annotated_websites(
    desk: Desk, tmp_path: Path
) -> None:
    await a_list(desk, 2)
    sample = await draw(desk)
    await mark(desk, sample, 1, "right")
    await mark(desk, sample, 2, "wrong")
    first, second = sample["values"]

    answer = await desk.client.get(f"/api/v3/samples/{sample['id']}/export")
    (tmp_path / "truth.jsonl").write_text(answer.text)
    true = {site.name: site for site in read_corpus(tmp_path)}

    assert [json.loads(line)["site"] for line in answer.text.splitlines()]
    assert true[first["domain"]].emails == (
        {"address": first["value"], "pages": [first["url"]]},
    )
    assert true[second["domain"]].third_party == {second["value"]}


async def test_a_value_that_must_be_forgotten_is_gone_and_its_mark_stays(
    desk: Desk,
) -> None:
    await a_list(desk, 1)
    sample = await draw(desk)
    await mark(desk, sample, 1, "right")

    async with desk.engine.begin() as connection:
        them = [email_subject(sample["values"][0]["value"])]
        await suppress(connection, Actor(desk.tenant, None, "Ada"), them, "asked")
    after = await desk.get(f"/samples/{sample['id']}")

    (value,) = after["values"]
    assert (value["value"], value["url"], value["snippet"]) == (None, None, None)
    assert after["precision"]["right"] == 1


async def test_what_a_source_lent_is_forgotten_in_samples_too(desk: Desk) -> None:
    await desk.add(
        Place, name="Shop", source="google", source_place_id="1", phone="+4989123456",
        expires_at=utc_now(),
    )  # fmt: skip
    await match_tenant(desk.engine, desk.tenant)
    sample = await draw(desk, field="phone")
    await mark(desk, sample, 1, "right")

    await forget_expired(desk.engine)
    after = await desk.get(f"/samples/{sample['id']}")

    assert sample["values"][0]["value"] == "+4989123456"
    assert after["values"][0]["value"] is None
    assert after["precision"]["right"] == 1


async def test_marks_of_another_tenant_count_for_nobody_else(desk: Desk) -> None:
    await a_list(desk, 3)
    sample = await draw(desk)
    await mark(desk, sample, 1, "right")
    theirs = await desk.add(
        ValueSample, tenant=desk.other, kind="companies", field="email", query={},
        population=9,
    )  # fmt: skip
    rows = [
        {
            "sample_id": theirs, "position": place, "tenant_id": desk.other,
            "record_id": uuid4(), "value": f"{place}@x.example", "mark": ValueMark.WRONG,
            "marked_at": utc_now(),
        }
        for place in range(1, 10)
    ]  # fmt: skip
    async with desk.engine.begin() as connection:
        await connection.execute(insert(SampledValue).values(rows))

    (found,) = await desk.get("/samples/precision")
    listed = await desk.get("/samples")

    assert (found["precision"]["right"], found["precision"]["wrong"]) == (1, 0)
    assert [one["id"] for one in listed] == [sample["id"]]
    await desk.get(f"/samples/{theirs}", status=404)
    await desk.send("PUT", f"/samples/{theirs}/values/1", {"mark": None}, status=404)


async def test_a_list_that_has_no_such_values_gives_an_empty_sample(desk: Desk) -> None:
    sample = await draw(desk, field="person")

    assert (sample["population"], sample["drawn"], sample["values"]) == (0, 0, [])


@pytest.mark.parametrize(
    ("right", "wrong", "population", "low", "high"),
    [
        (9, 1, None, 0.596, 0.982),
        (18, 2, 10_000, 0.699, 0.972),
        (18, 2, 40, 0.769, 0.961),
        (18, 2, 20, 0.9, 0.9),
        (0, 5, None, 0.0, 0.434),
    ],
)
async def test_the_interval_is_wilson_s_and_narrower_in_a_small_list(
    right: int, wrong: int, population: int | None, low: float, high: float
) -> None:
    found = precision_of(right, wrong, population)

    assert found.low == pytest.approx(low, abs=0.012)
    assert found.high == pytest.approx(high, abs=0.012)


async def test_without_marks_the_measured_confidence_is_all_there_is() -> None:
    assert corrected_share(0, 0, 0.8) == pytest.approx(0.8)
    assert corrected_share(0, 0, None) is None
    assert (corrected_share(200, 0, 0.8) or 0) > 0.98
