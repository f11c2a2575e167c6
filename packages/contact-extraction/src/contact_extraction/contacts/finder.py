"""Bring the finders together: sightings in, merged values with evidence out."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

from contact_extraction.address_key import address_words
from contact_extraction.contacts import confidence
from contact_extraction.contacts.address import (
    find_addresses,
    find_mapped,
    split_street,
)
from contact_extraction.contacts.email import find_all_emails
from contact_extraction.contacts.grouping import PlacedValue, group_values
from contact_extraction.contacts.hours import find_hours, read_intervals
from contact_extraction.contacts.linking import SeenT, SeenValue, link_people
from contact_extraction.contacts.model import (
    NO_HINTS,
    Address,
    AddressSighting,
    Citation,
    Contacts,
    Email,
    Hints,
    Hours,
    Method,
    Organisation,
    OrganisationSighting,
    PersonEntry,
    PersonSighting,
    Phone,
    PhoneKind,
    PhoneSighting,
    ProfileSighting,
    Sighting,
    Social,
    Value,
)
from contact_extraction.contacts.organisation import (
    OrganisationClues,
    find_organisations,
)
from contact_extraction.contacts.own_address import owner_of_address
from contact_extraction.contacts.ownership import (
    OF_TEMPLATE,
    PageContext,
    is_of_maker,
    owner_of_email,
    owner_of_number,
    setting_of,
)
from contact_extraction.contacts.page_text import PageText, page_text
from contact_extraction.contacts.person import PersonClues, find_people
from contact_extraction.contacts.person.namesake import find_namesake
from contact_extraction.contacts.phone import find_numbers
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.provider import link_provider, provider_of
from contact_extraction.contacts.social import find_profiles
from contact_extraction.contacts.structured import read_structured
from contact_extraction.email_quality import judge_email
from contact_extraction.html import HtmlPage, parse_page
from contact_extraction.html.sight import SEEN
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import compact

MAX_EVIDENCE: Final = 5
MIN_WORDS: Final = 2
SURELY_STAFF: Final = 0.7
"""The confidence from which somebody's line says that what follows is the business's."""
SURELY_KNOWN: Final = 0.9
"""The same of somebody without a role, such as whose name the business's addresses spell."""
STATED: Final = frozenset((Method.JSON_LD, Method.MICRODATA, Method.RDFA, Method.HCARD))
ValueT = TypeVar("ValueT", bound=Value)
FoundT = TypeVar("FoundT", bound=Sighting)
Sightings = dict[str, list[FoundT]]
"""Sightings of the same value, by its key."""
Cite = Callable[[Sighting], Citation]
"""Writes where a value of the page was seen."""


def find_contacts(html: bytes | str, url: str, *, hints: Hints = NO_HINTS) -> Contacts:
    """Find every contact of a page; raises only ExtractionError."""
    return contacts_of(parse_page(html, encoding=hints.encoding), url, hints=hints)


def contacts_of(page: HtmlPage, url: str, *, hints: Hints = NO_HINTS) -> Contacts:
    """Find every contact of a page that is already parsed."""
    sheet = page_text(page)
    regions = guess_regions(sheet, url, hints)
    data = read_structured(page, regions)
    written, templates = find_all_emails(sheet)
    emails = by_key([*written, *data.emails])
    phones = by_key([*find_numbers(sheet, regions), *data.phones])
    streets = find_addresses(sheet, regions)
    clues = OrganisationClues(
        streets=streets,
        mail_domains=Counter(address.rpartition("@")[2] for address in emails),
        stated=data.organisations,
        known=hints.organisation,
    )
    names = find_organisations(sheet, url, clues)
    people: Sightings[PersonSighting] = {}
    if hints.people:
        known = PersonClues(
            url=url,
            organisations=tuple(name.value for name in names),
            addresses=tuple(emails),
            reachable=_lines_of((*emails.values(), *phones.values())),
            streets=tuple((f.start, f.end) for f in streets if f.end),
        )
        found = [*find_people(sheet, known), *data.people]
        firms = [spelt for name in names[:1] for spelt in (name.value, *name.also)]
        keys = (one.key for one in found)
        if namesake := find_namesake(sheet, _host(url) or "", firms, keys):
            found.append(namesake)
        people = by_key(found)
    return assembled(
        sheet,
        url,
        emails=emails,
        templates=by_key(templates),
        phones=phones,
        people=people,
        names=names,
        streets=by_address([*streets, *data.addresses] or find_mapped(page, regions)),
        hours=by_key([*find_hours(sheet), *data.hours]),
        profiles=by_key([*find_profiles(page), *data.socials]),
    )


def by_key(found: Iterable[FoundT]) -> Sightings[FoundT]:
    """Gather sightings of the same value, in order of appearance."""
    gathered: Sightings[FoundT] = defaultdict(list)
    for one in found:
        gathered[one.key].append(one)
    return dict(gathered)


