"""What two records are found to have in common, and what that is worth."""

from dataclasses import replace
from uuid import UUID

from bench.companies import Country
from bench.company_scores import counted, country, error_of, reliability
from scrapersky.companies.evidence import Facts
from scrapersky.companies.score import (
    PlaceLevel,
    ValueLevel,
    phone_level,
    place_level,
)

HERE = Facts(id=UUID(int=1), name="Kunze", street="12 mill rd", locality="york")

MOST_OFF = 0.015
"""Weighed evidence that nothing was fitted to was off by .02 and more."""


def test_one_door_in_one_town_was_only_nearby_without_a_postal_code() -> None:
    longer = replace(HERE, id=UUID(int=2), locality="york england")

    assert place_level(HERE, longer) is PlaceLevel.SAME
    assert place_level(HERE, replace(longer, locality="leeds")) is PlaceLevel.NEAR
    assert place_level(HERE, replace(longer, locality=None)) is PlaceLevel.NEAR


def test_a_number_without_a_country_contradicted_the_same_number_with_one() -> None:
    known = replace(HERE, phone="+4316000003")
    written = replace(HERE, id=UUID(int=2), phone="01 6000003")

    assert phone_level(known, written) is ValueLevel.UNKNOWN
    assert phone_level(written, written) is ValueLevel.SAME
    assert phone_level(known, replace(known, phone="+431")) is ValueLevel.DIFFERENT


def test_a_score_keeps_what_it_claims_on_companies_it_was_not_fitted_on() -> None:
    table = reliability(counted(country(Country, 1_000, seed=303)))

    assert error_of(table) < MOST_OFF
