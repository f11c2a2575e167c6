"""One spelling for each address, number and domain, and finding them in texts."""

import random
import re
import time

import pytest

from scrapersky.errors import InvalidSubject
from scrapersky.privacy.subject import (
    ADDRESSES,
    Subject,
    SubjectKind,
    addresses_in,
    any_subject,
    numbers_in,
    tail_of,
    written_addresses,
)


@pytest.mark.parametrize(
    ("written", "kind", "value"),
    [
        (" Ada@A.BV ", "email", "ada@a.bv"),
        ("ada@münchen.de", "email", "ada@xn--mnchen-3ya.de"),
        ("mailto:O\u2019Brien@a.bv.", "email", "o'brien@a.bv"),
        ("'ada@a.bv", "email", "ada@a.bv"),
        ("\uff41\uff44\uff41@\uff41.bv", "email", "ada@a.bv"),
        ("trail-@a.bv", "email", "trail-@a.bv"),
        ("a*b{c|d%e@a.bv", "email", "a*b{c|d%e@a.bv"),
        ("ada+shop@a.bv", "email", "ada+shop@a.bv"),
        ("+1 800 FLOWERS", "phone", "+18003569377"),
        ("+44 20 7946 0018", "phone", "+442079460018"),
        ("+1 (555) 010-0199", "phone", "+15550100199"),
        ("HTTPS://www.A.bv/contact?x=1", "domain", "a.bv"),
        ("a.bv.", "domain", "a.bv"),
    ],
)
def test_equal_things_are_spelt_equally(written: str, kind: str, value: str) -> None:
    assert any_subject(written) == Subject(SubjectKind(kind), value)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "ada",
        "@a.bv",
        "a b@a.bv",
        "ada@",
        "020 7946 0018",
        "http://",
        "a..bv",
        "12345",
        "10.1.2.3",
    ],
)
def test_what_is_none_of_them_is_refused(written: str) -> None:
    with pytest.raises(InvalidSubject):
        any_subject(written)


@pytest.mark.parametrize(
    "text",
    [
        "ada@a.bv", "mailto:Ada@A.bv?subject=x", "write to ada@a.bv.Or call",
        "ada [at] a [dot] bv", "ada(at)a.bv", "ada at a dot bv", "ada%40a.bv",
        "<ada@a.bv>,bob@a.bv", "http://a.bv/?mail=ada@a.bv", "/team/ada@a.bv",
        "'ada@a.bv'", "http://a.bv/%27ada%40a.bv", "|ada@a.bv|",
    ],
)  # fmt: skip
def test_an_address_is_found_however_it_is_written(text: str) -> None:
    spellings = {one.lower() for _, found in addresses_in(text) for one in found}

    assert "ada@a.bv" in spellings
    assert re.search(any_subject("ada@a.bv").pattern, text, re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "+442079460018", "020 7946 0018", "+44 (0)20 7946-0018", "0044 20 7946 0018",
        "Tel.: (020) 7946 0018, Fax", "tel:%2B442079460018",
    ],
)  # fmt: skip
def test_a_number_is_found_however_it_is_written(text: str) -> None:
    tails = {one for _, found in numbers_in(text) for one in found}

    assert tail_of("+442079460018") in tails
    assert re.search(any_subject("+442079460018").pattern, text)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("info@xn--mller-kva.de", "write to INFO@M\u00dcLLER.DE now"),
        ("info@xn--mller-kva.de", "?to=info%40m%C3%BCller.de"),
        ("info@xn--mller-kva.de", "info@mu\u0308ller.de"),
        ("o'brien@a.bv", "x=o%27brien@a.bv"),
        ("o'brien@a.bv", "O\u2019Brien (at) a.bv"),
        ("ada@a.bv", "ada+shop@a.bv"),
        ("\u00f6zil@a.bv", "\u00d6ZIL@a.bv"),
    ],
)
def test_an_address_is_found_in_other_letters(address: str, text: str) -> None:
    assert re.search(any_subject(address).pattern, text, re.IGNORECASE)


@pytest.mark.parametrize(
    "text", ["o'ada@a.bv", "xada@a.bv", "ada@a.bvx", "ada@b.bv", "ada@a.b"]
)
def test_another_address_is_not_taken_for_it(text: str) -> None:
    assert not re.search(any_subject("ada@a.bv").pattern, text, re.IGNORECASE)


@pytest.mark.parametrize(
    "killer", ["a" * 50_000, "@" * 50_000, "a@" * 25_000, "1" * 50_000, "a.b" * 20_000,
               " at " * 12_000, "1 (" * 20_000, "a@a." * 12_000]
)  # fmt: skip
def test_no_text_takes_long_to_search(killer: str) -> None:
    found = [*addresses_in(killer), *numbers_in(killer)]

    assert len(found) < 25_000


PIECES = (
    "a", "b.", "@", "%40", "&#64;", " at ", "(at)", " ( @ ) ", "[ AT ]", "x" * 30,
    "example", ".de", "  ", " dot ", ".", "-", "\u00e4", "%c3", "\n", "at", '"', "@@",
)  # fmt: skip


def test_addresses_are_looked_for_beside_their_signs_and_none_is_missed() -> None:
    chance = random.Random(7)
    for _ in range(3_000):
        text = "".join(chance.choices(PIECES, k=chance.randrange(1, 20)))

        found = [each.span() for each in written_addresses(text)]

        assert found == [each.span() for each in ADDRESSES.finditer(text)], text


def test_a_megabyte_without_an_address_took_six_seconds() -> None:
    began = time.thread_time()

    found = [*addresses_in("x" * 1_000_000)]

    assert found == []
    assert time.thread_time() - began < 0.5
