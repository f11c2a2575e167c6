"""A business of the town and everything that is true about it."""

from dataclasses import dataclass
from enum import StrEnum

from simulated_town.locale import Locale


class SiteKind(StrEnum):
    """What a visitor of the business's website meets."""

    WORDPRESS = "wordpress"
    WORDPRESS_CORE = "wordpress_core"
    WIX = "wix"
    SQUARESPACE = "squarespace"
    SHOPIFY = "shopify"
    PLAIN = "plain"
    ONE_PAGE = "one_page"
    ROBOTS_SITEMAP = "robots_sitemap"
    GZIP_SITEMAP = "gzip_sitemap"
    TEXT_SITEMAP = "text_sitemap"
    FEED_ONLY = "feed_only"
    LINKED_SITEMAP = "linked_sitemap"
    PRIVATE_PATHS = "private_paths"
    CHAIN = "chain"
    OLD_CHARSET = "old_charset"
    BROKEN_HTML = "broken_html"
    SOFT_404 = "soft_404"
    SLOW = "slow"
    BUSY = "busy"
    FLAKY = "flaky"
    CALENDAR = "calendar"

    NO_WEBSITE = "no_website"
    SOCIAL = "social"
    BOOKING = "booking"
    LINK_PAGE = "link_page"
    DIRECTORY = "directory"
    PARKED = "parked"
    FOR_SALE = "for_sale"
    OTHER_BRAND = "other_brand"
    NO_SUCH_NAME = "no_such_name"
    SERVER_ERROR = "server_error"

    GZIP_BOMB = "gzip_bomb"
    ENDLESS = "endless"
    REDIRECT_LOOP = "redirect_loop"
    PRIVATE_REDIRECT = "private_redirect"
    ROBOTS_ERROR = "robots_error"
    HANGING = "hanging"


class ExpectedVerdict(StrEnum):
    """What a website is to its business, in the words the product uses."""

    OWN_SITE = "own_site"
    SOCIAL_PROFILE = "social_profile"
    DIRECTORY = "directory"
    BOOKING_PAGE = "booking_page"
    LINK_PAGE = "link_page"
    PARKED = "parked"
    FOR_SALE = "for_sale"
    OTHER_BRAND = "redirect_to_other_brand"
    UNREACHABLE = "unreachable"
    NO_WEBSITE = "no_website"


class Disguise(StrEnum):
    """How an e-mail address is written on a page."""

    TEXT = "text"
    MAILTO = "mailto"
    ENTITIES = "entities"
    AT_DOT = "at_dot"
    CLOUDFLARE = "cloudflare"
    SCRIPT = "script"
    REVERSED = "reversed"
    IMAGE_ALT = "image_alt"
    DATA_ATTRIBUTE = "data_attribute"


class Markup(StrEnum):
    """How a page says to machines what it says to people."""

    NONE = "none"
    JSON_LD = "json_ld"
    MICRODATA = "microdata"
    HCARD = "hcard"


class LineKind(StrEnum):
    """What answers at a number."""

    PHONE = "phone"
    FAX = "fax"


class PageKind(StrEnum):
    """The pages of a site that say how to reach someone."""

    HOME = "home"
    CONTACT = "contact"
    ABOUT = "about"
    TEAM = "team"
    IMPRINT = "imprint"
    PRESS = "press"
    """Written for journalists; few have one."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An e-mail address, where it stands and how it is written there."""

    address: str
    page: PageKind
    disguise: Disguise


@dataclass(frozen=True, slots=True)
class TelephoneLine:
    """A telephone or fax number, where it stands and how it is written there."""

    e164: str
    written: str
    kind: LineKind
    page: PageKind
    is_link: bool


@dataclass(frozen=True, slots=True)
class StaffMember:
    """Someone who works there, by the name the page gives."""

    name: str
    role: str
    page: PageKind
    mailbox: str | None


@dataclass(frozen=True, slots=True)
class StreetAddress:
    """Where the business is; `lines` are as people write it there."""

    lines: tuple[str, str]
    street: str
    postcode: str
    town: str
    country: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Opening:
    """One weekday's hours, 0 is Monday; None means closed."""

    day: int
    opens: str | None
    closes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Business:
    """One business, its website and all that a patient, polite reader can learn there."""

    number: int
    name: str
    trade: str
    locale: Locale
    kind: SiteKind
    markup: Markup
    domain: str | None
    """The registrable domain of its own website."""
    www: bool
    """Whether the site lives at `www.` and sends visitors of the bare name there."""
    website: str | None
    """What the place source says, as people type it."""
    source_phone: str
    """The number that the place source has, as it is written there."""
    source_e164: str
    address: StreetAddress
    hours: tuple[Opening, ...]
    rating: float
    reviews: int
    mailboxes: tuple[Mailbox, ...]
    lines: tuple[TelephoneLine, ...]
    people: tuple[StaffMember, ...]
    profiles: tuple[str, ...]
    decoys: tuple[str, ...]
    """Addresses on its pages that no reader may take: bait, and what robots forbid."""
    edited: frozenset[str] = frozenset()
    """Paths of pages that were changed later than the others."""
    is_closed: bool = False
    """Whether it has closed for good: its website says so."""
    other_brand: str | None = None
    """Where the website of an `other_brand` sends its visitors."""

    @property
    def host(self) -> str | None:
        """Return the name its pages are served under."""
        if self.domain is None:
            return None
        return f"www.{self.domain}" if self.www else self.domain
