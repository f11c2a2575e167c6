"""What a page says about how to reach someone. Unknown is None, never a filler."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from contact_extraction.email_quality import EmailQuality
from contact_extraction.html.sight import LEAST_SEEN, SEEN
from contact_extraction.text import without_degrees


class Method(StrEnum):
    """How a value was found; each has a measured reliability in `confidence`."""

    MAILTO = "mailto"
    TEL = "tel"
    TEXT = "text"
    LABELLED = "labelled_text"
    OBFUSCATED = "obfuscated_text"
    CLOUDFLARE = "cloudflare"
    SCRIPT = "script"
    ATTRIBUTE = "attribute"
    IMAGE = "image_alt"
    JSON_LD = "json_ld"
    MICRODATA = "microdata"
    RDFA = "rdfa"
    HCARD = "hcard"
    META = "meta"
    TITLE = "title"
    HEADING = "heading"
    LOGO = "logo"
    COPYRIGHT = "copyright"
    LEGAL_FORM = "legal_form"
    LETTERHEAD = "letterhead"
    LINK = "link"
    POSTAL = "postal_code"
    STREET = "street_word"
    ROLE = "role"
    NAME_LIST = "name_list"
    TITLE_OF_ADDRESS = "honorific"
    LEGAL_NOTICE = "legal_notice"
    ONLY_PERSON = "only_person"


REACHED_THROUGH: Final = (Method.LEGAL_NOTICE, Method.ONLY_PERSON)
"""How it is known whom an address of the business reaches: it is not their own."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a value was seen: at most 200 characters around it, and by which method."""

    url: str
    snippet: str
    method: Method
    span: tuple[int, int] | None = field(default=None, compare=False)
    """From which to which character of the page's text; None where it is not in the text."""


class OwnerKind(StrEnum):
    """Whom a value of a page belongs to."""

    OWN = "own"
    STAFF = "staff"
    THIRD_PARTY = "third_party"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class ValueOwner:
    """Whose a value is: who that is if it is not the business, and how it is known."""

    whose: OwnerKind
    who: str | None = None
    why: str | None = None
    likelihood: float = 0.97
    """How likely it is theirs; what nothing speaks against is the business's own."""

    @property
    def is_ours(self) -> bool:
        """Say whether the value reaches the business or one of its people."""
        return self.whose in (OwnerKind.OWN, OwnerKind.STAFF)

    @property
    def is_placeholder(self) -> bool:
        """Say whether a template left the value behind, and it reaches nobody."""
        return self.whose is OwnerKind.PLACEHOLDER


