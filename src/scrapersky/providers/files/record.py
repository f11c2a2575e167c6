"""One row of a file, whatever its form was, as a place."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contact_extraction.contacts.place import country_code
from scrapersky.kit.canonical import stored_phones
from scrapersky.providers.area import Point
from scrapersky.providers.files.column import NETWORKS
from scrapersky.providers.hours import week_from_osm
from scrapersky.providers.source import (
    MAX_CHARACTERS,
    BusinessStatus,
    FoundPlace,
    Json,
    PlaceFacts,
)
from scrapersky.providers.value import (
    count_of,
    country_of,
    join_parts,
    number_of,
    point_of,
    rating_of,
    storable,
    text_of,
    website_of,
)

PROVIDER = "file"
MAX_NOTED_CHARACTERS = 60
EMAIL = re.compile(r"^[^@\s<>()\"',;]{1,64}@[^@\s<>()\"',;]+\.[^@\s<>()\"',;.]{2,}$")
WRAPPED = re.compile(r'^="(.*)"$', re.DOTALL)
FORMULA = re.compile(r"^(?:=|[+\-@].*[|!=]|[@\-+].*\()", re.DOTALL)
WRAPPED_EMAIL = re.compile(r"^(?:mailto:)?<?([^<>]*)>?$", re.IGNORECASE)
TITLE = (
    r"(?:(?:Prof|Dr|Mag|Ing|Dipl|Univ|Mr|Mrs|Ms|Hr|Fr|med|dent|jur|rer|nat)\.?[\s.-]*)"
)
PARTICLE = (
    r"(?:(?:van|von|vom|zu|zur|de|del|della|der|den|des|di|da|do|dos|du|la|le|ten|ter|el|al|af|av"
    r"|Van|Von|De|Del|Della|Di|Da|Du|La|Le)\s+)"
)
LAST_NAME_FIRST = re.compile(
    rf"^({TITLE}*)({PARTICLE}*[^\W\d_][^\s,]+)\s*,"
    rf"\s*({TITLE}*)([^\W\d_][^\W\d_]*[^\W\d_A-Z](?:[\s-][^\W\d_]+\.?)*)"
    r"(?:\s*,\s*((?:Jr|Sr|II|III|IV)\.?))?$"
)
SPACES = re.compile(r"[^\S\n]+")
PHONE = re.compile(r"^\+?[\d\s().\-/x;,:]+(?:[^\W\d_]{1,12}[.:]?\s*\d{1,7})?$")
STATUSES = {
    **dict.fromkeys(
        ("operational", "operating", "open", "active", "yes"),
        BusinessStatus.OPERATING,
    ),
    **dict.fromkeys(
        ("closedtemporarily", "temporarilyclosed"), BusinessStatus.CLOSED_TEMPORARILY
    ),
    **dict.fromkeys(
        ("closedpermanently", "permanentlyclosed", "closed", "inactive"),
        BusinessStatus.CLOSED_PERMANENTLY,
    ),
    "moved": BusinessStatus.MOVED,
    **dict.fromkeys(("futureopening", "future"), BusinessStatus.FUTURE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """What a row says, in our words."""

    id: str | None = None
    name: str | None = None
    address: str | None = None
    street: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None
    point: Point | None = None
    websites: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    rating: float | None = None
    reviews_count: int | None = None
    price_level: str | None = None
    status: BusinessStatus | None = None
    hours: str | None = None
    attributes: Json = field(default_factory=dict)
    licence: str | None = None
    person: str | None = None
    role: str | None = None
    extra: Json = field(default_factory=dict)
    """What stands in columns that mean nothing to us, or could not be read."""

    @property
    def is_usable(self) -> bool:
        """Say whether there is anything to call the place by, to go to or to write to."""
        return bool(self.name or self.websites or self.emails)

    @property
    def line(self) -> str | None:
        """Return the address in one line."""
        if self.address:
            return self.address
        place = join_parts((self.postal_code, self.city), " ")
        return join_parts((self.street, place, self.region, self.country))


@dataclass(frozen=True, slots=True)
class RowNote:
    """A value that was left out of a row, and why."""

    why: str
    field: str | None = None
    value: str | None = None


@dataclass(slots=True)
class RowNotes:
    """What was left out of a row, and why."""

    all: list[RowNote] = field(default_factory=list)

    def add(self, why: str, field: str | None = None, value: str | None = None) -> None:
        """Remember one thing."""
        self.all.append(RowNote(why, field, value and value[:MAX_NOTED_CHARACTERS]))


def clean_cell(text: str, meaning: str | None, notes: RowNotes) -> str | None:
    """Return the text of a cell; a formula is no value of ours, but what people wrote."""
    cell = text_of(text)
    if cell is None:
        return None
    if wrapped := WRAPPED.match(cell):
        # How spreadsheets are made to keep the zeros of 00123.
        cell = wrapped[1].replace('""', '"').strip()
    if cell[:1] == "'" and cell[1:2] in {"=", "+", "-", "@"}:
        cell = cell[1:]
    is_phone = meaning == "phone" and PHONE.match(cell) is not None
    if meaning is not None and FORMULA.match(cell) and not is_phone:
        notes.add(f"a formula is not a value for {meaning}", meaning, cell)
        return None
    if meaning is not None:
        cell = SPACES.sub(" ", cell)
    return cell or None


def record_from_cells(cells: Mapping[str, str], notes: RowNotes) -> FileRecord:
    """Make a record of cells by meaning."""
    lat, lng = cells.get("latitude"), cells.get("longitude")
    point = point_of(decimal(lat), decimal(lng))
    if (lat or lng) and point is None:
        notes.add("latitude and longitude are not a point on Earth")
    websites = tuple(
        found
        for part in list_parts(cells, "website", r"[;,\s|]+")
        if (found := website_of(part))
    )
    if cells.get("website") and not websites:
        notes.add("not the address of a website", "website", cells["website"])
    emails = tuple(
        WRAPPED_EMAIL.sub(r"\1", part)
        for part in list_parts(cells, "email", r"[;,\s|]+")
    )
    good = tuple(part for part in emails if EMAIL.match(part))
    for part in emails:
        if part not in good:
            notes.add("not an e-mail address", "email", part)
    street = join_parts((cells.get("street"), cells.get("house_number")), " ")
    country = country_code(cells.get("country") or "")
    if cells.get("country") and country is None:
        notes.add("not the name of a country", "country", cells["country"])
    return FileRecord(
        id=cells.get("id"),
        name=cells.get("name"),
        address=cells.get("address"),
        street=street if cells.get("street") else None,
        city=cells.get("city"),
        region=cells.get("region"),
        postal_code=cells.get("postal_code"),
        country=country,
        point=point,
        websites=websites,
        phones=tuple(list_parts(cells, "phone", r"[;|]+|\s/\s")),
        emails=good,
        links=links_of(cells),
        categories=tuple(dict.fromkeys(list_parts(cells, "categories", r"[;,|]+"))),
        rating=rating_of(decimal(cells.get("rating"))),
        reviews_count=count_of(thousands(cells.get("reviews"))),
        price_level=cells.get("price_level"),
        status=status_of(cells.get("status")),
        hours=cells.get("hours"),
        person=in_spoken_order(cells.get("person"))
        or join_parts((cells.get("first_name"), cells.get("last_name")), " "),
        role=cells.get("role"),
    )


def in_spoken_order(name: str | None) -> str | None:
    """Return `Ada Huber` for `Huber, Ada`; what follows may be a degree, as in `MBA`."""
    if name is None:
        return None
    name = " ".join(name.split())
    turned = LAST_NAME_FIRST.match(name)
    if turned is None:
        return name
    before, last, title, first, after = turned.groups("")
    return " ".join(f"{before} {title} {first} {last} {after}".split())


def note_unread_phones(record: FileRecord, region: str | None, notes: RowNotes) -> None:
    """Say which phone numbers are none; they are kept beside the others as they are."""
    for written in record.phones:
        if not stored_phones((written,), record.country or region):
            notes.add("not a phone number", "phone", written)


def note_long_values(record: FileRecord, notes: RowNotes) -> None:
    """Say which values are cut, as no place has such long ones."""
    values = {name: getattr(record, name, None) for name in MAX_CHARACTERS}
    values["phone"] = record.phones[0] if record.phones else None
    for name, most in MAX_CHARACTERS.items():
        if len(values[name] or "") > most:
            label = name.replace("_", " ")
            notes.add(f"the {label} is longer than {most} letters: the rest is cut off")


def links_of(cells: Mapping[str, str]) -> tuple[str, ...]:
    """Return the profiles on social networks that are URLs."""
    texts = [cells[name] for name in NETWORKS if name in cells]
    texts += list_parts(cells, "socials", r"[;,\s|]+")
    found = (website_of(text) for text in texts if "." in text)
    return tuple(dict.fromkeys(link for link in found if link))


def status_of(text: str | None) -> BusinessStatus | None:
    """Read whether a business operates."""
    return STATUSES.get(re.sub(r"[^a-z]", "", (text or "").casefold()))


def decimal(text: str | None) -> str | None:
    """Return a number with a point where a comma was written."""
    if text is not None and "." not in text and text.count(",") == 1:
        return text.replace(",", ".")
    return text


def thousands(text: str | None) -> str | None:
    """Return a whole number without the marks between its thousands."""
    return re.sub(r"(?<=\d)[,.\s](?=\d{3}\b)", "", text) if text else text


def list_parts(cells: Mapping[str, str], meaning: str, between: str) -> list[str]:
    """Return the parts of a cell that may hold several."""
    parts = re.split(between, cells.get(meaning, ""))
    return [part.strip() for part in parts if part.strip()]


def identify_person(record: FileRecord, place_id: str) -> str:
    """Return the id of another line about a place: with whom else to reach there, and how."""
    reached = (record.person, *record.emails, *record.phones)
    if not any(reached):
        return place_id
    key = "\x1f".join((place_id, *(fold_cell(each or "") for each in reached)))
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def identify(record: FileRecord, dataset: str) -> str:
    """Return an id that is the same whenever the same place is read again.

    An id of the file is only unique within its dataset. Without one, a place is known
    by its name, where it is and its website; by its phone if it has neither.
    """
    if record.id is not None:
        key = ("id", dataset, record.id)
    else:
        where = record.line or (
            f"{record.point.latitude:.5f},{record.point.longitude:.5f}"
            if record.point
            else ""
        )
        site = record.websites[0] if record.websites else ""
        phone = "" if where or site else " ".join(record.phones)
        if not (record.name or site):
            phone = " ".join((*record.emails, phone))
        key = (
            "key",
            fold_cell(record.name or ""),
            f"{fold_cell(where)}|{site}|{fold_cell(phone)}",
        )
    return hashlib.sha256("\x1f".join(key).encode()).hexdigest()[:32]


def fold_cell(text: str) -> str:
    """Return a text without case and punctuation, to compare."""
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())


def found_place(
    record: FileRecord, place_id: str, raw: Json, licence: str
) -> FoundPlace:
    """Make a place of a record."""
    phones = phones_of(record, raw, None)
    return FoundPlace(
        source=PROVIDER,
        source_place_id=place_id,
        name=record.name,
        address=record.line,
        latitude=record.point.latitude if record.point else None,
        longitude=record.point.longitude if record.point else None,
        rating=record.rating,
        reviews_count=record.reviews_count,
        price_level=record.price_level,
        categories=record.categories,
        website=record.websites[0] if record.websites else None,
        phone=phones[0] if phones else None,
        business_status=record.status,
        raw=storable(raw),
        licence=licence,
    )


def facts_of(
    record: FileRecord, place_id: str, raw: Json, region: str | None
) -> PlaceFacts:
    """Make facts of a record."""
    phones = phones_of(record, raw, region)
    return PlaceFacts(
        source=PROVIDER,
        source_place_id=place_id,
        name=record.name,
        address=record.line,
        street=record.street,
        city=record.city,
        region=record.region,
        postal_code=record.postal_code,
        country=record.country,
        latitude=record.point.latitude if record.point else None,
        longitude=record.point.longitude if record.point else None,
        phone=phones[0] if phones else None,
        phones=phones,
        emails=record.emails,
        website=record.websites[0] if record.websites else None,
        links=tuple(dict.fromkeys((*record.websites[1:], *record.links))),
        categories=record.categories,
        hours=week_from_osm(record.hours) if record.hours else None,
        rating=record.rating,
        reviews_count=record.reviews_count,
        price_level=record.price_level,
        business_status=record.status,
        attributes=attributes_of(record, phones),
        raw=storable(raw),
        licence=str(raw.get("licence") or ""),
    )


def attributes_of(record: FileRecord, phones: Sequence[str]) -> Json:
    """Return what a business has no column for: whom to ask for, and what else was there."""
    contact = {"name": record.person, "role": record.role}
    named = {name: value for name, value in contact.items() if value}
    extra = extra_of(record, phones)
    return {
        **record.attributes,
        **({"contact": named} if named else {}),
        **({"extra": storable(extra)} if extra else {}),
    }


def extra_of(record: FileRecord, phones: Sequence[str]) -> Json:
    """Return what has no place of its own; what is no number may say whom to ask for."""
    if len(phones) >= len(record.phones):
        return record.extra
    return {**record.extra, "Phone": "; ".join(record.phones)}


def phones_of(record: FileRecord, raw: Json, region: str | None) -> tuple[str, ...]:
    """Return every phone number; one without a country code is of where the place is."""
    here = record.country or region or country_of(raw.get("region"))
    return stored_phones(record.phones, here)


def confidence_of(value: object) -> float | None:
    """Return a confidence between 0 and 1, or None."""
    number = number_of(value)
    return number if number is not None and 0 <= number <= 1 else None
