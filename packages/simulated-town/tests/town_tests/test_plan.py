import re
from collections import Counter

import email_validator
import phonenumbers
import pytest

from simulated_town.business import Business, SiteKind
from simulated_town.plan import SHARES, WAITING, TownPlan, plan_town


def test_the_same_seed_gives_the_same_town(plan: TownPlan) -> None:
    assert plan_town.__wrapped__(300) == plan


def test_another_seed_gives_another_town(plan: TownPlan) -> None:
    other = plan_town(300, seed=2)

    shared = set(plan.domains) & set(other.domains)
    assert len(shared) < len(plan.domains) / 2


def test_a_larger_town_begins_like_a_smaller_one(plan: TownPlan) -> None:
    assert plan_town(40).businesses == plan.businesses[:40]


def test_a_default_town_has_every_kind_of_site(plan: TownPlan) -> None:
    kinds = Counter(business.kind for business in plan.businesses)

    assert set(kinds) == set(SiteKind)
    assert set(SHARES) == set(SiteKind)


def test_a_default_town_speaks_nine_tongues_and_has_every_trade(plan: TownPlan) -> None:
    assert len({business.locale.language for business in plan.businesses}) == 9
    assert len({business.trade for business in plan.businesses}) == 16


def test_a_town_without_trouble_makes_nobody_wait() -> None:
    calm = plan_town(300, trouble=False)

    assert not WAITING & {business.kind for business in calm.businesses}


def test_only_branches_of_a_chain_share_a_domain(plan: TownPlan) -> None:
    shared = [owners for owners in plan.owners.values() if len(owners) > 1]

    assert shared
    assert {owner.kind for owners in shared for owner in owners} == {SiteKind.CHAIN}
    assert {len(owners) for owners in shared} <= {2, 3}


def test_every_domain_is_registrable_and_under_the_closed_ending(
    plan: TownPlan,
) -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+\.bv", name) for name in plan.domains)


def test_every_mailbox_is_a_valid_address_nobody_can_own(plan: TownPlan) -> None:
    addresses = {box.address for b in plan.businesses for box in b.mailboxes}

    for address in addresses:
        email_validator.validate_email(address, check_deliverability=False)
    assert all(address.endswith(".bv") for address in addresses)


# What each country's regulator keeps free for fiction; where none is kept, the numbers
# the locale's file explains.
RANGES = {
    "GB": ("+44207946", "+44113496", "+44161496", "+44117496", "+44131496"),
    "US": tuple(f"+1{code}55501" for code in (503, 541, 206, 415, 512, 303, 617, 312)),
    "DE": ("+493023125", "+494066969", "+496990009", "+492214710", "+498999998"),
    "FR": ("+33261910", "+3326191", "+3335301", "+3346571", "+3353649"),
    "ES": ("+3491000", "+3493000"),
    "IT": ("+39060000", "+39020000"),
    "NL": ("+3120000", "+3110000"),
    "PL": ("+482200", "+481200"),
    "JP": ("+8131000", "+8131001"),
}


def test_every_number_is_valid_and_invented(plan: TownPlan) -> None:
    for business in plan.businesses:
        for line in business.lines:
            number = phonenumbers.parse(line.written, business.locale.country)
            assert phonenumbers.is_valid_number(number), line
            e164 = phonenumbers.format_number(
                number, phonenumbers.PhoneNumberFormat.E164
            )
            assert e164 == line.e164
            assert e164.startswith(RANGES[business.locale.country]), line


@pytest.mark.parametrize("field", ["name", "trade"])
def test_nothing_is_left_unfilled(plan: TownPlan, field: str) -> None:
    texts = [getattr(business, field) for business in plan.businesses]

    assert not [text for text in texts if not text or set("{}#%") & set(text)]


def has_contacts(business: Business) -> bool:
    return bool(business.mailboxes and business.lines)


def test_most_businesses_can_be_reached(plan: TownPlan) -> None:
    reachable = [business for business in plan.businesses if has_contacts(business)]

    assert len(reachable) > 0.75 * len(plan.businesses)


@pytest.mark.parametrize("size", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_large_town_has_no_domain_twice(size: int) -> None:
    large = plan_town(size)

    chains = [owners for owners in large.owners.values() if len(owners) > 1]
    assert all(owners[0].kind is SiteKind.CHAIN for owners in chains)
