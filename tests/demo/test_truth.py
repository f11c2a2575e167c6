import pytest

from scrapersky.demo.business import ExpectedVerdict, SiteKind
from scrapersky.demo.plan import TownPlan
from scrapersky.demo.truth import Finding, FindingKind, Truth, truth_of

EMAIL, PHONE = FindingKind.EMAIL, FindingKind.PHONE
TRUTH = Truth(
    findings=frozenset(
        {
            Finding("a.bv", EMAIL, "info@a.bv"),
            Finding("a.bv", EMAIL, "eva@a.bv"),
            Finding("b.bv", PHONE, "+442079460000"),
        }
    ),
    verdicts={"a.bv": ExpectedVerdict.OWN_SITE, "b.bv": ExpectedVerdict.PARKED},
    place_verdicts={},
    decoys=frozenset({"bait@a.bv"}),
)


def test_found_missed_and_wrong_are_told_apart() -> None:
    found = [Finding("a.bv", EMAIL, "INFO@a.bv"), Finding("a.bv", EMAIL, "bait@a.bv")]

    tally = TRUTH.compare(found).of(EMAIL)

    assert (tally.true, tally.found, tally.share) == (2, 1, 0.5)
    assert [finding.value for finding in tally.missed] == ["eva@a.bv"]
    assert [finding.value for finding in tally.wrong] == ["bait@a.bv"]


def test_a_true_value_on_another_domain_is_wrong() -> None:
    found = [Finding("b.bv", EMAIL, "info@a.bv")]

    tally = TRUTH.compare(found, [EMAIL]).of(EMAIL)

    assert (tally.found, len(tally.missed), len(tally.wrong)) == (0, 2, 1)


def test_the_same_value_twice_counts_once() -> None:
    found = [Finding("b.bv", PHONE, "+442079460000")] * 2

    assert TRUTH.compare(found, [PHONE]).rows() == [("phone", 1, 1, 0, 0, 1.0)]


def test_nothing_true_and_nothing_found_is_complete() -> None:
    assert TRUTH.compare([], [FindingKind.PERSON]).rows() == [
        ("person", 0, 0, 0, 0, 1.0)
    ]


@pytest.mark.parametrize(
    ("kind", "written", "same"),
    [
        (FindingKind.PERSON, "Eva  BELL", "eva bell"),
        (FindingKind.ADDRESS, "SQ1 4AB", "sq14ab"),
        (
            FindingKind.PROFILE,
            "https://www.instagram.com/linden/?hl=en",
            "http://instagram.com/linden",
        ),
    ],
)
def test_forms_of_the_same_value_are_equal(
    kind: FindingKind, written: str, same: str
) -> None:
    assert Finding("A.bv", kind, written).normal == Finding("a.bv", kind, same).normal


def test_the_truth_of_a_town_holds_what_its_sites_say(plan: TownPlan) -> None:
    truth = truth_of(plan)
    boxes = {box.address for b in plan.businesses for box in b.mailboxes}

    emails = {finding.value for finding in truth.findings if finding.kind is EMAIL}
    assert emails == boxes
    assert not emails & truth.decoys


def test_sites_that_cannot_be_read_have_no_truth_but_a_verdict(plan: TownPlan) -> None:
    truth = truth_of(plan)
    reported = {finding.domain for finding in truth.findings}

    for business in plan.businesses:
        if (
            business.domain
            and truth.verdicts[business.domain] is not ExpectedVerdict.OWN_SITE
        ):
            assert business.domain not in reported


def test_every_business_has_a_verdict(plan: TownPlan) -> None:
    verdicts = truth_of(plan).place_verdicts

    assert set(verdicts.values()) == set(ExpectedVerdict)
    social = next(b for b in plan.businesses if b.kind is SiteKind.SOCIAL)
    assert verdicts[social.number] is ExpectedVerdict.SOCIAL_PROFILE
