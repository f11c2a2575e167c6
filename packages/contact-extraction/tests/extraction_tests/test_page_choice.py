"""Which pages of a site are read next."""

from random import Random

from contact_extraction.page_choice import (
    MIN_KIND_PAGES,
    MOST_IN_VAIN,
    ListedPage,
    PageChoice,
    PageYield,
    Program,
    ReadPage,
    next_pages,
    page_key,
)
from contact_extraction.page_type import PageType, rate_page

SITE = "https://alder.example"
HOME = f"{SITE}/"


def listed(*paths: str, clicks: int | None = 1) -> list[ListedPage]:
    """List pages as their addresses rate them."""
    rated = [(SITE + path, rate_page(SITE + path)) for path in paths]
    return [
        ListedPage(url, rating.type, rating.score, clicks, rating.reasons[0])
        for url, rating in rated
    ]


def read(path: str, gained: int | None) -> ReadPage:
    """Say that a page was read."""
    rating = rate_page(SITE + path)
    return ReadPage(SITE + path, rating.type, rating.score, gained)


def paths(pages: list[ListedPage], done: list[ReadPage], most: int = 12) -> list[str]:
    """Choose, and return the paths."""
    picks = next_pages(pages, done, home=HOME, most=most)
    return [pick.url.removeprefix(SITE) for pick in picks]


def test_the_home_page_comes_first_and_then_what_promises_most() -> None:
    """A contact page before a team, a team before services."""
    pages = listed("/stairs", "/team", "/contact", "/", "/services")
    assert paths(pages, []) == ["/", "/contact", "/team", "/services", "/stairs"]


def test_the_home_page_is_read_at_its_own_address() -> None:
    """It was fetched already; by another name it would be fetched again."""
    assert paths(listed("/index.html", "/"), []) == ["/"]
    assert paths(listed("/", "/index.html"), []) == ["/"]


def test_no_more_pages_are_chosen_than_asked_for() -> None:
    """The budget is the caller's."""
    assert paths(listed("/", "/contact", "/team"), [], most=2) == ["/", "/contact"]


def test_addresses_of_one_page_are_one_page() -> None:
    """With or without www, index file, slash and order of the query."""
    assert page_key("http://www.alder.example/team/index.html") == page_key(
        "https://alder.example/team"
    )
    assert page_key(f"{SITE}/p?b=1&a=2") == page_key(f"{SITE}/p?a=2&b=1")
    pages = [*listed("/contact/"), ListedPage(
        "https://www.alder.example/contact", PageType.CONTACT_ROOT, 0.9
    )]  # fmt: skip
    assert len(next_pages(pages, [], home=HOME, most=5)) == 1
    assert paths(listed("/contact"), [read("/contact/index.html", 3)]) == []


def test_where_one_profile_held_something_new_the_next_one_is_read() -> None:
    """Pages side by side are alike."""
    pages = listed("/x17/ruth.html", "/services")
    assert paths(pages, [])[0] == "/services"
    done = [read("/x17/olaf.html", 2)]
    assert paths(pages, done)[0] == "/x17/ruth.html"


def test_pages_beside_one_that_held_nothing_new_come_later() -> None:
    """A second town page is not worth what the first one was thought to be."""
    pages = listed("/contact/areas/ludlow", "/about")
    done = [read(f"/contact/areas/{town}", 0) for town in ("leominster", "hereford")]
    gain = {pick.url: pick.gain for pick in next_pages(pages, [], home=HOME, most=9)}
    after = {pick.url: pick.gain for pick in next_pages(pages, done, home=HOME, most=9)}
    url = f"{SITE}/contact/areas/ludlow"
    assert after[url] < gain[url] / 2


def test_a_second_page_of_a_kind_is_worth_less_than_the_first() -> None:
    """Terms after an imprint tell little; a second person tells as much as the first."""
    pages = listed("/impressum", "/mentions-legales")
    first, second = next_pages(pages, [], home=HOME, most=2)
    assert second.gain < rate_page(second.url).score
    assert "a page of this kind came before" in second.reasons
    people = listed("/team/anna-vale", "/team/karen-lund")
    gains = [pick.gain for pick in next_pages(people, [], home=HOME, most=2)]
    assert gains[0] == gains[1]
    assert first.gain == rate_page(first.url).score