def by_address(found: Iterable[AddressSighting]) -> Sightings[AddressSighting]:
    """Gather sightings of the same address, though one may say more than another."""
    gathered: Sightings[AddressSighting] = {}
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


def _address_words(found: AddressSighting) -> frozenset[str]:
    return address_words(found.street or found.value)


def _own_lines(
    made: Sequence[Email | Phone], sightings: Mapping[str, Sequence[Sighting]]
) -> frozenset[int]:
    """Give the lines of contacts that are the business's own."""
    pairs = zip(made, sightings.values(), strict=True)
    return _lines_of(seen for value, seen in pairs if value.owner.is_ours)


def _lines_of(groups: Iterable[Sequence[Sighting]]) -> frozenset[int]:
    return frozenset(f.line for group in groups for f in group if f.line >= 0)


def assembled(
    sheet: PageText,
    url: str,
    *,
    emails: Sightings[Sighting],
    templates: Sightings[Sighting],
    phones: Sightings[PhoneSighting],
    people: Sightings[PersonSighting],
    names: list[OrganisationSighting],
    streets: Sightings[AddressSighting],
    hours: Sightings[Sighting],
    profiles: Sightings[ProfileSighting],
) -> Contacts:
    """Say whose everything is that was seen on a page, and what belongs together."""
    site = _host(url)
    cite = partial(_cited, sheet, url)
    placed: list[PlacedValue] = []
    anchors: list[PlacedValue] = []
    firm = [spelt for name in names[:1] for spelt in (name.value, *name.also)]
    reached_at = _lines_of((*emails.values(), *phones.values()))
    staff = _staff_lines(people)
    setting = setting_of(sheet, url, site, firm, staff, reached=reached_at)
    people = {k: seen for k, seen in people.items() if not is_of_maker(setting, seen)}
    build_email = partial(_email, cite, setting)
    weigh = partial(_weighed, sheet)
    made_emails = [weigh(build_email(seen), seen) for seen in emails.values()]
    made_phones = [weigh(_phone(cite, setting, seen), seen) for seen in phones.values()]
    made_hours = [weigh(_hours(cite, seen), seen) for seen in hours.values()]
    ordered = sorted(people, key=lambda key: min(f.line for f in people[key]))
    places = {key: place for place, key in enumerate(ordered)}
    made_people = [
        weigh(_person(cite, places[key], seen), seen) for key, seen in people.items()
    ]
    reached = _own_lines(made_emails, emails) | _own_lines(made_phones, phones)
    made_streets = [
        weigh(_address(cite, setting, seen, reached), seen) for seen in streets.values()
    ]
    made_names = [_organisation(cite, name) for name in names]
    places_of: tuple[tuple[Value, Sequence[Sighting]], ...] = (
        *zip(made_emails, emails.values(), strict=True),
        *zip(made_phones, phones.values(), strict=True),
        *zip(made_hours, hours.values(), strict=True),
    )
    for made, where in places_of:
        # What nobody sees beside an address does not share its number.
        is_hidden_mail = isinstance(made, Email) and not made.is_seen
        if not made.owner.is_placeholder and not is_hidden_mail:
            placed += [PlacedValue(made, line) for line in _seen_lines(where)]
    for person, seen in zip(made_people, people.values(), strict=True):
        if person.is_customer:
            continue
        # Who heads a line heads a card; "Director: Ann Lee" belongs to the card above.
        leads = {
            f.line for f in seen if f.line >= 0 and f.start == sheet.starts[f.line]
        }
        for line in _seen_lines(seen)[:3]:
            (anchors if line in leads else placed).append(PlacedValue(person, line))
    for address, where in zip(made_streets, streets.values(), strict=True):
        anchors += [PlacedValue(address, line) for line in _seen_lines(where)[:3]]
    heads = [
        PlacedValue(made, name.line)
        for made, name in zip(made_names, names, strict=True)
        if name.line >= 0
    ]
    team = [
        seen
        for seen in _placed(sheet, made_people, people)
        if not seen.value.is_customer and seen.value.is_seen
    ]
    reach: list[SeenValue[Email] | SeenValue[Phone]] = [
        *(e for e in _placed(sheet, made_emails, emails) if _may_be_theirs(e.value)),
        *(p for p in _placed(sheet, made_phones, phones) if p.value.is_seen),
    ]
    known_as = [compact(one) for one in ((site or "").removeprefix("www."), *firm)]
    links = (
        *link_people(sheet, team, reach, known_as, _lines_of(streets.values())),
        *link_provider(sheet, url, team, reach, known_as),
    )
    if provider := provider_of(sheet, url, team):
        made_people = [
            replace(one, is_provider=one.name == provider.name) for one in made_people
        ]
    return Contacts(
        # Somebody who is only mentioned holds their place, but nothing is theirs.
        links=tuple(link for link in links if link.person.is_of_business),
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
        socials=_ranked([_social(cite, seen) for seen in profiles.values()]),
        groups=group_values(sheet, anchors, placed, heads),
        truncated=sheet.page.truncated,
    )


