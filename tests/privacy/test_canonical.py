"""What can be stored can be suppressed, however it is written, and never comes back."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.api.records.contact import ContactIn
from scrapersky.errors import InvalidSubject, Suppressed
from scrapersky.kit.canonical import (
    canonical_email,
    canonical_phone,
    e164,
    mailbox_of,
    phone_digits,
    stored_phone,
)
from scrapersky.privacy.key import Keys
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import (
    any_subject,
    email_subject,
    number_pattern,
    spellings_of,
)
from scrapersky.privacy.suppression import SuppressionResult, read_lines, suppress
from scrapersky.privacy.suppression_filter import (
    SuppressionFilter,
    hashes_in,
    refuse_suppressed,
)
from tests.privacy.conftest import House
from tests.privacy.phone_spelling import made_up_numbers, spelt

KEYS = Keys(b"0" * 32)
ATEXT = "abcxyz0189!#$%&'*+-/=?^_`{|}~."
DOMAINS = (
    "a.bv", "mail.a.bv", "müller.de", "xn--mller-kva.de", "BÜRO.example.org",
    "點看.tw", "a-b.co.uk", "a.b.c.d.e.f.g.h.bv",
)  # fmt: skip
EMAILS = st.builds(
    "{}@{}".format,
    st.text(ATEXT + "ABCäöüßÉ\u2019\uff41\uff42", min_size=1, max_size=20),
    st.sampled_from(DOMAINS),
)
PHONES = st.builds(
    "+{}{}".format,
    st.sampled_from(["1", "44", "49", "372", "354", "39", "86"]),
    st.integers(10, 10**11).map(str),
)


def stored(text: str, name: str = "email") -> str | None:
    """Return what a contact would be stored with, or None for what is refused."""
    try:
        value = getattr(ContactIn.model_validate({name: text}), name)
    except ValueError:
        return None
    return str(value)


def suppressed(*values: str) -> SuppressionFilter:
    """Return what the list says of everything, once these lines were put on it."""
    chunks = list(read_lines(enumerate(values), SuppressionResult(), None))
    found = set()
    for subject in (one for chunk in chunks for one in chunk):
        found |= {KEYS.write(subject), KEYS.write_tail(subject)} - {None}
    return SuppressionFilter(KEYS, frozenset(found))  # type: ignore[arg-type]


def is_refused(suppressions: SuppressionFilter, data: object) -> bool:
    return bool(suppressions.found & set(hashes_in(KEYS, data)))


@settings(deadline=None)
@given(EMAILS)
def test_any_address_that_can_be_stored_can_be_suppressed(written: str) -> None:
    kept = stored(written)
    if kept is None:
        return
    for suppressions in (suppressed(written), suppressed(kept)):
        assert suppressions.hides_email(kept)
        assert is_refused(suppressions, {"email": kept})
        assert is_refused(suppressions, [f"write to {kept} today"])
        assert suppressions.clean({"emails": [kept]}) == {"emails": []}


@settings(deadline=None)
@given(EMAILS)
def test_a_suppressed_domain_hides_every_address_at_it(written: str) -> None:
    kept = stored(written)
    if kept is None:
        return
    suppressions = suppressed(written.rpartition("@")[2])

    assert suppressions.hides_email(kept)
    assert is_refused(suppressions, {"email": kept})


@settings(deadline=None)
@given(PHONES)
def test_any_number_that_can_be_stored_can_be_suppressed(written: str) -> None:
    kept = stored(written, "phone")
    if kept is None:
        return
    for suppressions in (suppressed(written), suppressed(kept)):
        assert suppressions.hides_phone(kept)
        assert is_refused(suppressions, {"phone": kept})
        assert suppressions.clean({"phones": {kept: {}}}) == {"phones": {}}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**9))
def test_a_number_has_one_form_however_it_is_written(seed: int) -> None:
    random = Random(seed)
    ((region, number),) = made_up_numbers(random, 1)
    at_home, abroad = (spelt(random, number, at_home=home) for home in (True, False))

    assert canonical_phone(at_home, region) == e164(number)
    assert any_subject(at_home, region) == any_subject(abroad)
    assert stored_phone(abroad) == stored_phone(at_home, region) == e164(number)
    as_written = stored_phone(at_home)
    assert as_written is not None
    assert stored_phone(as_written) == as_written
    assert phone_digits(as_written) in spellings_of(e164(number))
    for suppressions in (suppressed(abroad), suppressed(e164(number))):
        for written in (at_home, abroad, as_written):
            assert suppressions.hides_phone(written)
            assert is_refused(suppressions, {"row": [f"call {written} now"]})
            assert re.search(number_pattern(e164(number)), written)


@settings(deadline=None)
@given(st.text(max_size=30), st.sampled_from(DOMAINS))
def test_the_one_form_of_the_one_form_is_itself(local: str, domain: str) -> None:
    try:
        once = canonical_email(f"{local}@{domain}")
    except InvalidSubject:
        return

    assert canonical_email(once) == once
    assert mailbox_of(mailbox_of(once)) == mailbox_of(once)
    once.encode()


def test_a_number_with_two_zeros_too_many_had_another_form_than_its_own_form() -> None:
    once = canonical_phone("+49 (0)0)30 901820")

    assert once == canonical_phone(once) == "+4930901820"


def test_a_short_number_of_another_country_does_not_hide_a_long_one() -> None:
    suppressions = suppressed("+372 555 1234", "+44 20 7946 0018")

    assert is_refused(suppressions, "call +372 555-1234")
    assert not is_refused(suppressions, {"phone": canonical_phone("+1 212 555 1234")})
    assert not is_refused(suppressions, {"phone": canonical_phone("+1 207 946 0018")})


def test_an_entry_covers_its_subaddresses_and_not_the_other_way_round() -> None:
    assert suppressed("ada@a.bv").hides_email("ada+shop@a.bv")
    assert not suppressed("ada+shop@a.bv").hides_email("ada@a.bv")
    assert not suppressed("ada@a.bv").hides_email("a.da@a.bv")


LEGAL = (
    "o'brien@a.bv", "info@müller.de", "trail-@a.bv", "a*b@a.bv", "x{y@a.bv",
    "x|y@a.bv", "x%y@a.bv", "ada+shop@a.bv",
)  # fmt: skip


@pytest.mark.slow
async def test_an_erased_address_with_legal_signs_came_back(house: House) -> None:
    for written in LEGAL:
        await erase_legal(house, written)
        await house.run("DELETE FROM domains")


async def erase_legal(house: House, written: str) -> None:
    """Erase the only contact there is, and see that it cannot be stored again."""
    kept = stored(written.replace(".bv", ".com")) or canonical_email(written)
    domain = await house.add_domain(emails=[kept, "bob@a.com"])
    await house.add_contact(domain, email=kept, name="Ada Lovelace")
    await house.run(
        "UPDATE domains SET description = 'Write to ' || :v || ' or bob@a.com'", v=kept
    )

    await erase_person(house.engine, house.actor, email_subject(kept))

    held = await house.rows("SELECT emails::text || description FROM domains")
    assert held == [("{bob@a.com}Write to [removed] or bob@a.com",)], written
    assert await house.rows("SELECT email FROM contacts") == [], written
    async with house.engine.begin() as connection:
        with pytest.raises(Suppressed):
            await refuse_suppressed(
                connection, house.actor.tenant_id, {"email": stored(kept) or kept}
            )


async def test_an_entry_removes_the_subaddresses_that_are_held(house: House) -> None:
    domain = await house.add_domain(emails=["ada+x@a.bv", "bob+x@a.bv", "ada@a.bv"])
    for email in ("ada@a.bv", "ada+x@a.bv", "bob+x@a.bv", "adam@a.bv"):
        await house.add_contact(domain, email=email)

    await suppress(house.engine, house.actor, [any_subject("Ada@a.bv")])

    assert await house.rows("SELECT email FROM contacts ORDER BY 1") == [
        ("adam@a.bv",),
        ("bob+x@a.bv",),
    ]
    assert await house.rows("SELECT emails FROM domains") == [(["bob+x@a.bv"],)]