OWN = ValueOwner(OwnerKind.OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Something found, with every place that supports it and how sure we are."""

    evidence: tuple[Citation, ...]
    confidence: float
    owner: ValueOwner = OWN
    certainty: float = SEEN
    """How surely a visitor sees it where it is seen best; part of the confidence."""

    @property
    def is_seen(self) -> bool:
        """Say whether it stands anywhere that visitors surely look."""
        return self.certainty >= LEAST_SEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Email(Value):
    """An e-mail address in lower case."""

    address: str
    quality: EmailQuality


class PhoneKind(StrEnum):
    """What answers at a number."""

    PHONE = "phone"
    FAX = "fax"
    MOBILE = "mobile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone(Value):
    """A telephone or fax number: E.164 and as written."""

    e164: str
    written: str
    extension: str | None
    region: str | None
    kind: PhoneKind


LEAST_CONFIDENCE: Final = 0.5
"""Whoever is less surely of the business is a mention.

Of the people below it 4 of 10 are of the business, of all above it 15 of 16: on 64 sites,
each tenth weighed by what the others taught.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEntry(Value):
    """A person and, where the page says it, what they do."""

    name: str
    role: str | None
    place: int = 0
    """Which of the people of the page they are, in the order in which it names them."""
    is_customer: bool = False
    """Named only where customers speak: under a heading about reviews, below a quote."""
    degree: str | None = None
    """What they were called to, as it stands beside the name: MD, Dr., Esq."""
    is_provider: bool = False
    """The only one whom a legal notice names as the provider, and no company."""

    @property
    def called(self) -> str:
        """Give the name without the degrees that may be written behind it."""
        return without_degrees(self.name)

    @property
    def is_of_business(self) -> bool:
        """Say whether they are likely enough of the business, and not its customer."""
        is_likely = self.confidence >= LEAST_CONFIDENCE * self.certainty
        return is_likely and not self.is_customer


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation(Value):
    """The name of a business or institution; `also` are other spellings of it."""

    name: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address(Value):
    """A postal address; `text` is the whole as written."""

    text: str
    street: str | None
    city: str | None
    state: str | None
    postal_code: str | None
    country: str | None
    """ISO 3166-1 alpha-2."""


@dataclass(frozen=True, slots=True)
class Interval:
    """One opening on one weekday (0 is Monday); times as HH:MM, None when closed."""

    day: int
    opens: str | None
    closes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours(Value):
    """Opening hours as written and, as far as understood, by day."""

    text: str
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Social(Value):
    """A profile on a network."""

    network: str
    handle: str
    url: str


@dataclass(frozen=True, slots=True)
class Group:
    """Values that stand together and so belong to one person, branch or office."""

    label: str | None
    person: PersonEntry | None
    organisation: Organisation | None
    address: Address | None
    emails: tuple[Email, ...]
    phones: tuple[Phone, ...]
    hours: tuple[Hours, ...]


@dataclass(frozen=True, slots=True)
class PersonLink:
    """What reaches one person: an address or a number, theirs alone unless it is shared."""

    person: PersonEntry
    email: Email | None = None
    phone: Phone | None = None
    why: str = ""
    confidence: float = 0.95
    """How likely what is theirs is theirs, if they are who they are taken for."""
    is_shared: bool = False
    """Named after a function or the firm: it reaches them, and is not theirs alone."""


@dataclass(frozen=True, slots=True)
class Contacts:
    """Everything one page says, the surest first within each kind."""

    emails: tuple[Email, ...] = ()
    phones: tuple[Phone, ...] = ()
    people: tuple[PersonEntry, ...] = ()
    organisations: tuple[Organisation, ...] = ()
    addresses: tuple[Address, ...] = ()
    hours: tuple[Hours, ...] = ()
    socials: tuple[Social, ...] = ()
    groups: tuple[Group, ...] = ()
    links: tuple[PersonLink, ...] = ()
    placeholders: tuple[Email | Phone, ...] = ()
    """What a template left behind; in none of the others."""
    truncated: bool = False

    @property
    def is_empty(self) -> bool:
        """Say whether there is no way to reach anyone on the page."""
        return not (self.emails or self.phones or self.addresses or self.socials)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is already known about the page's business; all of it optional."""

    country: str | None = None
    """ISO 3166-1 alpha-2, for instance from the place the business was found at."""
    language: str | None = None
    organisation: str | None = None
    encoding: str | None = None
    """The character set the server named."""
    people: bool = True
    """False leaves names of people out, where data protection asks for it."""


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One sighting of a value, before sightings of the same value are merged."""

    key: str
    value: str
    method: Method
    line: int = -1
    start: int = 0
    end: int = 0
    snippet: str = ""
    certainty: float = SEEN
    """How surely a visitor sees the link or picture; of a text its line says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneSighting(Sighting):
    """A sighting of a telephone number."""

    extension: str | None = None
    region: str | None = None
    kind: PhoneKind | None = None
    """What a label beside it says; None if there is none."""
    is_placeholder: bool = False
    """Whether it is one of those that templates come with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSighting(Sighting):
    """A sighting of a person, with what speaks for it that it is one."""

    role: str | None = None
    is_alone: bool = False
    is_supported: bool = False
    is_listed: bool = False
    is_inner: bool = False
    is_plain: bool = False
    has_title: bool = False
    degree: str | None = None
    """What they were called to: MD behind the name, Dr. before it."""
    is_customer: bool = False
    confidence: float | None = None
    """None where structured data names the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganisationSighting(Sighting):
    """The name that won among all that may be the business's, or one of others."""

    confidence: float
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressSighting(Sighting):
    """A sighting of a postal address, with the parts that were understood."""

    street: str | None = None
    city: str | None = None
    state: str | None = None
    postal_code: str | None = None
    country: str | None = None

    @property
    def parts(self) -> int:
        """Count the parts that are known."""
        parts = (self.street, self.city, self.state, self.postal_code, self.country)
        return sum(1 for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSighting(Sighting):
    """A sighting of a profile on a network."""

    network: str
    handle: str
