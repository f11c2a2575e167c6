"""What is stored there is what the preview showed, whatever fields an account has and we hold.

Each vendor drops, cuts or writes anew what does not fit in its own way. Fields, mappings and values
are drawn: a record is either refused, with a reason, or holds what was meant.
"""

import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from scrapersky.connectors.brevo import BrevoConnector
from scrapersky.connectors.hubspot import HubspotConnector
from scrapersky.connectors.mapping import FieldMapping, mapped, merged, own_fields
from scrapersky.connectors.mautic import MauticConnector
from scrapersky.connectors.pipedrive import PipedriveConnector
from scrapersky.connectors.protocol import (
    Connector,
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmValue,
    Refused,
    Written,
)
from scrapersky.connectors.values import normalised
from tests.connectors.fakes import brevo, hubspot, mautic, pipedrive
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.hubspot_properties import Property
from tests.connectors.rig import connected, our, write

HUBSPOT_TYPES = {
    "text": ("string", "text"),
    "number": ("number", "number"),
    "boolean": ("bool", "booleancheckbox"),
    "date": ("date", "date"),
    "phone": ("phone_number", "phonenumber"),
    "choice": ("enumeration", "select"),
    "choices": ("enumeration", "checkbox"),
}
PIPEDRIVE_TYPES = {
    "text": "text",
    "short text": "varchar",
    "number": "double",
    "date": "date",
    "phone": "phone",
    "choice": "enum",
    "choices": "set",
}
BREVO_TYPES = {"text": "text", "number": "float", "boolean": "boolean", "date": "date"}
MAUTIC_TYPES = {
    "text": "text",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "phone": "tel",
    "url": "url",
    "choice": "select",
}
OPTIONS = ("hot", "warm", "a b")
TEXTS = (
    "Größe", "a;b", "x\ny", "1,000", "=1+1", "O'Neil & \"Co\"", "hot", "Warm", "12", "0", "true",
    "2026-11-18", "x" * 300, "名前", "🦷", "  padded ", "<b>", "a\tb", "null", "+15125550100",
)  # fmt: skip


def to_hubspot(fake: Any, kind: CrmKind, number: int, draw: random.Random) -> None:
    type_ = draw.choice([*HUBSPOT_TYPES])
    named = {"company": "companies", "person": "contacts"}[kind]
    name, options = f"drawn_{number}", OPTIONS if "choice" in type_ else ()
    fake.portal.schema[named][name] = Property(
        name, *HUBSPOT_TYPES[type_], name, "drawn", options, is_ours=True,
        is_read_only=draw.random() < 0.1,
    )  # fmt: skip


def to_pipedrive(fake: Any, kind: CrmKind, number: int, draw: random.Random) -> None:
    type_ = draw.choice([*PIPEDRIVE_TYPES])
    named = {"company": "organizations", "person": "persons"}[kind]
    options = [
        {"id": 100 * number + at, "label": one} for at, one in enumerate(OPTIONS)
    ]
    code = f"{number:040x}"
    row = fake.field_row(
        code, f"Drawn {number}", PIPEDRIVE_TYPES[type_], is_custom=True
    )
    fake.custom[named][code] = row | {"options": options if "choice" in type_ else None}


def to_brevo(fake: Any, kind: CrmKind, number: int, draw: random.Random) -> None:
    type_ = BREVO_TYPES[draw.choice([*BREVO_TYPES])]
    if kind is CrmKind.PERSON:
        fake.contact_schema[f"DRAWN_{number}"] = type_
    else:
        fake.company_schema[f"drawn_{number}"] = type_


def to_mautic(fake: Any, kind: CrmKind, number: int, draw: random.Random) -> None:
    type_ = MAUTIC_TYPES[draw.choice([*MAUTIC_TYPES])]
    named = {"company": "company", "person": "contact"}[kind]
    fake.schema[named][f"drawn_{number}"] = type_


@dataclass(frozen=True)
class Drawn:
    """A vendor whose accounts are drawn."""

    connector: type[Connector]
    fake: type[Any]
    credential: str
    adds: Callable[[Any, CrmKind, int, random.Random], None]
    options: tuple[tuple[str, str], ...] = ()


VENDORS = {
    "hubspot": Drawn(HubspotConnector, hubspot.FakeHubSpot, hubspot.TOKEN, to_hubspot),
    "pipedrive": Drawn(
        PipedriveConnector, pipedrive.FakePipedrive, pipedrive.TOKEN, to_pipedrive
    ),
    "brevo": Drawn(
        BrevoConnector, brevo.FakeBrevo, brevo.KEY, to_brevo, (("list_id", "7"),)
    ),
    "mautic": Drawn(MauticConnector, mautic.FakeMautic, mautic.CREDENTIAL, to_mautic),
}


@pytest.fixture(params=[*VENDORS])
async def account(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Any, ...]]:
    vendor, clock = VENDORS[request.param], StillClock()
    options = dict(vendor.options)
    async with vendor.fake(clock) as fake:
        as_given = partial(
            connected, vendor.connector, fake.url, vendor.credential, clock
        )
        async with as_given(**options) as connector:
            for kind in CrmKind:
                made = await connector.make_fields(kind, own_fields())
                options |= {f"field:{kind}:{name}": own for name, own in made.items()}
        async with as_given(**options) as connector:
            yield connector, fake, vendor


