"""Compare what was stored about a site with what is true about it."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

from contact_extraction.measuring.corpus import Facts, TrueSite
from contact_extraction.measuring.likeness import (
    address_key,
    is_named,
    is_same_address,
    is_same_organisation,
    is_same_person,
    is_same_place,
    words_of_name,
)
from contact_extraction.measuring.outcome import Outcome
from contact_extraction.measuring.whereabouts import (
    SiteTexts,
    bare_name,
    bare_path,
    why_unread,
)

NOBODYS: Final = ("placeholder",)
NOT_ASKED: Final = ("placeholder", "optional")


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value that was stored, how sure of it the pipeline is, and whether it is right."""

    kind: str
    confidence: float
    is_right: bool


@dataclass(slots=True)
class SiteScore:
    """Counts by measure, and every miss by its kind."""

    right: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    misses: defaultdict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    losses: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many misses of a kind have which cause: what may be told of every site."""
    claims: list[StoredValue] = field(default_factory=list)

    def count(self, measure: str, *, right: bool) -> None:
        """Count one case of a measure."""
        self.total[measure] += 1
        self.right[measure] += right

    def claim(self, found: Outcome, kind: str, value: str, *, right: bool) -> None:
        """Note how sure the pipeline is of a value that it stored, where it says so."""
        sure = found.sureness.get((kind, value.casefold()))
        if sure is not None:
            self.claims.append(StoredValue(kind, sure, right))

    def miss(self, kind: str, site: str, what: str) -> None:
        """Remember a miss."""
        self.misses[kind].append(f"{site}: {what}")

    def share(self, measure: str) -> float | None:
        """Return the share that was right; None where nothing was asked."""
        total = self.total[measure]
        return self.right[measure] / total if total else None

    def __iadd__(self, other: Self) -> Self:
        self.right.update(other.right)
        self.total.update(other.total)
        self.losses.update(other.losses)
        for kind, some in other.misses.items():
            self.misses[kind] += some
        self.claims += other.claims
        return self


def score_site(site: TrueSite, found: Outcome) -> SiteScore:
    """Compare one site."""
    score = SiteScore()
    texts = SiteTexts(site, found)
    _judge_emails(site, found, score, texts)
    _judge_phones(site, found, score, texts)
    _judge_people(site, found, score, texts)
    _judge_links(site, found, score)
    _judge_addresses(site, found, score, texts)
    _judge_pages(site, found, score)
    names = [name for name in (site.organisation, *site.also_named) if name]
    if names:
        is_right = any(is_same_organisation(found.organisation, n) for n in names)
        score.count("organisation", right=is_right)
        score.claim(found, "organisation", found.organisation or "", right=is_right)
        if not is_right:
            stored = f"found {found.organisation!r}, true {site.organisation!r}"
            score.miss("organisation wrong", site.name, stored)
    return score


def _judge_emails(
    site: TrueSite, found: Outcome, score: SiteScore, texts: SiteTexts
) -> None:
    true = {email["address"].lower(): email for email in site.emails}
    stored = {contact.email for contact in found.contacts if contact.email}
    for address, email in true.items():
        if _is(email, NOT_ASKED):
            continue
        score.count("email_recall", right=address in stored)
        if address not in stored:
            kind = "e-mail missed" + (" (hidden)" if email.get("obfuscated") else "")
            pages = list(email.get("pages") or [])
            read = [page for page in pages if _was_read(found, page)]
            score.losses["e-mail missed", texts.of_email(email)] += 1
            where = f"read {read[:2]}" if read else f"none read of {pages[:3]}"
            score.miss(f"{kind}: {'not on' if not read else 'on'} a page that was read",
                       site.name, f"{address}, {where}")  # fmt: skip
    for address in sorted(stored):
        email = true.get(address, {})
        if email.get("optional"):
            continue
        is_right = bool(email) and not _is(email, NOBODYS)
        score.count("email_precision", right=is_right)
        score.claim(found, "email", address, right=is_right)
        if not is_right:
            score.miss(f"e-mail false: {_whose(site, address, email)}",
                       site.name, address)  # fmt: skip


def _judge_phones(
    site: TrueSite, found: Outcome, score: SiteScore, texts: SiteTexts
) -> None:
    true = {phone["e164"]: phone for phone in site.phones}
    stored = {number for contact in found.contacts for number in contact.phones}
    for number, phone in true.items():
        if _is(phone, NOT_ASKED):
            continue
        score.count("phone_recall", right=number in stored)
        if number not in stored:
            score.losses["phone missed", texts.of_phone(phone)] += 1
            score.miss("phone missed", site.name, f"{number} ({phone.get('written')})")
    for number in sorted(stored):
        phone = true.get(number, {})
        if phone.get("optional"):
            continue
        is_right = bool(phone) and not _is(phone, NOBODYS)
        score.count("phone_precision", right=is_right)
        score.claim(found, "phone", number, right=is_right)
        if not is_right:
            score.miss(f"phone false: {_whose(site, number, phone)}", site.name, number)


def _judge_people(
    site: TrueSite, found: Outcome, score: SiteScore, texts: SiteTexts
) -> None:
    on_contacts = {contact.name for contact in found.contacts if contact.name}
    known: set[str] = set()
    named: set[str] = set()
    for name in sorted(on_contacts | {*found.people}):
        person = person_called(name, site.people)
        score.count("people_precision", right=person is not None)
        score.claim(found, "person", name, right=person is not None)
        if person is not None:
            known.add(person["name"])
            if name in on_contacts:
                named.add(person["name"])
        else:
            score.miss(f"person false: {_whose_name(site, name)}", site.name, name)
    for person in site.people:
        if _is(person, NOT_ASKED):
            continue
        score.count("people_known", right=person["name"] in known)
        stored = f"{person['name']} ({person.get('role')}, {person.get('page')})"
        if person["name"] not in known:
            page = str(person.get("page") or "")
            read = "read" if _was_read(found, page) else "not read"
            score.losses["person not known", texts.of_person(person)] += 1
            score.miss(f"person not known: their page was {read}", site.name, stored)
        if person.get("email") or person.get("phone"):
            score.count("own_contact_named", right=person["name"] in named)
            if person["name"] not in named:
                why = _why_not_named(person, found, is_known=person["name"] in known)
                score.losses["own contact not named", why] += 1
                score.miss("person not named on their own contact", site.name, stored)
    if site.decision_maker:
        is_right = is_named(site.decision_maker, known)
        score.count("decision_maker", right=is_right)
        if not is_right:
            score.miss("decision maker not known", site.name, site.decision_maker)
        chosen = found.people[0] if found.people else None
        is_chosen = bool(chosen) and is_named(site.decision_maker, [str(chosen)])
        score.count("decision_maker_chosen", right=is_chosen)
        if is_right and not is_chosen:
            stored = f"{chosen!r} instead of {site.decision_maker!r}"
            score.miss("another decision maker chosen", site.name, stored)
        has_contact = is_named(site.decision_maker, named)
        score.count("decision_maker_reached", right=has_contact)
        if not has_contact:
            why = _why_not_reached(site, is_known=is_right)
            score.losses["decision maker not reached", why] += 1
        if is_right and not has_contact:
            score.miss("decision maker on no contact", site.name, site.decision_maker)


def _judge_links(site: TrueSite, found: Outcome, score: SiteScore) -> None:
    """Judge whether contacts that carry a name carry the right one."""
    emails = {email["address"].lower(): email for email in site.emails}
    phones = {phone["e164"]: phone for phone in site.phones}
    for contact in found.contacts:
        if not contact.name:
            continue
        if contact.email:
            owners = [emails[contact.email]] if contact.email in emails else []
            measure, value = "email_person", contact.email
        else:
            owners = [phones[n] for n in contact.phones if n in phones]
            measure, value = "phone_person", ", ".join(sorted(contact.phones))
        allowed = [name for owner in owners for name in _owners(owner)]
        is_right = is_named(contact.name, allowed) or (
            measure == "phone_person" and _is_first_name(contact.name, allowed)
        )
        score.count(measure, right=is_right)
        known_by = contact.email or min(contact.phones, default="")
        score.claim(found, "owner", known_by, right=is_right)
        if not is_right:
            kind = "e-mail" if contact.email else "phone"
            stored = f"{value} -> {contact.name!r} (true: {allowed})"
            score.miss(f"{kind} given to the wrong person", site.name, stored)


def _judge_addresses(
    site: TrueSite, found: Outcome, score: SiteScore, texts: SiteTexts
) -> None:
    on_contacts = (contact.address for contact in found.contacts if contact.address)
    stored = {address_key(one): one for one in (*on_contacts, *found.addresses)}
    for true in site.addresses:
        if _is(true, NOT_ASKED):
            continue
        is_right = any(is_same_address(address, true) for address in stored.values())
        score.count("address_recall", right=is_right)
        if not is_right:
            near = any(is_same_place(address, true) for address in stored.values())
            kind = "address without its postal code" if near else "address missed"
            where = (
                f"{true.get('street')}, {true.get('postal_code')} {true.get('city')}"
            )
            score.losses[kind, texts.of_address(true)] += 1
            score.miss(kind, site.name, where)
    own = [address for address in site.addresses if not _is(address, NOBODYS)]
    for address in stored.values():
        is_right = any(
            is_same_address(address, true) or is_same_place(address, true)
            for true in own
        )
        score.count("address_precision", right=is_right)
        score.claim(found, "address", str(address.get("text")), right=is_right)
        if not is_right:
            score.miss("address false", site.name, str(address.get("text"))[:90])


def _judge_pages(site: TrueSite, found: Outcome, score: SiteScore) -> None:
    """Judge whether the pages that say most were read at all."""
    for page in site.contact_pages:
        is_read = _was_read(found, page)
        score.count("contact_pages_read", right=is_read)
        if not is_read:
            score.losses["contact page not read", why_unread(site, found, page)] += 1
            score.miss("contact page not read", site.name, _page_state(found, page))
    people = {str(p["page"]) for p in site.people if p.get("page")}
    for page in sorted(people):
        is_read = _was_read(found, page)
        score.count("people_pages_read", right=is_read)
        if not is_read:
            score.losses["people page not read", why_unread(site, found, page)] += 1
            score.miss("people page not read", site.name, _page_state(found, page))


def person_called(name: str, people: Iterable[Facts]) -> Facts | None:
    """Return who of the business is called so."""
    some = [person for person in people if not person.get("placeholder")]
    for person in some:
        if any(is_same_person(name, spelt) for spelt in _spellings(person)):
            return person
    words = words_of_name(name)
    for person in some:
        if any(words == words_of_name(other) for other in person.get("also") or ()):
            return person
        is_short = person.get("surname_only") or person.get("first_only")
        if is_short and set(words_of_name(person["name"])) & set(words):
            return person
    return None


def _spellings(person: Facts) -> list[str]:
    return [person["name"], *(person.get("also") or ())]


def _owners(value: Facts) -> list[str]:
    first = [value["person"]] if value.get("person") else []
    return [*first, *(value.get("person_ok") or ())]


def _is_first_name(name: str, allowed: Iterable[str]) -> bool:
    words = set(words_of_name(name))
    return any(
        len(other) == 1 and words & set(other) for other in map(words_of_name, allowed)
    )


def _why_not_named(person: Facts, found: Outcome, *, is_known: bool) -> str:
    """Say what is missing where nobody's name stands on somebody's own contact."""
    email = str(person.get("email") or "").lower()
    mine = [
        contact
        for contact in found.contacts
        if (email and contact.email == email) or person.get("phone") in contact.phones
    ]
    value = "e-mail" if email else "number"
    if not mine:
        return f"their {value} was missed"
    if not is_known:
        return f"their {value} is known, they are not"
    if any(contact.name for contact in mine):
        return f"their {value} was given to somebody else"
    return f"their {value} and they are known, and not joined"


def _why_not_reached(site: TrueSite, *, is_known: bool) -> str:
    """Say whether the truth has anything by which a decision maker is reached."""
    if not is_known:
        return "not known"
    name = site.decision_maker or ""
    has_own = any(
        is_named(name, [person["name"]])
        for person in site.people
        if person.get("email") or person.get("phone")
    )
    if has_own:
        return "known, and their own contact is not"
    may_own = any(is_named(name, _owners(v)) for v in (*site.emails, *site.phones))
    return f"known, {'only shared contacts' if may_own else 'no contact is theirs'}"


def _is(value: Facts, flags: Iterable[str]) -> bool:
    return any(value.get(flag) for flag in flags)


def _whose(site: TrueSite, value: str, true: Facts) -> str:
    if true:
        return "placeholder"
    return "somebody else's" if value.lower() in site.third_party else "other"


def _whose_name(site: TrueSite, name: str) -> str:
    if any(is_same_person(name, other) for other in site.third_party):
        return "somebody else"
    names = [n for n in (site.organisation, *site.also_named) if n]
    if any(is_same_organisation(name, other) for other in names):
        return "the organisation"
    return "other"


def _was_read(found: Outcome, file: str) -> bool:
    return any(
        page.is_read and bare_path(page.url) == bare_name(file) for page in found.pages
    )


def _page_state(found: Outcome, file: str) -> str:
    for page in found.pages:
        if bare_path(page.url) == bare_name(file):
            rated = "unrated" if page.likelihood is None else f"{page.likelihood:.2f}"
            return f"{file}: listed, rated {rated}, {page.status or 'not chosen'}"
    return f"{file}: never listed"
