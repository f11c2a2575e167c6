"""Bring the finders together: sightings in, merged values with evidence out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

from contact_extraction.contacts import confidence
from contact_extraction.contacts.address import find_addresses, split_street
from contact_extraction.contacts.email import find_all_emails
from contact_extraction.contacts.grouping import Placed, group_values
from contact_extraction.contacts.hours import find_hours, read_intervals
from contact_extraction.contacts.linking import Seen, SeenT, link_people
from contact_extraction.contacts.model import (
    NO_HINTS,
    Address,
    Contacts,
    Email,
    Evidence,
    Found,
    FoundAddress,
    FoundOrganisation,
    FoundPerson,
    FoundPhone,
    FoundProfile,
    Hints,
    Hours,
    Method,
    Organisation,
    Person,
    Phone,
    PhoneKind,
    Social,
    Value,
)
from contact_extraction.contacts.organisation import Clues, find_organisations
from contact_extraction.contacts.person import Clues as PersonClues
from contact_extraction.contacts.person import find_people
from contact_extraction.contacts.phone import find_all_numbers
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.provider import link_provider
from contact_extraction.contacts.sheet import Sheet, sheet_of
from contact_extraction.contacts.social import find_profiles
from contact_extraction.contacts.structured import read_structured
from contact_extraction.contacts.whose import (
    OF_TEMPLATE,
    Setting,
    is_of_maker,
    owner_of,
    owner_of_email,
    owner_of_number,
    setting_of,
)
from contact_extraction.email_quality import judge_email
from contact_extraction.html import Page, parse_page
from contact_extraction.html.sight import SEEN
from contact_extraction.seniority import Seniority, seniority_of

MAX_EVIDENCE: Final = 5
MIN_WORDS: Final = 2
STATED: Final = frozenset((Method.JSON_LD, Method.MICRODATA, Method.RDFA, Method.HCARD))
ValueT = TypeVar("ValueT", bound=Value)
FoundT = TypeVar("FoundT", bound=Found)
Sightings = dict[str, list[FoundT]]
"""Sightings of the same value, by its key."""


def find_contacts(html: bytes | str, url: str, *, hints: Hints = NO_HINTS) -> Contacts:
    """Find every contact of a page; raises only ExtractionError."""
    return contacts_of(parse_page(html, encoding=hints.encoding), url, hints=hints)


def contacts_of(page: Page, url: str, *, hints: Hints = NO_HINTS) -> Contacts:
    """Find every contact of a page that is already parsed."""
    sheet = sheet_of(page)
    regions = guess_regions(sheet, url, hints)
    data = read_structured(page, regions)
    written, templates = find_all_emails(sheet)
    emails = by_key([*written, *data.emails])
    phones = by_key([*find_all_numbers(sheet, regions), *data.phones])
    streets = find_addresses(sheet, regions)
    clues = Clues(
        streets=streets,
        mail_domains=Counter(address.rpartition("@")[2] for address in emails),
        stated=data.organisations,
        known=hints.organisation,
    )
    names = find_organisations(sheet, url, clues)
    people: Sightings[FoundPerson] = {}
    if hints.people:
        known = PersonClues(
            url=url,
            organisations=tuple(name.value for name in names),
            addresses=tuple(emails),
            reachable=_lines_of((*emails.values(), *phones.values())),
        )
        people = by_key([*find_people(sheet, known), *data.people])
    return _assembled(
        sheet,
        url,
        emails=emails,
        templates=by_key(templates),
        phones=phones,
        people=people,
        names=names,
        streets=by_address([*streets, *data.addresses]),
        hours=by_key([*find_hours(sheet), *data.hours]),
        profiles=by_key([*find_profiles(page), *data.socials]),
    )


def by_key(found: Iterable[FoundT]) -> Sightings[FoundT]:
    """Gather sightings of the same value, in order of appearance."""
    gathered: Sightings[FoundT] = defaultdict(list)
    for one in found:
        gathered[one.key].append(one)
    return dict(gathered)


def by_address(found: Iterable[FoundAddress]) -> Sightings[FoundAddress]:
    """Gather sightings of the same address, though one may say more than another."""
    gathered: Sightings[FoundAddress] = {}
    for one in found:
        mine = _address_words(one)
        for known in gathered.values():
            theirs = _address_words(known[0])
            size = min if one.method in STATED or known[0].method in STATED else max
            wanted = size(len(mine), len(theirs))
            if wanted >= MIN_WORDS and len(mine & theirs) >= 0.8 * wanted:
                known.append(one)
                break
        else:
            gathered[one.key or one.value.casefold()] = [one]
    return gathered


_SHORT = {
    "street": "st", "avenue": "ave", "boulevard": "blvd", "road": "rd", "drive": "dr",
    "lane": "ln", "suite": "ste", "parkway": "pkwy", "highway": "hwy", "north": "n",
    "south": "s", "east": "e", "west": "w", "straße": "str", "strasse": "str",
    "floor": "fl", "building": "bldg", "place": "pl", "court": "ct", "square": "sq",
}  # fmt: skip


def _address_words(found: FoundAddress) -> frozenset[str]:
    text = found.street or found.value
    parts = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return frozenset(_SHORT.get(part, part) for part in parts)


def _lines_of(groups: Iterable[Sequence[Found]]) -> frozenset[int]:
    return frozenset(f.line for group in groups for f in group if f.line >= 0)


def _assembled(
    sheet: Sheet,
    url: str,
    *,
    emails: Sightings[Found],
    templates: Sightings[Found],
    phones: Sightings[FoundPhone],
    people: Sightings[FoundPerson],
    names: list[FoundOrganisation],
    streets: Sightings[FoundAddress],
    hours: Sightings[Found],
    profiles: Sightings[FoundProfile],
) -> Contacts:
    site = _host(url)
    placed: list[Placed] = []
    anchors: list[Placed] = []
    firm = [spelt for name in names[:1] for spelt in (name.value, *name.also)]
    setting = setting_of(sheet, url, site, firm)
    people = {k: seen for k, seen in people.items() if not is_of_maker(setting, seen)}
    build_email = partial(_email, url, setting)
    weigh = partial(_weighed, sheet)
    made_emails = [weigh(build_email(seen), seen) for seen in emails.values()]
    made_phones = [weigh(_phone(url, setting, seen), seen) for seen in phones.values()]
    made_hours = [weigh(_hours(url, seen), seen) for seen in hours.values()]
    ordered = sorted(people, key=lambda key: min(f.line for f in people[key]))
    places = {key: place for place, key in enumerate(ordered)}
    made_people = [
        weigh(_person(url, places[key], seen), seen) for key, seen in people.items()
    ]
    made_streets = [
        weigh(_address(url, setting, seen), seen) for seen in streets.values()
    ]
    made_names = [_organisation(url, name) for name in names]
    places_of: tuple[tuple[Value, Sequence[Found]], ...] = (
        *zip(made_emails, emails.values(), strict=True),
        *zip(made_phones, phones.values(), strict=True),
        *zip(made_hours, hours.values(), strict=True),
    )
    for made, where in places_of:
        # What nobody sees beside an address does not share its number.
        is_hidden_mail = isinstance(made, Email) and not made.is_seen
        if not made.owner.is_placeholder and not is_hidden_mail:
            placed += [Placed(made, line) for line in _seen_lines(where)]
    for person, seen in zip(made_people, people.values(), strict=True):
        if person.is_customer:
            continue
        # Who heads a line heads a card; "Director: Ann Lee" belongs to the card above.
        leads = {
            f.line for f in seen if f.line >= 0 and f.start == sheet.starts[f.line]
        }
        for line in _seen_lines(seen)[:3]:
            (anchors if line in leads else placed).append(Placed(person, line))
    for address, where in zip(made_streets, streets.values(), strict=True):
        anchors += [Placed(address, line) for line in _seen_lines(where)[:3]]
    heads = [
        Placed(made, name.line)
        for made, name in zip(made_names, names, strict=True)
        if name.line >= 0
    ]
    team = [
        seen
        for seen in _placed(sheet, made_people, people)
        if not seen.value.is_customer and seen.value.is_seen
    ]
    reach: list[Seen[Email] | Seen[Phone]] = [
        *(e for e in _placed(sheet, made_emails, emails) if _may_be_theirs(e.value)),
        *(p for p in _placed(sheet, made_phones, phones) if p.value.is_seen),
    ]
    known_as = [(site or "").removeprefix("www."), *firm]
    links = (
        *link_people(sheet, team, reach, known_as, _lines_of(streets.values())),
        *link_provider(sheet, url, team, reach),
    )
    return Contacts(
        links=links,
        emails=_ranked(one for one in made_emails if not one.owner.is_placeholder),
        phones=_ranked(one for one in made_phones if not one.owner.is_placeholder),
        placeholders=(
            *(one for one in made_emails if one.owner.is_placeholder),
            *(
                replace(build_email(seen), owner=OF_TEMPLATE)
                for seen in templates.values()
            ),
            *(one for one in made_phones if one.owner.is_placeholder),
        ),
        people=_ranked(made_people),
        organisations=tuple(made_names),
        addresses=_ranked(made_streets),
        hours=_ranked(made_hours),
        socials=_ranked([_social(url, seen) for seen in profiles.values()]),
        groups=group_values(sheet, anchors, placed, heads),
        truncated=sheet.page.truncated,
    )


def _placed(
    sheet: Sheet, made: Sequence[SeenT], sightings: Sightings[FoundT]
) -> Iterator[Seen[SeenT]]:
    # A link behind the last text has the number of a line that does not exist.
    last = len(sheet.lines)
    for value, seen in zip(made, sightings.values(), strict=True):
        yield Seen(value, tuple(line for line in _seen_lines(seen) if line < last))


def _weighed(sheet: Sheet, value: ValueT, seen: Sequence[Found]) -> ValueT:
    """Make a value less sure that visitors may see nowhere."""
    certainty = max(
        sheet.lines[f.line].certainty if f.end else f.certainty for f in seen
    )
    if certainty >= SEEN:
        return value
    sure = round(value.confidence * certainty, 3)
    return replace(value, confidence=sure, certainty=certainty)


def _may_be_theirs(email: Email) -> bool:
    """Say whether an address may be somebody's alone.

    Whoever plants one where no visitor looks may spell the owner's name in it, but has
    no mailbox at the business.
    """
    return email.is_seen or bool(email.quality.is_same_domain)


def _seen_lines(seen: Sequence[Found]) -> list[int]:
    return list(dict.fromkeys(found.line for found in seen if found.line >= 0))


def _ranked(values: Iterable[ValueT]) -> tuple[ValueT, ...]:
    return tuple(sorted(values, key=lambda value: -value.confidence))


def _evidence(url: str, seen: Sequence[Found]) -> tuple[Evidence, ...]:
    """Keep one piece of evidence per method and place, the first few."""
    pieces = dict.fromkeys(Evidence(url, f.snippet[:200], f.method) for f in seen)
    return tuple(pieces)[:MAX_EVIDENCE]


def _email(url: str, setting: Setting, seen: list[Found]) -> Email:
    return Email(
        address=seen[0].value,
        quality=judge_email(seen[0].value, setting.site),
        owner=owner_of_email(setting, seen[0].value, seen),
        evidence=_evidence(url, seen),
        confidence=confidence.joined("email", (f.method for f in seen)),
    )


def _phone(url: str, setting: Setting, seen: list[FoundPhone]) -> Phone:
    kinds = Counter(f.kind for f in seen)
    is_fax = kinds[PhoneKind.FAX] > kinds[PhoneKind.PHONE]
    best = max(seen, key=lambda f: (f.line >= 0, f.method is not Method.TEL))
    return Phone(
        e164=seen[0].key.partition(";")[0],
        written=best.value,
        extension=_first(f.extension for f in seen),
        region=_first(f.region for f in seen),
        kind=PhoneKind.FAX if is_fax else PhoneKind.PHONE,
        owner=owner_of_number(setting, seen),
        evidence=_evidence(url, seen),
        confidence=confidence.joined("phone", (f.method for f in seen)),
    )


def _person(url: str, place: int, seen: list[FoundPerson]) -> Person:
    return Person(
        place=place,
        name=seen[0].value,
        role=_best_role(f.role for f in seen),
        is_customer=all(f.is_customer for f in seen),
        evidence=_evidence(url, seen),
        confidence=_person_confidence(seen),
    )


def _best_role(roles: Iterable[str | None]) -> str | None:
    """Give the most senior of the roles that a page gives somebody."""
    named = [role for role in roles if role]
    return min(named, key=lambda role: _RANKS.index(seniority_of(role)), default=None)


_RANKS: Final = (
    Seniority.OWNER, Seniority.EXECUTIVE, Seniority.PROFESSIONAL, Seniority.MANAGER,
    Seniority.STAFF, None,
)  # fmt: skip


def _person_confidence(seen: list[FoundPerson]) -> float:
    """Take the surest sighting; structured data has a reliability of its own."""
    weighed = [f.confidence for f in seen if f.confidence is not None]
    stated = [f.method for f in seen if f.confidence is None]
    joined = confidence.joined("person", stated) if stated else 0.0
    return confidence.bounded(max([joined, *weighed]))


def _organisation(url: str, name: FoundOrganisation) -> Organisation:
    return Organisation(
        name=name.value,
        also=name.also,
        evidence=(Evidence(url, name.snippet[:200], name.method),),
        confidence=confidence.bounded(name.confidence),
    )


def _address(url: str, setting: Setting, seen: list[FoundAddress]) -> Address:
    best = max(seen, key=lambda f: (f.parts, f.method not in STATED))
    street = _fullest_street(best, seen)
    ranked = [best, *seen]
    return Address(
        text=best.value,
        street=street or split_street(best.value),
        city=_first(f.city for f in ranked),
        state=_first(f.state for f in ranked),
        postal_code=_first(f.postal_code for f in ranked),
        country=_first(f.country for f in ranked),
        owner=owner_of(setting, seen),
        evidence=_evidence(url, seen),
        confidence=confidence.joined("address", (f.method for f in seen)),
    )


def _fullest_street(best: FoundAddress, seen: list[FoundAddress]) -> str | None:
    """Give the longest street that says all the best one says: with its suite."""
    street = _first(f.street for f in [best, *seen])
    code = _first(f.postal_code for f in [best, *seen])
    fuller = [
        other
        for found in seen
        if (other := found.street)
        and street
        and other.casefold().startswith(street.casefold())
        # A street that holds the postal code is a whole address.
        and not (code and code in other)
    ]
    return max(fuller, key=len, default=street)


def _hours(url: str, seen: list[Found]) -> Hours:
    return Hours(
        text=seen[0].value,
        intervals=read_intervals(seen[0].value),
        evidence=_evidence(url, seen),
        confidence=confidence.joined("hours", (f.method for f in seen)),
    )


def _social(url: str, seen: list[FoundProfile]) -> Social:
    return Social(
        network=seen[0].network,
        handle=seen[0].handle,
        url=seen[0].value,
        evidence=_evidence(url, seen),
        confidence=confidence.joined("social", (f.method for f in seen)),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