def test_unlikely_pages_are_left_alone_when_nothing_new_comes() -> None:
    """Likely ones are read all the same."""
    done = [read(f"/page-{number}", 0) for number in range(MOST_IN_VAIN)]
    assert paths(listed("/stairs", "/doors"), done) == []
    assert paths(listed("/stairs", "/contact"), done) == ["/contact"]
    assert paths(listed("/stairs"), [*done, read("/page-x", 1)]) == ["/stairs"]


def test_pages_that_are_being_read_are_not_chosen_again_and_may_be_in_vain() -> None:
    """As many are read as if each had been waited for; one that holds something changes that."""
    done = [read(f"/page-{number}", None) for number in range(MOST_IN_VAIN)]
    assert paths(listed("/page-1", "/stairs"), done[:-1]) == ["/stairs"]
    assert paths(listed("/page-1", "/stairs"), done) == []
    done[-1] = read(f"/page-{MOST_IN_VAIN - 1}", 1)
    assert paths(listed("/page-1", "/stairs"), done) == ["/stairs"]


def test_a_site_got_a_page_fewer_because_a_restart_had_changed_the_order_of_reading() -> (
    None
):
    """Whichever page came first, and however many were in hand: the same are read."""
    names = ["/", "/kontakt", "/impressum", "/team", "/about", "/services", "/terms"]
    names += [f"/page-{number}" for number in range(9)]
    held = {"/team", "/kontakt"}

    def read_by(random: Random) -> set[str]:
        """Read the site with a few pages in hand that end in any order."""
        done: dict[str, int | None] = {}
        while True:
            in_hand = [path for path, gained in done.items() if gained is None]
            if len(in_hand) <= 1:
                known = [read(path, gained) for path, gained in done.items()]
                more = paths(listed(*names), known, 4 - len(in_hand))
                done |= dict.fromkeys(more)
                in_hand += more
            if not in_hand:
                return set(done)
            ended = random.sample(in_hand, random.randint(1, len(in_hand)))
            done |= {path: int(path in held) for path in ended}

    found = {frozenset(read_by(Random(seed))) for seed in range(200)}
    assert len(found) == 1
    assert len(*found) < len(names)


def test_every_choice_says_why() -> None:
    """Reasons are for people."""
    pages = listed("/team/anna-vale", clicks=2)
    (pick,) = next_pages(pages, [read("/team/karen-lund", 1)], home=HOME, most=1)
    assert pick.reasons == (
        "it is named after a person",
        "it is 2 clicks from the home page",
    )


def choose(pages: list[ListedPage], **paid: PageYield) -> list[PageChoice]:
    """Choose on a site of a program whose pages held this on other sites."""
    known = {PageType(kind): held for kind, held in paid.items()}
    program = Program("Loom CMS", known)
    return next_pages(pages, [], home=HOME, most=12, program=program)


def test_what_paid_on_other_sites_of_the_program_comes_first() -> None:
    """Its team pages were empty and its services named everybody."""
    pages = listed("/", "/contact", "/about", "/services")
    picks = choose(
        pages,
        about_root=PageYield(pages=80, promised=41.6, paid=2),
        services_root=PageYield(pages=80, promised=22.4, paid=60),
    )
    order = [pick.url.removeprefix(SITE) for pick in picks]
    assert order == ["/", "/contact", "/services", "/about"]
    assert (
        "60 of 80 pages of this kind held something new on Loom CMS sites"
        in picks[2].reasons
    )
    plain = {pick.url: pick for pick in next_pages(pages, [], home=HOME, most=12)}
    assert [pick.promised for pick in picks] == [plain[p.url].gain for p in picks]


def test_a_few_pages_of_other_sites_change_nothing() -> None:
    """One bad site is no rule."""
    pages = listed("/", "/contact", "/about", "/services")
    few = PageYield(pages=MIN_KIND_PAGES - 1, promised=MIN_KIND_PAGES * 0.5, paid=0)
    assert choose(pages, about_root=few) == next_pages(pages, [], home=HOME, most=12)


def test_other_sites_change_a_promise_by_half_at_most() -> None:
    """However many there were, a page still speaks for itself."""
    pages = listed("/contact", "/services")
    contact, services = choose(
        pages,
        contact_root=PageYield(pages=10**6, promised=1e6, paid=0),
        services_root=PageYield(pages=10**6, promised=1e3, paid=10**6),
    )
    assert contact.gain == round(contact.promised * 0.5, 3)
    assert services.gain == round(services.promised * 1.5, 3)
