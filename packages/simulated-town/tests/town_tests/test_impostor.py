"""Websites of the town that pass for those of others."""

import re
from collections import Counter

from simulated_town.impostor import Imitation
from simulated_town.plan import plan_town
from simulated_town.register import place_json

CYRILLIC = re.compile("[\u0400-\u04ff]")


def test_a_town_has_impostors_of_every_kind_only_if_asked() -> None:
    town = plan_town(300, impostors=True)
    kinds = Counter(each.imitation for each in town.impostors)

    assert set(kinds) == set(Imitation)
    assert plan_town(300).impostors == ()
    assert town.businesses == plan_town(300).businesses


def test_no_register_names_an_impostor_and_no_victim_has_a_website() -> None:
    town = plan_town(300, impostors=True)

    named = {place_json(business)["website"] for business in town.businesses}
    for each in town.impostors:
        assert each.victim.domain is None
        assert each.site.domain in town.owners
        assert not [site for site in named if site and str(each.site.domain) in site]


def test_an_impostor_copies_what_its_kind_says() -> None:
    for each in plan_town(300, impostors=True).impostors:
        site, victim, kind = each.site, each.victim, each.imitation
        is_disguised = kind is Imitation.OTHER_LETTERS
        assert bool(CYRILLIC.search(site.name)) is is_disguised
        assert (site.name == victim.name) is not is_disguised
        assert (site.address == victim.address) is (kind is Imitation.ADDRESS)
        written = [line.written for line in site.lines]
        has_phone = kind in {Imitation.NAME_AND_PHONE, Imitation.OTHER_LETTERS}
        assert (written == [victim.source_phone]) is has_phone
        assert (victim.website in site.profiles) is (kind is Imitation.PROFILE)
