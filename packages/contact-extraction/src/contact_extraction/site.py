"""What a page says about itself and about the site and the business behind it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contact_extraction.contacts.social import Profile, read_profile
from contact_extraction.errors import InvalidUrl
from contact_extraction.html import HtmlPage, clean, text_language
from contact_extraction.technology import (
    Technology,
    find_technologies,
    main_generator,
)
from contact_extraction.urls import Url, parse_url

MAX_TEXT: Final = 1_000


@dataclass(frozen=True, slots=True)
class MetaRobots:
    """What `<meta name=robots>` asks of us."""

    noindex: bool = False
    nofollow: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What one page says about itself. Unknown is None."""

    title: str | None
    description: str | None
    heading: str | None
    language: str | None
    """ISO 639-1, as declared, or as detected if nothing is declared."""
    canonical: str | None
    robots: MetaRobots
    structured_types: tuple[str, ...]
    """The schema.org types found in JSON-LD, microdata and RDFa."""
    has_contact_form: bool
    word_count: int
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class SchemaOrganisation:
    """The business as its structured data describes it. Unknown is None."""

    type: str
    name: str | None = None
    legal_name: str | None = None
    url: str | None = None
    logo: str | None = None
    email: str | None = None
    telephone: str | None = None
    address: str | None = None
    profiles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What a home page says about its site."""

    page: PageFacts
    favicon: str | None
    logo: str | None
    site_name: str | None
    generator: str | None
    generator_version: str | None
    technologies: tuple[Technology, ...]
    profiles: tuple[Profile, ...]
    organisation: SchemaOrganisation | None
    alternates: Mapping[str, str]
    """The same page in other languages: language tag to URL."""


def read_page_facts(page: HtmlPage, url: str) -> PageFacts:
    """Read what a page says about itself; raise InvalidUrl if `url` is not a URL."""
    base = _base_of(page, parse_url(url))
    headings = (
        line.text for line in page.lines if line.heading == 1 and not line.hidden
    )
    return PageFacts(
        title=_short(page.title) or _short(page.meta("og:title")),
        description=_short(page.meta("description"))
        or _short(page.meta("og:description")),
        heading=_short(next(headings, "")),
        language=_language(page),
        canonical=_canonical(page, base),
        robots=_robots(page),
        structured_types=_structured_types(page),
        has_contact_form=any(map(_is_contact_form, page.forms)),
        word_count=page.word_count,
        is_truncated=page.truncated,
    )


def read_site_facts(page: HtmlPage, url: str) -> SiteFacts:
    """Read what a home page says; raise InvalidUrl if `url` is not a URL."""
    base = _base_of(page, parse_url(url))
    technologies = find_technologies(page)
    generator = main_generator(technologies)
    organisation = _organisation(page, base)
    return SiteFacts(
        page=read_page_facts(page, url),
        favicon=_favicon(page, base),
        logo=(organisation.logo if organisation else None) or _logo(page, base),
        site_name=_short(page.meta("og:site_name"))
        or _short(page.meta("application-name")),
        generator=generator.name if generator else None,
        generator_version=generator.version if generator else None,
        technologies=technologies,
        profiles=_profiles(page, organisation),
        organisation=organisation,
        alternates=_alternates(page, base),
    )


def _base_of(page: HtmlPage, url: Url) -> Url:
    if not page.base:
        return url
    try:
        base = parse_url(page.base, url)
    except InvalidUrl:
        return url
    return base if base.site == url.site else url


def _short(text: str) -> str | None:
    return clean(text)[:MAX_TEXT].strip() or None


def _absolute(href: object, base: Url) -> str | None:
    if not isinstance(href, str) or not href.strip():
        return None
    try:
        return str(parse_url(href.strip(), base))
    except InvalidUrl:
        return None


def _language(page: HtmlPage) -> str | None:
    declared = (page.language, page.meta("content-language"), page.meta("og:locale"))
    for text in declared:
        if found := _LANGUAGE.match(text.strip().lower()):
            return found[1]
    if len(page.visible_text) < _ENOUGH_TEXT:
        return None
    return _TWO_LETTERS.get(text_language(page.visible_text) or "")


def _canonical(page: HtmlPage, base: Url) -> str | None:
    links = (link.href for link in page.head_links if "canonical" in link.rel.split())
    return next((url for href in links if (url := _absolute(href, base))), None)


def _robots(page: HtmlPage) -> MetaRobots:
    texts = [text for name, text in page.metas if name in {"robots", "googlebot"}]
    text = ", ".join(texts)[:MAX_TEXT].lower()
    words = set(_WORD.findall(text))
    return MetaRobots(
        noindex=bool(words & {"noindex", "none"}),
        nofollow=bool(words & {"nofollow", "none"}),
        text=text,
    )


def _structured_types(page: HtmlPage) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for thing in page.json_ld:
        found.update(dict.fromkeys(_types_of(thing)))
    for item in (*page.microdata, *page.rdfa):
        found.update(dict.fromkeys(kind for kind in item.types if kind))
    return tuple(found)[:_MAX_TYPES]


def _types_of(thing: Mapping[str, Any]) -> Iterator[str]:
    kinds = thing.get("@type")
    for kind in kinds if isinstance(kinds, list) else (kinds,):
        if isinstance(kind, str) and kind:
            yield kind.rpartition("/")[2][:80]


def _is_contact_form(form: Any) -> bool:  # noqa: ANN401
    """Say whether a form takes a message: a text area beside a name or an address."""
    names = " ".join(f"{name} {kind}" for name, kind in form.fields).lower()
    if "password" in names:
        return False
    has_message = any(kind == "textarea" for _, kind in form.fields)
    return has_message and _SENDER.search(names) is not None


def _favicon(page: HtmlPage, base: Url) -> str | None:
    icons = [
        link
        for link in page.head_links
        if {"icon", "apple-touch-icon", "apple-touch-icon-precomposed"}
        & set(link.rel.split())
    ]
    icons.sort(key=lambda link: "apple" in link.rel)
    return next((url for link in icons if (url := _absolute(link.href, base))), None)


def _logo(page: HtmlPage, base: Url) -> str | None:
    """Find the picture that calls itself a logo, those in the header first."""
    pictures = [
        image
        for image in page.images
        if not image.hidden and _LOGO.search(f"{image.names} {image.src} {image.alt}")
    ]
    pictures = [
        image for image in pictures if not _NOT_OWN.search(image.src + image.alt)
    ]
    pictures.sort(key=lambda image: image.region not in {"header", "nav"})
    return next(
        (url for image in pictures if (url := _absolute(image.src, base))), None
    )


def _profiles(
    page: HtmlPage, organisation: SchemaOrganisation | None
) -> tuple[Profile, ...]:
    hrefs = [link.href for link in page.links]
    if organisation is not None:
        hrefs += organisation.profiles
    found: dict[tuple[str, str], Profile] = {}
    for href in hrefs:
        if (profile := read_profile(href)) is not None:
            found.setdefault((profile.network, profile.handle.casefold()), profile)
    return tuple(found.values())[:_MAX_PROFILES]


def _alternates(page: HtmlPage, base: Url) -> dict[str, str]:
    return {
        link.hreflang.lower()[:35]: url
        for link in page.head_links
        if link.hreflang and "alternate" in link.rel.split()
        if (url := _absolute(link.href, base))
    }


def _organisation(page: HtmlPage, base: Url) -> SchemaOrganisation | None:
    """Return the first thing that is a business; one with a name before one without."""
    found = [one for one in _organisations(page, base) if one is not None]
    return next((one for one in found if one.name), found[0] if found else None)


def _organisations(page: HtmlPage, base: Url) -> Iterator[SchemaOrganisation | None]:
    for thing in page.json_ld:
        kind = next(filter(_is_business, _types_of(thing)), None)
        if kind is not None:
            yield _from_json(kind, thing, base)
    for item in (*page.microdata, *page.rdfa):
        kind = next(filter(_is_business, item.types), None)
        if kind is not None:
            texts = {name: item.texts(name) for name in item.properties}
            address = next(iter(item.items("address")), None)
            yield _from_json(
                kind,
                {name: list(values) for name, values in texts.items() if values}
                | (
                    {"address": {k: address.texts(k) for k in address.properties}}
                    if address
                    else {}
                ),
                base,
            )


def _is_business(kind: str) -> bool:
    return kind in _BUSINESS_TYPES or kind.endswith(_BUSINESS_ENDINGS)


def _from_json(kind: str, thing: Mapping[str, Any], base: Url) -> SchemaOrganisation:
    return SchemaOrganisation(
        type=kind,
        name=_text_of(thing.get("name")),
        legal_name=_text_of(thing.get("legalName")),
        url=_absolute(_text_of(thing.get("url")), base),
        logo=_absolute(_image_of(thing.get("logo")), base),
        email=_mail_of(thing.get("email")),
        telephone=_text_of(thing.get("telephone")),
        address=_address_of(thing.get("address")),
        profiles=tuple(_texts_of(thing.get("sameAs")))[:_MAX_PROFILES],
    )


def _texts_of(value: Any) -> Iterator[str]:  # noqa: ANN401
    values: Iterable[Any] = value if isinstance(value, list | tuple) else (value,)
    for one in values:
        if isinstance(one, str) and (text := _short(one)):
            yield text


def _text_of(value: Any) -> str | None:  # noqa: ANN401
    return next(_texts_of(value), None)


def _image_of(value: Any) -> str | None:  # noqa: ANN401
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        return _text_of(value.get("url") or value.get("contentUrl") or value.get("@id"))
    return _text_of(value)


def _mail_of(value: Any) -> str | None:  # noqa: ANN401
    text = _text_of(value)
    return text.removeprefix("mailto:") if text and "@" in text else None


def _address_of(value: Any) -> str | None:  # noqa: ANN401
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        parts = (_part_of(value.get(name)) for name in _ADDRESS_PARTS)
        return ", ".join(part for part in parts if part) or None
    return _text_of(value)


def _part_of(value: Any) -> str | None:  # noqa: ANN401
    return _text_of(value.get("name")) if isinstance(value, dict) else _text_of(value)


_ENOUGH_TEXT: Final = 200
_MAX_TYPES: Final = 50
_MAX_PROFILES: Final = 50
_WORD: Final = re.compile(r"[a-z]+")
_LANGUAGE: Final = re.compile(r"([a-z]{2})(?:$|[-_,;\s])")
_LOGO: Final = re.compile(r"logo|brand(?:ing|mark)?\b", re.IGNORECASE)
_NOT_OWN: Final = re.compile(
    r"facebook|instagram|twitter|google|paypal|visa|mastercard|partner|sponsor|client"
    r"|payment|tripadvisor|yelp|cookie|^data:",
    re.IGNORECASE,
)
_SENDER: Final = re.compile(r"mail|name|phone|tel|nom|correo|subject|betreff|naam")
_ADDRESS_PARTS: Final = (
    "streetAddress",
    "postOfficeBoxNumber",
    "postalCode",
    "addressLocality",
    "addressRegion",
    "addressCountry",
)
_BUSINESS_TYPES: Final = frozenset(
    (
        *(
            "Organization",
            "Corporation",
            "LocalBusiness",
            "Restaurant",
            "Hotel",
            "Store",
        ),
        *(
            "Dentist",
            "Physician",
            "Attorney",
            "LegalService",
            "MedicalBusiness",
            "Bakery",
        ),
        *(
            "MedicalClinic",
            "Hospital",
            "ProfessionalService",
            "FinancialService",
            "NGO",
        ),
        *("RealEstateAgent", "TravelAgency", "AutoRepair", "AutoDealer", "BeautySalon"),
        *("HairSalon", "DaySpa", "HealthClub", "ExerciseGym", "SportsClub", "Plumber"),
        *("Electrician", "RoofingContractor", "HVACBusiness", "GeneralContractor"),
        *("HousePainter", "Locksmith", "MovingCompany", "BarOrPub", "CafeOrCoffeeShop"),
        *(
            "FoodEstablishment",
            "LodgingBusiness",
            "BedAndBreakfast",
            "Campground",
            "Resort",
        ),
        *(
            "EducationalOrganization",
            "School",
            "Preschool",
            "CollegeOrUniversity",
            "Church",
        ),
        *(
            "VeterinaryCare",
            "Optician",
            "Pharmacy",
            "Florist",
            "InsuranceAgency",
            "Winery",
        ),
        *("AccountingService", "Notary", "EmploymentAgency", "ChildCare", "PetStore"),
        *("HomeAndConstructionBusiness", "EntertainmentBusiness", "AutomotiveBusiness"),
        *("GovernmentOrganization", "MusicGroup", "NailSalon", "TattooParlor", "Motel"),
    )
)
_BUSINESS_ENDINGS: Final = (
    "Store",
    "Business",
    "Organization",
    "Shop",
    "Service",
    "Salon",
)
_TWO_LETTERS: Final = {
    "eng": "en",
    "deu": "de",
    "ger": "de",
    "fra": "fr",
    "fre": "fr",
    "spa": "es",
    "ita": "it",
    "nld": "nl",
    "dut": "nl",
    "por": "pt",
    "pol": "pl",
    "swe": "sv",
    "dan": "da",
    "nor": "no",
    "nob": "no",
    "fin": "fi",
    "ces": "cs",
    "cze": "cs",
    "slk": "sk",
    "tur": "tr",
    "jpn": "ja",
    "zho": "zh",
    "cmn": "zh",
    "kor": "ko",
    "rus": "ru",
    "ukr": "uk",
    "hun": "hu",
    "ron": "ro",
    "ell": "el",
    "hrv": "hr",
    "bul": "bg",
    "ara": "ar",
    "heb": "he",
    "vie": "vi",
    "ind": "id",
    "cat": "ca",
    "lit": "lt",
    "est": "et",
    "lav": "lv",
    "slv": "sl",
    "srp": "sr",
}
