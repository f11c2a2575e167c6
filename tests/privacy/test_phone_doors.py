"""A number is stored in one form by every door, and gone in every spelling once suppressed."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import httpx
import phonenumbers
import pytest
from phonenumbers import PhoneNumber, PhoneNumberFormat

from scrapersky.api.app import create_app
from scrapersky.companies.matching import match_companies
from scrapersky.configuration import load_settings
from scrapersky.crawler import Sandbox
from scrapersky.db.connection import connect, parse_target
from scrapersky.kit.canonical import e164, plain_signs
from scrapersky.pipeline.upload import fetched_upload
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.providers.files import PlaceFiles
from scrapersky.providers.files.source import FileSettings
from sdk_tests.rig.size import size
from tests.api.records.rig import AT_REST
from tests.conftest import TestDatabase
from tests.privacy.phone_spelling import made_up_numbers, spelt
from tests.stages.rig import Line, running_line

LISTS = ("places/staging", "local-businesses", "companies", "contacts", "domains")


@dataclass(frozen=True, slots=True)
class Doors:
    """Every way in that a number can take, on one database."""

    client: httpx.AsyncClient
    line: Line

    async def ask(self, method: str, path: str, **how: Any) -> Any:
        answer = await self.client.request(method, f"/api/v3{path}", **how)
        assert answer.is_success, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer

    async def import_list(self, rows: Iterable[str], heading: str) -> None:
        """Upload a list as a person does, and let the stages take what is in it."""
        content = "\n".join([heading, *rows]).encode()
        headers = {"Content-Type": "text/csv"}
        asked = {"params": {"name": "a.csv"}, "headers": headers, "content": content}
        await self.ask("POST", "/searches/file", **asked)
        await self.line.work("place_search")
        await self.line.run("UPDATE places_staging SET deep_scan_status = 'Queued'")
        await self.line.work("deep_scan")
        await match_companies(self.line.engine)

    async def suppress(self, *values: str, **more: Any) -> None:
        told = await self.ask("POST", "/suppressions", json={"values": values, **more})
        assert told["refused"] == []

    async def shown(self) -> str:
        """Return everything that lists, their words and exports show."""
        answers = [
            await self.client.get(f"/api/v3/{kind}{path}")
            for kind in LISTS
            for path in ("?limit=200", "/export?format=csv", "/export?format=jsonl")
        ]
        assert all(answer.is_success for answer in answers)
        return "\n".join(answer.text for answer in answers)

    async def held(self) -> str:
        """Return every row of every table as one text."""
        tables = await self.line.rows(
            "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind = 'r' AND n.nspname IN ('public', 'curation')"
        )
        rows = [
            str(row)
            for (table,) in tables
            for (row,) in await self.line.rows(f"SELECT t::text FROM {table} t")
        ]
        parts = await self.line.rows("SELECT content FROM uploaded_parts")
        return "\n".join([*rows, *(part.decode() for (part,) in parts)])


@pytest.fixture
async def doors(database: TestDatabase, tmp_path: Path) -> AsyncIterator[Doors]:
    target = parse_target(database.url)
    app = create_app(load_settings(AT_REST, dotenv=None).settings, target)
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 40000))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        client = await stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
        )
        engine = connect(target, pool_size=10)
        stack.push_async_callback(engine.dispose)
        read = partial(fetched_upload, engine, tmp_path)
        sources = {"file": PlaceFiles(FileSettings(tmp_path, read))}
        line = await stack.enter_async_context(
            running_line(database, Sandbox(children=1), engine=engine, sources=sources)
        )
        await load_suppression_keys(engine)
        yield Doors(client, line)


def digits_of(written: str) -> str:
    return re.sub(r"\D", "", plain_signs(written))


def is_in(number: PhoneNumber, held: str) -> bool:
    """Say whether the digits of a number stand anywhere, in any grouping or script."""
    bare = re.sub(r"(?<=[0-9])[\s().\-/~\[\]]+(?=[0-9])", "", plain_signs(held))
    national = phonenumbers.national_significant_number(number)
    at_home = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    return national.lstrip("0") in bare or digits_of(at_home).lstrip("0") in bare


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(size(2, 20)))
async def test_whatever_number_can_be_stored_can_be_suppressed(
    doors: Doors, seed: int
) -> None:
    random = Random(seed)
    known = made_up_numbers(random, 12)
    rows = [
        f"Shop {index};{country};{spelt(random, number, at_home=at_home)}"
        for index, (region, number) in enumerate(known)
        for at_home in [random.random() < 0.5]
        for country in [random.choice((region, "")) if at_home else ""]
    ]
    domain = await doors.line.add_domain("a.com")
    for _, number in known[:3]:
        await doors.ask(
            "POST",
            "/contacts",
            json={"domain": "a.com", "phone": spelt(random, number, at_home=False)},
        )
    await doors.import_list(rows, "name;country;phone")
    before = await doors.shown()
    assert all(is_in(number, before) for _, number in known), (domain, rows)

    for region, number in known:
        at_home = random.random() < 0.5
        more = {"region": region} if at_home else {}
        await doors.suppress(spelt(random, number, at_home=at_home), **more)

    shown = await doors.shown()
    assert [e164(n) for _, n in known if is_in(n, shown)] == [], rows

    await doors.import_list([f"{row} again" for row in rows], "name;country;phone")
    await match_companies(doors.line.engine)
    shown = await doors.shown()
    assert [e164(n) for _, n in known if is_in(n, shown)] == [], rows

    for _, number in known[:4]:
        await doors.ask("POST", "/people/erase", json={"phone": e164(number)})
    held = await doors.held()
    assert [e164(n) for _, n in known[:4] if is_in(n, held)] == [], rows


@pytest.mark.slow
async def test_a_suppressed_number_stayed_where_the_place_wrote_it_with_spaces(
    doors: Doors,
) -> None:
    rows = ["Arzt Wien;+43 1 6000003", "Praxis Wien;0043 1 600 00 03"]
    await doors.import_list(rows, "name;phone")

    await doors.suppress("+4316000003")
    await match_companies(doors.line.engine)

    for table in ("places_staging", "local_businesses", "company_members", "companies"):
        found = await doors.line.rows(f"SELECT phone FROM {table}")
        assert {*found} == {(None,)}, table
    number = phonenumbers.parse("+4316000003")
    assert not is_in(number, await doors.shown())
    raw = await doors.line.rows("SELECT raw::text FROM places_staging")
    assert not is_in(number, str(raw))


async def test_a_number_without_a_country_was_not_that_of_the_entry(
    doors: Doors,
) -> None:
    await doors.import_list(["Arzt Wien;01/600 00 03 Durchwahl 5"], "name;phone")
    assert await doors.line.rows("SELECT phone FROM companies") == [("01/600 00 03",)]

    await doors.suppress("+43 1 6000003")

    assert await doors.line.rows("SELECT phone FROM companies") == [(None,)]
    assert await doors.line.rows("SELECT phone FROM places_staging") == [(None,)]


@pytest.mark.slow
async def test_a_number_stored_before_it_had_one_form_outlived_its_entry(
    doors: Doors,
) -> None:
    await doors.suppress("+4316000003")
    await doors.line.run(
        "INSERT INTO places_staging (tenant_id, source, source_place_id, licence, name,"
        " phone, raw) SELECT id, 'file', 'x', 'own', 'Arzt Wien', '01 6000003',"
        ' \'{"row": {"phone": "01 6000003"}}\' FROM tenants'
    )

    await match_companies(doors.line.engine)

    assert await doors.line.rows("SELECT phone, raw->'row' FROM places_staging") == [
        (None, {"phone": None})
    ]
    assert await doors.line.rows("SELECT phone FROM companies") == [(None,)]


@pytest.mark.slow
async def test_companies_with_one_number_in_two_spellings_stayed_two(
    doors: Doors,
) -> None:
    rows = [
        "Bäckerei Huber;AT;Ring 1;1010;Wien;+43 1 6000003",
        "Baeckerei Huber GmbH;AT;Ring 1;1010;Wien;01/600 00 03",
    ]
    await doors.import_list(rows, "name;country;street;postal_code;city;phone")

    assert await doors.line.rows("SELECT phone, records_count FROM companies") == [
        ("+4316000003", 2)
    ]


SPELLINGS = (
    "+43 1 6000003", "01 600-00-03", "(01) 6000003", "0043 1 600 0003", "016000003",
    "+43 (0)1/600 00 03", "\uff10\uff11 \uff16\uff10\uff10\uff10\uff10\uff10\uff13",
)  # fmt: skip


async def test_a_number_stored_as_written_was_found_in_that_spelling_only(
    doors: Doors,
) -> None:
    rows = ["Arzt;AT;01 6000003", "Praxis;;01/600 00 03", "Other;;01 6000004"]
    await doors.import_list(rows, "name;country;phone")

    for kind, words in product(LISTS[:3], SPELLINGS):
        found = await doors.ask("GET", f"/{kind}", params={"q": words})
        names = {item["name"] for item in found["items"]}
        assert names == {"Arzt", "Praxis"}, (kind, words)


@pytest.mark.slow
async def test_a_filter_for_a_number_found_it_in_one_spelling_only(
    doors: Doors,
) -> None:
    await doors.import_list(["Arzt;+43 1 6000003", "Other;+43 1 6000004"], "name;phone")

    for asked in ("phone:equal:+43 1 600 00 03", "phone:one_of:0043 1 6000003"):
        found = await doors.ask("GET", "/companies", params={"filter": asked})
        assert [item["name"] for item in found["items"]] == ["Arzt"], asked
