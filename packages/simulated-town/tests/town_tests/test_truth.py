import pytest

from simulated_town.business import ExpectedVerdict, SiteKind
from simulated_town.plan import TownPlan
from simulated_town.truth import FactKind, SiteFact, Truth, truth_of, verdict_of

EMAIL, PHONE = FactKind.EMAIL, FactKind.PHONE
TRUTH = Truth(
    facts=frozenset(
        {
            SiteFact("a.bv", EMAIL, "info@a.bv"),
            SiteFact("a.bv", EMAIL, "eva@a.bv"),
            SiteFact("b.bv", PHONE, "+442079460000"),
        }
    ),
    verdicts={"a.bv": ExpectedVerdict.OWN_SITE, "b.bv": ExpectedVerdict.PARKED},
    decoys=frozenset({"bait@a.bv"}),
)


def test_found_missed_and_wrong_are_told_apart() -> None:
    found = [SiteFact("a.bv", EMAIL, "INFO@a.bv"), SiteFact("a.bv", EMAIL, "bait@a.bv")]

    score = TRUTH.compare(found).of(EMAIL)

    assert (score.true, score.found, score.share) == (2, 1, 0.5)
    assert [fact.value for fact in score.missed] == ["eva@a.bv"]
    assert [fact.value for fact in score.wrong] == ["bait@a.bv"]


def test_a_true_value_on_another_domain_is_wrong() -> None:
    found = [SiteFact("b.bv", EMAIL, "info@a.bv")]

    score = TRUTH.compare(found, [EMAIL]).of(EMAIL)

    assert (score.found, len(score.missed), len(score.wrong)) == (0, 2, 1)


def test_the_same_value_twice_counts_once() -> None:
    found = [SiteFact("b.bv", PHONE, "+442079460000")] * 2

    assert TRUTH.compare(found, [PHONE]).rows() == [("phone", 1, 1, 0, 0, 1.0)]


def test_nothing_true_and_nothing_found_is_complete() -> None:
    assert TRUTH.compare([], [FactKind.PERSON]).rows() == [("person", 0, 0, 0, 0, 1.0)]


@pytest.mark.parametrize(
    ("kind", "written", "same"),
    [
        (FactKind.PERSON, "Eva  BELL", "eva bell"),
        (FactKind.ADDRESS, "SQ1 4AB", "sq14ab"),
        (
            FactKind.PROFILE,
            "https://www.instagram.com/linden/?hl=en",
            "http://instagram.com/linden",
        ),
    ],
)
def test_forms_of_the_same_value_are_equal(
    kind: FactKind, written: str, same: str
) -> None:
    assert SiteFact("A.bv", kind, written).normal == SiteFact("a.bv", kind, same).normal


def test_the_truth_of_a_town_holds_what_its_sites_say(plan: TownPlan) -> None:
    truth = truth_of(plan)
    boxes = {box.address for b in plan.businesses for box in b.mailboxes}

    emails = {fact.value for fact in truth.facts if fact.kind is EMAIL}
    assert emails == boxes
    assert not emails & truth.decoys


def test_sites_that_cannot_be_read_have_no_truth_but_a_verdict(plan: TownPlan) -> None:
    truth = truth_of(plan)
    reported = {fact.domain for fact in truth.facts}

    for business in plan.businesses:
        if (
            business.domain
            and truth.verdicts[business.domain] is not ExpectedVerdict.OWN_SITE
        ):
            assert business.domain not in reported


def test_every_business_has_a_verdict(plan: TownPlan) -> None:
    verdicts = {each.number: verdict_of(each) for each in plan.businesses}

    assert set(verdicts.values()) == set(ExpectedVerdict)
    social = next(b for b in plan.businesses if b.kind is SiteKind.SOCIAL)
    assert verdicts[social.number] is ExpectedVerdict.SOCIAL_PROFILE