def drawn_value(draw: random.Random, number: int) -> CrmValue:
    makers: tuple[Callable[[], CrmValue], ...] = (
        lambda: draw.choice(TEXTS),
        lambda: draw.choice([0.0, 4.5, 12.0, -3.25]),
        lambda: tuple(draw.sample(["Dentist", "hot", "Warm", "a;b"], 2)),
        lambda: draw.choice(["+15125550100", "+4930123456"]),
        lambda: f"https://www.Site{number}.example/Path/",
    )
    return draw.choice(makers)()


@pytest.mark.parametrize("kind", list(CrmKind))
@pytest.mark.parametrize("seed", range(4))
async def test_what_is_stored_is_what_was_meant(
    account: tuple[Any, ...], seed: int, kind: CrmKind
) -> None:
    connector, fake, vendor = account
    draw = random.Random(seed)
    before = {one.name for one in await connector.fields(kind)}
    for number in range(1, 9):
        vendor.adds(fake, kind, number, draw)
    schema = {one.name: one for one in await connector.fields(kind)}
    rules = [
        FieldMapping(ours=name, theirs=name, choices={"Dentist": "hot"})
        for name in schema.keys() - before
    ]
    rules += [
        FieldMapping(ours=ours, theirs=theirs)
        for ours, theirs in connector.info.mapping[kind].items()
        if ours in {"name", "last_name", "email", "domain"}
    ]
    assert len(rules) > 8
    outcomes = [0, 0]
    for number in range(12):
        names = draw.sample(sorted(schema.keys() - before), 3)
        ours = {name: drawn_value(draw, number) for name in names}
        ours |= {
            "name": f"Name {number}",
            "last_name": f"Name {number}",
            "email": f"p{number}@x{number}.example",
            "domain": f"x{number}.example",
        }
        meant = mapped(ours, rules, schema).values
        [result] = await connector.write(kind, [write(kind, number, meant)])
        found = await connector.read_own(kind, [our(number)], [*meant])
        outcomes[isinstance(result, Written)] += 1
        if isinstance(result, Refused):
            assert result.reasons.keys() <= {*meant, ""}, result
            assert found == {}
            continue
        assert isinstance(result, Written), (meant, result)
        for name, value in meant.items():
            stored = found[our(number)].values.get(name)
            assert normalised(stored, schema[name]) == normalised(
                value, schema[name]
            ), (schema[name], value, stored)
    assert outcomes[True]


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_stored_of_many_at_once_is_what_was_meant(
    account: tuple[Any, ...], seed: int
) -> None:
    connector, fake, vendor = account
    kind, draw = CrmKind.PERSON, random.Random(seed)
    before = {one.name for one in await connector.fields(kind)}
    for number in range(1, 6):
        vendor.adds(fake, kind, number, draw)
    schema = {one.name: one for one in await connector.fields(kind)}
    email = connector.info.mapping[kind]["email"]
    rules = [FieldMapping(ours=name, theirs=name) for name in schema.keys() - before]
    rules.append(FieldMapping(ours="email", theirs=email))
    size = min(connector.info.batch.get(kind, 1), 40)
    meant = []
    for number in range(size):
        ours = {name: drawn_value(draw, number) for name in schema.keys() - before}
        ours["email"] = f"p{number}@x{number}.example"
        meant.append(mapped(ours, rules, schema).values)
    results = await connector.write(
        kind, [write(kind, number, one) for number, one in enumerate(meant)]
    )
    found = await connector.read_own(kind, [our(n) for n in range(size)], [*schema])

    for number, (one, result) in enumerate(zip(meant, results, strict=True)):
        assert (our(number) in found) == isinstance(result, Written), result
        for name, value in one.items() if our(number) in found else ():
            stored = found[our(number)].values.get(name)
            assert normalised(stored, schema[name]) == normalised(value, schema[name])


def test_a_field_that_cannot_be_written_is_in_no_preview() -> None:
    field = CrmField(name="score", label="Score", is_read_only=True)
    rules = [FieldMapping(ours="name", theirs="score")]
    for known in ({}, {"score": field}):
        assert mapped({"name": "Acme"}, rules, known).values == {}
    open_ = {"score": replace(field, is_read_only=False)}
    assert mapped({"name": "Acme"}, rules, open_).values == {"score": "Acme"}


def test_a_number_in_a_field_of_text_did_not_differ_for_ever() -> None:
    schema = {"note": CrmField(name="note", label="Note")}
    rules = [FieldMapping(ours="rating", theirs="note")]
    for rating, stored in ((4.5, "4.5"), (5.0, "5")):
        sent = mapped({"rating": rating}, rules, schema).values
        assert merged(sent, {}, {"note": stored}, rules, schema).changes == {}
        assert merged(sent, {}, {"note": stored}, rules, schema).differs == {}


def test_a_value_of_another_type_than_its_field_is_shown_and_left_out() -> None:
    number = CrmField(name="score", label="Score", type=CrmFieldType.NUMBER)
    rules = [FieldMapping(ours="name", theirs="score")]
    found = mapped({"name": "1,000"}, rules, {"score": number})
    assert (found.values, found.unmatched) == ({}, {"name": "1,000"})
