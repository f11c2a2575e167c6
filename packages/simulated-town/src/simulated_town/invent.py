"""Invent one business: its name, its people, its numbers, and where each is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from simulated_town.business import (
    Business,
    Disguise,
    LineKind,
    Mailbox,
    Markup,
    Opening,
    PageKind,
    SiteKind,
    StaffMember,
    StreetAddress,
    TelephoneLine,
)
from simulated_town.locale import LOCALES, Locale, Word, fill, load_locale, to_latin

CENTRE: Final = (47.0, -20.0)
"""The town lies in the middle of the Atlantic, where nothing else does."""
SPREAD_DEGREES: Final = 0.02
ENDING: Final = "bv"
MAIL_HOST: Final = f"quaypost.{ENDING}"
"""Where businesses without mail of their own have a mailbox; it serves no pages."""

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Draft:
    """What is decided about a business before it is invented."""

    number: int
    kind: SiteKind
    head: Business | None = None
    """The first branch, when this one is a further branch of a chain."""


def invent(draft: Draft, random: Random, taken: set[str]) -> Business:
    """Invent the business; its domain is added to those taken."""
    branch_of = draft.head
    locale = branch_of.locale if branch_of else _pick_locale(random)
    trade = branch_of.trade if branch_of else random.choice(sorted(locale.trades))
    name, slug = _name(locale, trade, random)
    if branch_of:
        name = branch_of.name
    domain = branch_of.domain if branch_of else _domain(draft.kind, slug, random, taken)
    www = branch_of.www if branch_of else random.random() < 0.4  # noqa: PLR2004
    address = _address(locale, random)
    people = _people(locale, draft.kind, random) if branch_of is None else ()
    lines = _lines(draft, locale, random)
    markup = random.choice((Markup.NONE, *Markup))
    website = _website(draft, domain, www=www, slug=slug, random=random)
    phone, abroad = (
        (lines[0].written, lines[0].e164) if lines else _number(locale, random)
    )
    return Business(
        number=draft.number,
        name=name,
        trade=trade,
        locale=locale,
        kind=draft.kind,
        markup=markup,
        domain=domain,
        www=www,
        website=website,
        source_phone=phone,
        source_e164=e164_of(abroad),
        address=address,
        hours=_hours(random),
        rating=round(random.uniform(2.6, 5.0), 1),
        reviews=int(random.paretovariate(0.8)) % 900,
        mailboxes=_mailboxes(
            draft, domain, slug, people=people, locale=locale, random=random
        ),
        lines=lines,
        people=tuple(_person(invented, domain) for invented in people),
        profiles=_profiles(draft.kind, slug, random) if branch_of is None else (),
        decoys=_decoys(draft.kind, domain),
    )


NO_PAGES: Final = frozenset(
    {
        SiteKind.NO_WEBSITE,
        SiteKind.SOCIAL,
        SiteKind.BOOKING,
        SiteKind.LINK_PAGE,
        SiteKind.DIRECTORY,
    }
)
"""Kinds that have no domain of their own."""

NOTHING_TO_READ: Final = NO_PAGES | {
    SiteKind.PARKED,
    SiteKind.FOR_SALE,
    SiteKind.OTHER_BRAND,
    SiteKind.NO_SUCH_NAME,
    SiteKind.SERVER_ERROR,
    SiteKind.GZIP_BOMB,
    SiteKind.ENDLESS,
    SiteKind.REDIRECT_LOOP,
    SiteKind.PRIVATE_REDIRECT,
    SiteKind.ROBOTS_ERROR,
    SiteKind.HANGING,
}
"""Kinds from which a polite reader learns nothing."""

_DISGUISES: Final = {
    Disguise.MAILTO: 34,
    Disguise.TEXT: 22,
    Disguise.AT_DOT: 11,
    Disguise.CLOUDFLARE: 9,
    Disguise.ENTITIES: 8,
    Disguise.SCRIPT: 6,
    Disguise.REVERSED: 4,
    Disguise.DATA_ATTRIBUTE: 3,
    Disguise.IMAGE_ALT: 3,
}
_NETWORKS: Final = (
    "https://www.facebook.com/{handle}",
    "https://www.instagram.com/{handle}/",
    "https://www.linkedin.com/company/{handle}",
    "https://x.com/{handle}",
    "https://www.youtube.com/@{handle}",
    "https://www.tiktok.com/@{handle}",
)
_ELSEWHERE: Final = {
    SiteKind.SOCIAL: _NETWORKS[:2],
    SiteKind.BOOKING: (
        "https://www.treatwell.co.uk/place/{handle}/",
        "https://www.opentable.com/r/{handle}",
        "https://www.doctolib.de/praxis/{handle}",
    ),
    SiteKind.LINK_PAGE: ("https://linktr.ee/{handle}", "https://beacons.ai/{handle}"),
    SiteKind.DIRECTORY: ("https://www.yelp.com/biz/{handle}",),
}
X_HANDLE: Final = 15
"""The longest name the network allows."""


@dataclass(frozen=True, slots=True)
class _Invented:
    name: str
    role: str
    page: PageKind
    local: str | None


def _pick_locale(random: Random) -> Locale:
    locales = [load_locale(name) for name in LOCALES]
    return random.choices(locales, [locale.weight for locale in locales])[0]


def _name(locale: Locale, trade: str, random: Random) -> tuple[str, str]:
    pattern = random.choice(locale.patterns)
    last, other = random.sample(locale.last, 2)
    parts = {
        "last": last,
        "other": other,
        "word": random.choice(locale.words),
        "noun": locale.trades[trade],
    }
    name = pattern.format(**{key: word.text for key, word in parts.items()})
    slug = to_latin(pattern.format(**{key: word.latin for key, word in parts.items()}))
    return name, slug


def _domain(kind: SiteKind, slug: str, random: Random, taken: set[str]) -> str | None:
    if kind in NO_PAGES:
        return None
    label = slug if random.random() < 0.7 else slug.replace("-", "")  # noqa: PLR2004
    domain, count = f"{label}.{ENDING}", 1
    while domain in taken:
        count += 1
        domain = f"{label}-{count}.{ENDING}"
    taken.add(domain)
    return domain


def _website(
    draft: Draft, domain: str | None, *, www: bool, slug: str, random: Random
) -> str | None:
    """Write the address as owners type it into a form."""
    handle = _handle(slug)
    if elsewhere := _ELSEWHERE.get(draft.kind):
        return random.choice(elsewhere).format(handle=handle)
    if domain is None:
        return None
    host = f"www.{domain}" if www else domain
    return random.choice(_TYPED).format(host=host, shout=host.upper())


_TYPED: Final = (
    "http://{host}/",
    "http://{host}/",
    "http://{host}",
    "http://{host}/?utm_source=maps&utm_medium=listing",
    "http://{host}/#top",
    "HTTP://{shout}/",
    "{host}",
)


def _handle(slug: str) -> str:
    return f"{slug.replace('-', '')}7quays"


def _address(locale: Locale, random: Random) -> StreetAddress:
    postcode = fill(locale.postcode, random)
    house = str(random.randrange(1, 180))
    street = locale.street.format(house=house, street=random.choice(locale.streets))
    city = locale.city.format(postcode=postcode, town=locale.town)
    return StreetAddress(
        lines=(city, street) if locale.is_large_first else (street, city),
        street=street,
        postcode=postcode,
        town=locale.town,
        country=locale.country,
        latitude=round(CENTRE[0] + random.uniform(-SPREAD_DEGREES, SPREAD_DEGREES), 6),
        longitude=round(CENTRE[1] + random.uniform(-SPREAD_DEGREES, SPREAD_DEGREES), 6),
    )


def _people(locale: Locale, kind: SiteKind, random: Random) -> Sequence[_Invented]:
    if kind in NOTHING_TO_READ or kind is SiteKind.ONE_PAGE:
        return ()
    people = []
    roles = random.sample(locale.roles, min(len(locale.roles), random.randrange(2, 5)))
    firsts = random.sample(locale.first, len(roles))
    lasts = random.sample(locale.last, len(roles))
    for first, last, role in zip(firsts, lasts, roles, strict=True):
        has_mail = random.random() < 0.6  # noqa: PLR2004
        local = f"{first.latin}.{last.latin}" if has_mail else None
        name = _full_name(locale, first, last)
        people.append(_Invented(name, role, PageKind.TEAM, local))
    return people


def _person(invented: _Invented, domain: str | None) -> StaffMember:
    mailbox = f"{invented.local}@{domain}" if invented.local else None
    return StaffMember(invented.name, invented.role, invented.page, mailbox)


def _full_name(locale: Locale, first: Word, last: Word) -> str:
    if locale.is_large_first:
        return f"{last.text} {first.text}"
    return f"{first.text} {last.text}"


def _mailboxes(
    draft: Draft,
    domain: str | None,
    slug: str,
    *,
    people: Sequence[_Invented],
    locale: Locale,
    random: Random,
) -> tuple[Mailbox, ...]:
    if domain is None or draft.kind in NOTHING_TO_READ:
        return ()
    boxes = [_main_mailbox(draft, domain, slug, locale, random)]
    main = boxes[0].address
    if draft.kind is SiteKind.ONE_PAGE or draft.head is not None:
        return tuple(boxes)
    if "imprint" in locale.paths:
        disguise = random.choice((Disguise.TEXT, Disguise.AT_DOT, Disguise.MAILTO))
        boxes.append(Mailbox(main, PageKind.IMPRINT, disguise))
    if random.random() < 0.4:  # noqa: PLR2004
        extra = f"{locale.extra_mailbox}@{domain}"
        boxes.append(Mailbox(extra, PageKind.ABOUT, _disguise(random)))
    for person in people:
        if person.local is not None:
            address = f"{person.local}@{domain}"
            boxes.append(Mailbox(address, person.page, _disguise(random)))
    return tuple(boxes)


def _main_mailbox(
    draft: Draft, domain: str, slug: str, locale: Locale, random: Random
) -> Mailbox:
    page = PageKind.CONTACT
    local = random.choice(locale.mailboxes)
    if draft.kind is SiteKind.CHAIN:
        # Each branch has a mailbox of its own, named after its place in the town.
        local = f"{local}.{draft.number}"
    if draft.kind is SiteKind.ONE_PAGE:
        page = PageKind.HOME
        if random.random() < 0.5:  # noqa: PLR2004
            local, domain = slug, MAIL_HOST
    return Mailbox(f"{local}@{domain}", page, _disguise(random))


def _disguise(random: Random) -> Disguise:
    return random.choices(list(_DISGUISES), list(_DISGUISES.values()))[0]


def _lines(draft: Draft, locale: Locale, random: Random) -> tuple[TelephoneLine, ...]:
    if draft.kind in NOTHING_TO_READ:
        return ()
    page = PageKind.HOME if draft.kind is SiteKind.ONE_PAGE else PageKind.CONTACT
    lines = [_line(locale, LineKind.PHONE, page, random)]
    if random.random() < 0.3:  # noqa: PLR2004
        lines.append(_line(locale, LineKind.FAX, page, random))
    is_small = draft.kind is SiteKind.ONE_PAGE or draft.head is not None
    if not is_small and random.random() < 0.2:  # noqa: PLR2004
        lines.append(_line(locale, LineKind.PHONE, PageKind.ABOUT, random))
    return tuple(lines)


def _line(
    locale: Locale, kind: LineKind, page: PageKind, random: Random
) -> TelephoneLine:
    national, abroad = _number(locale, random)
    written = random.choice((national, national, abroad))
    is_link = kind is LineKind.PHONE and random.random() < 0.5  # noqa: PLR2004
    return TelephoneLine(e164_of(abroad), written, kind, page, is_link)


def _number(locale: Locale, random: Random) -> tuple[str, str]:
    """Invent a number: as written in its country and as written for abroad."""
    national, abroad = random.choice(locale.phones)
    digits = [str(random.randrange(10)) for _ in range(national.count("#"))]
    return _with_digits(national, digits), _with_digits(abroad, digits)


def _with_digits(pattern: str, digits: Sequence[str]) -> str:
    rest = iter(digits)
    return "".join(next(rest) if c == "#" else c for c in pattern)


def e164_of(abroad: str) -> str:
    """Strip an international number to its plus sign and digits."""
    return "+" + re.sub(r"\D", "", abroad)


def _profiles(kind: SiteKind, slug: str, random: Random) -> tuple[str, ...]:
    if kind in NOTHING_TO_READ:
        return ()
    handle = _handle(slug)
    chosen = random.sample(_NETWORKS, random.randrange(4))
    if len(handle) > X_HANDLE:
        chosen = [pattern for pattern in chosen if "x.com" not in pattern]
    return tuple(pattern.format(handle=handle) for pattern in chosen)


def _decoys(kind: SiteKind, domain: str | None) -> tuple[str, ...]:
    is_read = kind not in NOTHING_TO_READ or kind is SiteKind.ROBOTS_ERROR
    if domain is None or not is_read:
        return ()
    bait = (f"do-not-mail@{domain}", f"bait@{domain}")
    if kind in {SiteKind.PRIVATE_PATHS, SiteKind.ROBOTS_ERROR}:
        return (*bait, f"night-porter@{domain}")
    return bait


def _hours(random: Random) -> tuple[Opening, ...]:
    opens = random.choice(("07:30", "08:00", "09:00", "10:00"))
    closes = random.choice(("16:30", "17:00", "18:00", "19:00"))
    days = [Opening(day, opens, closes) for day in range(5)]
    saturday = random.choice((Opening(5, opens, "13:00"), Opening(5, None, None)))
    return (*days, saturday, Opening(6, None, None))
