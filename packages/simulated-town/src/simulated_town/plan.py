"""The town before it is built: the same seed gives the same businesses, always.

A town's name ends in `.bv`. That ending exists in the DNS but is closed: nobody can
register a name under it, so no address of the town can belong to anyone, and yet every
rule that the product has for real names holds for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import cycle, islice
from random import Random
from typing import Final

from simulated_town.business import Business, SiteKind
from simulated_town.impostor import Impostor, impostors_among
from simulated_town.invent import MAIL_HOST, Draft, invent
from simulated_town.lie import Lie, lies_among

CHAIN_BRANCHES: Final = 3

SHARES: Final[Mapping[SiteKind, int]] = {
    SiteKind.WORDPRESS: 44,
    SiteKind.WORDPRESS_CORE: 10,
    SiteKind.WIX: 12,
    SiteKind.SQUARESPACE: 10,
    SiteKind.SHOPIFY: 8,
    SiteKind.PLAIN: 20,
    SiteKind.ONE_PAGE: 8,
    SiteKind.ROBOTS_SITEMAP: 14,
    SiteKind.GZIP_SITEMAP: 8,
    SiteKind.TEXT_SITEMAP: 6,
    SiteKind.FEED_ONLY: 6,
    SiteKind.LINKED_SITEMAP: 5,
    SiteKind.PRIVATE_PATHS: 6,
    SiteKind.CHAIN: 6,
    SiteKind.OLD_CHARSET: 5,
    SiteKind.BROKEN_HTML: 6,
    SiteKind.SOFT_404: 4,
    SiteKind.SLOW: 3,
    SiteKind.BUSY: 3,
    SiteKind.FLAKY: 3,
    SiteKind.CALENDAR: 2,
    SiteKind.NO_WEBSITE: 6,
    SiteKind.SOCIAL: 8,
    SiteKind.BOOKING: 3,
    SiteKind.LINK_PAGE: 3,
    SiteKind.DIRECTORY: 2,
    SiteKind.PARKED: 3,
    SiteKind.FOR_SALE: 2,
    SiteKind.OTHER_BRAND: 3,
    SiteKind.NO_SUCH_NAME: 2,
    SiteKind.SERVER_ERROR: 2,
    SiteKind.GZIP_BOMB: 1,
    SiteKind.ENDLESS: 1,
    SiteKind.REDIRECT_LOOP: 1,
    SiteKind.PRIVATE_REDIRECT: 1,
    SiteKind.ROBOTS_ERROR: 2,
    SiteKind.HANGING: 1,
}
"""How many of each kind there are in a round of a little over 200 businesses."""

WAITING: Final = frozenset(
    {
        SiteKind.SLOW,
        SiteKind.BUSY,
        SiteKind.FLAKY,
        SiteKind.CALENDAR,
        SiteKind.GZIP_BOMB,
        SiteKind.ENDLESS,
        SiteKind.REDIRECT_LOOP,
        SiteKind.PRIVATE_REDIRECT,
        SiteKind.ROBOTS_ERROR,
        SiteKind.SERVER_ERROR,
        SiteKind.HANGING,
    }
)
"""Kinds that make a reader wait or try again; a town for timing has none of them."""


@dataclass(frozen=True)
class TownPlan:
    """A town's businesses, and its few rules about names."""

    seed: int
    businesses: tuple[Business, ...]
    impostors: tuple[Impostor, ...] = ()
    """Websites that pass for one of them; the register does not name them."""
    lies: tuple[Lie, ...] = ()
    """What the register is wrong about, of a business once."""

    @cached_property
    def registered(self) -> tuple[Business, ...]:
        """The businesses as the register has them."""
        claimed = {each.business.number: each.told for each in self.lies}
        return tuple(claimed.get(one.number, one) for one in self.businesses)

    @property
    def sites(self) -> tuple[Business, ...]:
        """All that may have a website."""
        return (*self.businesses, *(each.site for each in self.impostors))

    @cached_property
    def owners(self) -> Mapping[str, Sequence[Business]]:
        """The businesses behind each domain; a chain has several."""
        owners: defaultdict[str, list[Business]] = defaultdict(list)
        for business in self.sites:
            if business.domain is not None:
                owners[business.domain].append(business)
        return dict(owners)

    @property
    def domains(self) -> Sequence[str]:
        """Every domain of the town, in the order of its first owner."""
        return tuple(self.owners)


@lru_cache(maxsize=2)
def plan_town(
    size: int,
    *,
    seed: int = 1,
    trouble: bool = True,
    impostors: bool = False,
    lies: bool = False,
) -> TownPlan:
    """Invent a town; a larger one begins with the same businesses as a smaller one.

    Without `trouble` no site makes its readers wait. With `impostors` there are websites
    that pass for businesses which have none. With `lies` the register is wrong about every
    second business that has a website.
    """
    taken: set[str] = {MAIL_HOST}
    businesses: list[Business] = []
    chain: list[Business] = []
    brand: Business | None = None
    for number, kind in enumerate(islice(_kinds(seed, trouble=trouble), size)):
        random = Random(f"{seed}/{number}")  # noqa: S311 - a town, not a secret
        head = chain[0] if chain and kind is SiteKind.CHAIN else None
        draft = Draft(number, kind, head)
        business = invent(draft, random, taken)
        if kind is SiteKind.CHAIN:
            chain = [*chain, business] if len(chain) < CHAIN_BRANCHES - 1 else []
        elif kind is SiteKind.OTHER_BRAND and brand is not None:
            business = replace(business, other_brand=brand.host)
        elif kind is SiteKind.WORDPRESS:
            brand = business
        businesses.append(business)
    copies = tuple(impostors_among(businesses, seed)) if impostors else ()
    lies_told = tuple(lies_among(businesses, seed)) if lies else ()
    for each in lies_told:
        businesses[each.business.number] = each.business
    return TownPlan(seed, tuple(businesses), copies, lies_told)


def _kinds(seed: int, *, trouble: bool) -> Iterator[SiteKind]:
    """Repeat a round in which each kind is spread as evenly as its share allows."""
    random = Random(f"{seed}/kinds")  # noqa: S311 - a town, not a secret
    round_: list[tuple[float, SiteKind]] = []
    for kind, share in SHARES.items():
        if kind in WAITING and not trouble:
            continue
        round_ += [((k + random.random()) / share, kind) for k in range(share)]
    # The first business is a common one: others may point to it.
    ordered = [kind for _, kind in sorted(round_)]
    return cycle([SiteKind.WORDPRESS, *ordered])
