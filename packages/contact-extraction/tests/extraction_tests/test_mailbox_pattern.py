"""What the addresses of a company's people have in common, and what it does not say."""

import pytest

from contact_extraction.mailbox_pattern import pattern_of

ANN = ("Ann Lee", "ann.lee@acme.com")
OLE = ("Ole Berg", "ole.berg@acme.com")


def test_a_pattern_that_two_follow_makes_an_address_of_a_name() -> None:
    pattern = pattern_of([ANN, OLE])

    assert pattern is not None
    assert pattern.address_of("Dana Wu, MD") == "dana.wu@acme.com"
    assert (pattern.followed_by, pattern.known) == (2, 2)


@pytest.mark.parametrize(
    "known",
    [
        [],
        [ANN],
        [ANN, ("Ole Berg", "oberg@acme.com")],
        [ANN, OLE, ("Dana Wu", "dwu@acme.com"), ("Eva Roe", "x7@acme.com")],
        [("Ann Lee", "office@acme.com"), ("Ole Berg", "hello@acme.com")],
    ],
)
def test_one_address_or_a_few_that_differ_are_no_pattern(
    known: list[tuple[str, str]],
) -> None:
    assert pattern_of(known) is None


def test_a_name_that_is_spelt_in_several_ways_is_not_guessed() -> None:
    pattern = pattern_of([ANN, OLE])

    assert pattern is not None
    assert pattern.address_of("Jörg Müller") is None
    assert pattern.address_of("Cher") is None
