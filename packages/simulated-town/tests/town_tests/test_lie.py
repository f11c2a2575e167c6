from simulated_town.lie import LieKind
from simulated_town.plan import plan_town
from simulated_town.register import place_json
from simulated_town.sites.render import render_site

SIZE = 120
PLAN = plan_town(SIZE, trouble=False, lies=True)


def test_each_kind_of_lie_is_told_and_one_field_of_each_business_is_wrong() -> None:
    wrong: dict[LieKind, set[str]] = {}
    for lie in PLAN.lies:
        true = place_json(
            plan_town(SIZE, trouble=False).businesses[lie.business.number]
        )
        told = place_json(PLAN.registered[lie.business.number])
        differing = {name for name in true if true[name] != told[name]}
        wrong.setdefault(lie.kind, set()).update(differing)

    assert wrong == {
        LieKind.WRONG_PHONE: {"phone"},
        LieKind.MOVED: {
            "address", "street", "postcode", "latitude", "longitude",
        },
        LieKind.RENAMED: {"name"},
        LieKind.SAID_CLOSED: {"closed"},
        LieKind.CLOSED: set(),
        LieKind.WRONG_WEBSITE: {"website"},
        LieKind.OTHER_HOURS: {"hours"},
    }  # fmt: skip


def test_what_has_closed_for_good_says_so_on_its_own_website_alone() -> None:
    closed = [one for one in PLAN.businesses if one.is_closed]

    assert {one.number for one in closed} == {
        lie.business.number for lie in PLAN.lies if lie.kind is LieKind.CLOSED
    }
    for one in closed:
        page = render_site([one]).replies["/"].body.decode("utf-8", "replace")
        assert "2026" in page
        assert one.locale.words_for["gone_for_good"][:20] in page or not page.isascii()


def test_a_town_without_lies_is_as_it_was() -> None:
    plan = plan_town(SIZE)

    assert plan.lies == ()
    assert plan.registered == plan.businesses
