"""Read contacts from JSON-LD, microdata, RDFa and hCards, all as one kind of item."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from contact_extraction import wordlist
from contact_extraction.contacts.email import addresses_in_field
from contact_extraction.contacts.model import (
    AddressSighting,
    Method,
    PersonSighting,
    PhoneKind,
    PhoneSighting,
    ProfileSighting,
    Sighting,
)
from contact_extraction.contacts.person import looks_like_person
from contact_extraction.contacts.phone import is_placeholder, read_number
from contact_extraction.contacts.place import country_code
from contact_extraction.contacts.social import read_profile
from contact_extraction.html import HtmlPage, Item, clean, words

MAX_ITEMS: Final = 500
MAX_DEPTH: Final = 8


@dataclass(slots=True)
class Structured:
    """Sightings in structured data, by kind."""

    emails: list[Sighting] = field(default_factory=list)
    phones: list[PhoneSighting] = field(default_factory=list)
    people: list[PersonSighting] = field(default_factory=list)
    organisations: list[Sighting] = field(default_factory=list)
    addresses: list[AddressSighting] = field(default_factory=list)
    hours: list[Sighting] = field(default_factory=list)
    socials: list[ProfileSighting] = field(default_factory=list)


def read_structured(page: HtmlPage, regions: tuple[str, ...]) -> Structured:
    """Read every item of a page that describes a business or a person."""
    reader = _Reader(regions)
    for thing in page.json_ld[:MAX_ITEMS]:
        reader.read(_json_item(thing), Method.JSON_LD)
    for item in page.microdata:
        reader.read(item, Method.MICRODATA)
    for item in page.rdfa:
        reader.read(item, Method.RDFA)
    for item in page.hcards:
        reader.read(item, Method.HCARD)
    return reader.result


_NEVER: Final = words(
    "Product Article NewsArticle BlogPosting Event Offer Review AggregateRating ImageObject "
    "VideoObject BreadcrumbList ListItem SearchAction FAQPage Question Answer Recipe "
    "JobPosting Book Movie MusicAlbum SoftwareApplication Comment UserComments Rating"
)
_NESTED: Final = (
    "contactPoint", "contactPoints", "department", "subOrganization", "location",
    "employee", "employees", "founder", "founders", "member", "mainEntity", "about",
    "publisher", "provider", "parentOrganization", "worksFor", "affiliation", "branch",
    "org", "itemListElement", "item", "hasPOS", "owns", "alumniOf_", "copyrightHolder",
)  # fmt: skip


_NUMBERS: Final = (
    ("telephone", None), ("faxNumber", PhoneKind.FAX), ("fax", PhoneKind.FAX),
)  # fmt: skip


class _Reader:
    def __init__(self, regions: tuple[str, ...]) -> None:
        self.regions = regions
        self.result = Structured()
        self.count = 0

    def read(self, item: Item, method: Method, depth: int = 0) -> None:
        """Read one item and those inside it that belong to it."""
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_ITEMS:
            return
        kinds = set(item.types)
        if not kinds & _NEVER:
            self._read_values(item, kinds, method)
        for name in _NESTED:
            for inner in item.items(name):
                self.read(inner, method, depth + 1)

    def _read_values(self, item: Item, kinds: set[str], method: Method) -> None:
        names = item.texts("name") or item.texts("legalName") or item.texts("org")
        name = clean(names[0])[:120] if names else ""
        is_person = "Person" in kinds or (
            "hCard" in kinds and self._is_person(item, name)
        )
        is_known = is_person or not kinds or _is_organisation(kinds)
        if not is_known and not (item.properties.keys() & {"telephone", "address"}):
            return
        if name and is_person:
            role = next(iter(item.texts("jobTitle") + item.texts("role")), None)
            if role or looks_like_person(name):
                self.result.people.append(
                    PersonSighting(
                        key=name.casefold(),
                        value=name,
                        method=method,
                        snippet=name,
                        role=role,
                    )
                )
            for org in item.texts("org"):
                self._add_organisation(org, method)
        elif name and not kinds & {"ContactPoint", "PostalAddress", "Place"}:
            for written in (
                *item.texts("name")[:1],
                *item.texts("legalName")[:1],
                *item.texts("org")[:1],
            ):
                self._add_organisation(written, method)
        self._read_reach(item, method)
        self._read_addresses(item, kinds, method)
        self._read_hours(item, method)
        for url in item.texts("sameAs")[:50]:
            if profile := read_profile(url):
                self.result.socials.append(
                    ProfileSighting(
                        key=profile.url.casefold(),
                        value=profile.url,
                        method=method,
                        snippet=profile.url[:200],
                        network=profile.network,
                        handle=profile.handle,
                    )
                )

    @staticmethod
    def _is_person(item: Item, name: str) -> bool:
        orgs = item.texts("org")
        if any(org.casefold() == name.casefold() for org in orgs):
            return False
        return bool(item.texts("role")) or looks_like_person(name)

    def _add_organisation(self, name: str, method: Method) -> None:
        name = clean(name)[:120]
        if name:
            self._add(self.result.organisations, name.casefold(), name, method)

    def _read_reach(self, item: Item, method: Method) -> None:
        for text in item.texts("email")[:20]:
            for address in addresses_in_field(text.removeprefix("mailto:")):
                self._add(self.result.emails, address, address, method)
        for prop, kind in _NUMBERS:
            for text in item.texts(prop)[:20]:
                written = text.removeprefix("tel:").strip()
                number = read_number(written, self.regions)
                if number and not is_placeholder(number[0]):
                    self.result.phones.append(
                        PhoneSighting(
                            key=number[0],
                            value=written[:40],
                            method=method,
                            snippet=written[:40],
                            extension=number[1],
                            region=number[2],
                            kind=kind,
                        )
                    )

    def _read_addresses(self, item: Item, kinds: set[str], method: Method) -> None:
        if item.texts("streetAddress") or (
            "PostalAddress" in kinds and item.texts("postalCode")
        ):
            self._add_address(item, method)
        for inner in item.items("address") + item.items("adr"):
            self._add_address(inner, method)
        for written in item.texts("address")[:5]:
            text = clean(written)[:200]
            if len(text) > 10 and any(c.isdigit() for c in text):
                self.result.addresses.append(
                    AddressSighting(
                        key=_address_key(text), value=text, method=method, snippet=text
                    )
                )

    def _add_address(self, item: Item, method: Method) -> None:
        def one(*names: str) -> str | None:
            for name in names:
                for text in item.texts(name):
                    if text.strip():
                        return clean(text)[:160]
            return None

        street = one("streetAddress") or one("postOfficeBoxNumber")
        extra = one("extendedAddress")
        if street and extra and extra not in street:
            street = f"{street}, {extra}"
        city, state = one("addressLocality"), one("addressRegion")
        code = one("postalCode")
        country = one("addressCountry")
        for inner in item.items("addressCountry"):
            country = next(iter(inner.texts("name")), country)
        if not street and not code:
            return
        parts = [p for p in (street, city, state, code, country) if p]
        whole = ", ".join(parts)
        self.result.addresses.append(
            AddressSighting(
                key=_address_key(f"{street or ''} {code or city or ''}"),
                value=whole,
                method=method,
                snippet=whole[:200],
                street=street.rstrip(" ,") if street else None,
                city=city,
                state=state,
                postal_code=code,
                country=country_code(country) if country else None,
            )
        )

    def _read_hours(self, item: Item, method: Method) -> None:
        texts = [clean(t) for t in item.texts("openingHours")[:14] if t.strip()]
        for spec in item.items("openingHoursSpecification")[:20]:
            days = [d.rpartition("/")[2] for d in spec.texts("dayOfWeek")]
            opens = next(iter(spec.texts("opens")), "")
            closes = next(iter(spec.texts("closes")), "")
            if days and opens and closes:
                texts.append(f"{', '.join(days)} {opens[:5]}-{closes[:5]}")
        if texts:
            text = "; ".join(texts)[:500]
            self._add(self.result.hours, text.casefold(), text, method)

    @staticmethod
    def _add(target: list[Sighting], key: str, value: str, method: Method) -> None:
        target.append(
            Sighting(key=key, value=value, method=method, snippet=value[:200])
        )


def _is_organisation(kinds: set[str]) -> bool:
    known = wordlist.load_words("schema_organisations")
    return any(kind.casefold() in known for kind in kinds)


def _address_key(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def _json_item(thing: Any, depth: int = 0) -> Item:  # noqa: ANN401
    """Turn a JSON-LD object into an item, to a bounded depth."""
    kinds = thing.get("@type")
    properties: dict[str, tuple[str | Item, ...]] = {}
    for name, value in list(thing.items())[:200]:
        if isinstance(name, str) and not name.startswith("@"):
            properties[name.rpartition(":")[2]] = tuple(_json_values(value, depth))
    return Item(
        types=tuple(
            str(k).rpartition("/")[2].rpartition(":")[2]
            for k in (kinds if isinstance(kinds, list) else [kinds])
            if k
        ),
        properties=properties,
    )


def _json_values(value: Any, depth: int) -> Iterator[str | Item]:  # noqa: ANN401
    for part in (value if isinstance(value, list) else [value])[:100]:
        if isinstance(part, dict) and depth < MAX_DEPTH:
            if "@value" in part and isinstance(part["@value"], str):
                yield clean(part["@value"][:2000])
            else:
                yield _json_item(part, depth + 1)
        elif isinstance(part, str):
            yield clean(part[:2000])
        elif isinstance(part, int) and not isinstance(part, bool):
            yield str(part)