def _staff_lines(people: Sightings[PersonSighting]) -> dict[int, str | None]:
    """Give the lines that name somebody who is surely of the business, and their roles."""
    return {
        found.line: found.role
        for seen in people.values()
        for found in seen
        if not found.is_customer
        and (found.confidence or 0.0) >= (SURELY_STAFF if found.role else SURELY_KNOWN)
    }


def _placed(
    sheet: PageText, made: Sequence[SeenT], sightings: Sightings[FoundT]
) -> Iterator[SeenValue[SeenT]]:
    # A link behind the last text has the number of a line that does not exist.
    last = len(sheet.lines)
    for value, seen in zip(made, sightings.values(), strict=True):
        yield SeenValue(value, tuple(line for line in _seen_lines(seen) if line < last))


def _weighed(sheet: PageText, value: ValueT, seen: Sequence[Sighting]) -> ValueT:
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


def _seen_lines(seen: Sequence[Sighting]) -> list[int]:
    return list(dict.fromkeys(found.line for found in seen if found.line >= 0))


def _ranked(values: Iterable[ValueT]) -> tuple[ValueT, ...]:
    return tuple(sorted(values, key=lambda value: -value.confidence))


def _evidence(cite: Cite, seen: Sequence[Sighting]) -> tuple[Citation, ...]:
    """Keep one piece of evidence per method and place, the first few."""
    return tuple(dict.fromkeys(map(cite, seen)))[:MAX_EVIDENCE]


def _cited(sheet: PageText, url: str, seen: Sighting) -> Citation:
    """Write where a value was seen; a link has no place in the text, so its line counts."""
    span = (seen.start, seen.end) if seen.end else None
    if span is None and 0 <= seen.line < len(sheet.lines):
        start = sheet.starts[seen.line]
        span = start, start + len(sheet.lines[seen.line].text)
    return Citation(url, seen.snippet[:200], seen.method, span)


def _email(cite: Cite, setting: PageContext, seen: list[Sighting]) -> Email:
    return Email(
        address=seen[0].value,
        quality=judge_email(seen[0].value, setting.site),
        owner=(owner := owner_of_email(setting, seen[0].value, seen)),
        evidence=_evidence(cite, seen),
        confidence=confidence.joined("email", (f.method for f in seen), owner),
    )


def _phone(cite: Cite, setting: PageContext, seen: list[PhoneSighting]) -> Phone:
    kinds = Counter(f.kind for f in seen)
    is_fax = kinds[PhoneKind.FAX] > kinds[PhoneKind.PHONE]
    best = max(seen, key=lambda f: (f.line >= 0, f.method is not Method.TEL))
    return Phone(
        e164=seen[0].key.partition(";")[0],
        written=best.value,
        extension=_first(f.extension for f in seen),
        region=_first(f.region for f in seen),
        kind=PhoneKind.FAX if is_fax else PhoneKind.PHONE,
        owner=(owner := owner_of_number(setting, seen)),
        evidence=_evidence(cite, seen),
        confidence=confidence.joined("phone", (f.method for f in seen), owner),
    )


def _person(cite: Cite, place: int, seen: list[PersonSighting]) -> PersonEntry:
    return PersonEntry(
        place=place,
        name=seen[0].value,
        degree=_first(f.degree for f in seen),
        role=_best_role(f.role for f in seen),
        is_customer=all(f.is_customer for f in seen),
        evidence=_evidence(cite, seen),
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


def _person_confidence(seen: list[PersonSighting]) -> float:
    """Take the surest sighting; structured data has a reliability of its own."""
    weighed = [f.confidence for f in seen if f.confidence is not None]
    stated = [f.method for f in seen if f.confidence is None]
    joined = confidence.joined("person", stated) if stated else 0.0
    return confidence.bounded(max([joined, *weighed]))


def _organisation(cite: Cite, name: OrganisationSighting) -> Organisation:
    return Organisation(
        name=name.value,
        also=name.also,
        evidence=(cite(name),),
        confidence=confidence.bounded(name.confidence),
    )


def _address(
    cite: Cite,
    setting: PageContext,
    seen: list[AddressSighting],
    reached: frozenset[int],
) -> Address:
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
        owner=(owner := owner_of_address(setting, seen, reached)),
        evidence=_evidence(cite, seen),
        confidence=confidence.joined("address", (f.method for f in seen), owner),
    )


def _fullest_street(best: AddressSighting, seen: list[AddressSighting]) -> str | None:
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


def _hours(cite: Cite, seen: list[Sighting]) -> Hours:
    return Hours(
        text=seen[0].value,
        intervals=read_intervals(seen[0].value),
        evidence=_evidence(cite, seen),
        confidence=confidence.joined("hours", (f.method for f in seen)),
    )


def _social(cite: Cite, seen: list[ProfileSighting]) -> Social:
    return Social(
        network=seen[0].network,
        handle=seen[0].handle,
        url=seen[0].value,
        evidence=_evidence(cite, seen),
        confidence=confidence.joined("social", (f.method for f in seen)),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
