"""What speaks for a candidate being a person of the business, and what against it."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.contacts.model import FoundPerson
from contact_extraction.contacts.person.word import AMBIGUOUS, given_names
from contact_extraction.contacts.sheet import Sheet
from contact_extraction.plain import spellings, squeezed
from contact_extraction.seniority import Seniority, seniority_of

Traits = dict[str, float]

MAX_HEADING: Final = 60
FAR: Final = 60
SENTENCE: Final = 90
PEER_REACH: Final = 12
SHORTEST: Final = 4
MAX_TEXT: Final = 200_000
"""How much of a page is searched for a name again."""

_TEAM: Final = re.compile(
    r"\b(?:team|staff|our people|who we are|meet (?:the|our|dr)|about (?:us|me)|doctors?|providers|"
    r"attorneys?|lawyers|partners|dentists?|physicians|practitioners|therapists|founders?|"
    r"leadership|board|committee|management|ansprechpartner|mitarbeiter\w*|über (?:uns|mich)|"
    r"ärzt\w*|anwält\w*|praxisteam|équipe|qui sommes|à propos|chi siamo|lo staff|equipo|"
    r"quiénes somos|nosotros|equipe|sobre nós|zespół|o nas|o mnie|kadra|over ons|medewerkers|om oss|"
    r"personal|medarbetare|om os|medarbejdere|ansatte|kolleger|henkilökunta|henkilöstö|meistä|"
    r"yhteystiedot|equipa|quem somos|sobre (?:mim|nosotros|mí)|conócenos|wie (?:zijn wij|ben ik)|over mij|"
    r"o nás|o mně|náš tým|naši? (?:tým|lidé)|tím|rólunk|csapat\w*|munkatársa\w*|elérhetőség\w*|echipa|"
    r"despre (?:noi|mine)|o nama|naš tim|tko smo|ekibimiz|hakkımızda|praticiens|avocats|médecins|"
    r"medici|abogados|avvocati|lekarze|impressum|imprint|mentions légales|note legali|"
    r"aviso legal|contact\w*|kontakt\w*)\b",
    re.IGNORECASE,
)
_STORIES: Final = re.compile(
    r"blog|news|press|article|aktuell|story|stories|guide|case-stud|portfolio|project|review|"
    r"testimonial|success|event|product|shop|service|treatment|privacy|datenschutz|cookie|terms|"
    r"policy|policies|agb|conditions|faq|gallery|galerie|recipe|presse",
    re.IGNORECASE,
)
_CREDIT: Final = re.compile(
    r"(?:photo\w*|foto\w*|bild\w*|image|picture|illustration|©|\(c\)|credit\w*|source|quelle|"
    r"author|autor\w*|posted|written|published|website|design\w*|rechtsanwalt|e-recht\w*|"
    r"named after|by)\W{0,3}(?:\w{1,12}\W{1,2}){0,2}$",
    re.IGNORECASE,
)


# "Ann Lee, a leading dermatologist, recommends ...": said of somebody, not their role.
_APPOSITION: Final = re.compile(
    r"(?:an?|my|his|her|their|the|who|one of)\s", re.IGNORECASE
)


@dataclass(frozen=True)
class Surroundings:
    """What the traits of all candidates of a page rest on."""

    sheet: Sheet
    url: str
    firm: str
    """The names of the business and its domain, squeezed."""
    mailboxes: str
    """The parts before the @ of the page's addresses, squeezed, each after a space."""
    reachable: frozenset[int]
    names: tuple[FoundPerson, ...] = field(default=())

    @cached_property
    def is_story(self) -> bool:
        """Say whether the page's address says of news, products or legal texts."""
        return bool(_STORIES.search(split_url(self.url)[1]))

    @cached_property
    def is_team(self) -> bool:
        """Say whether the page's address or title says of its people."""
        path = split_url(self.url)[1].replace("-", " ").replace("_", " ")
        return bool(_TEAM.search(path) or _TEAM.search(self.sheet.page.title or ""))

    def count(self, words: str) -> int:
        """Count how often the page writes them; many people share a surname."""
        if words not in self._counted:
            self._counted[words] = self._text.count(words)
        return self._counted[words]

    @cached_property
    def _text(self) -> str:
        return self.sheet.text[:MAX_TEXT]

    @cached_property
    def _counted(self) -> dict[str, int]:
        return {}

    @cached_property
    def heads(self) -> list[str]:
        """Give the heading above each line."""
        heads: list[str] = []
        last = ""
        for line in self.sheet.lines:
            if line.heading and len(line.text) <= MAX_HEADING:
                last = line.text
            heads.append(last)
        return heads

    @cached_property
    def peers(self) -> dict[str, set[int]]:
        """Give the lines of candidates alone on theirs, by the kind of line."""
        found: dict[str, set[int]] = {}
        for one in self.names:
            if one.is_alone and 0 <= one.line < len(self.sheet.lines):
                found.setdefault(self.sheet.lines[one.line].tag, set()).add(one.line)
        return found


def split_url(url: str) -> tuple[str, str]:
    """Give host and path of an address; nothing of one that is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.hostname or "", parts.path


def traits_of(around: Surroundings, one: FoundPerson) -> Traits:
    """Describe a candidate by what it is written like and what stands around it."""
    sheet, line = around.sheet, around.sheet.lines[one.line]
    words = one.value.partition(",")[0].split()
    first, last = words[0].casefold().strip("."), words[-1]
    before = sheet.text[max(sheet.starts[one.line], one.start - 40) : one.start]
    seniority = seniority_of(one.role)
    has_given = first in given_names()
    found = {
        "always": 1.0,
        "supported": one.is_supported,
        "listed": one.is_listed,
        "role": seniority is not None,
        "apposition": bool(_APPOSITION.match(one.role or "")),
        "senior": seniority in (Seniority.OWNER, Seniority.EXECUTIVE),
        "professional": seniority is Seniority.PROFESSIONAL,
        "title": one.has_title,
        "given": has_given and first not in AMBIGUOUS,
        "ambiguous": first in AMBIGUOUS,
        "last_given": last.casefold() in given_names(),
        "initial": any(len(word.strip(".")) == 1 for word in words),
        "three_words": len(words) > 2,
        "shouted": one.value.isupper(),
        "plain": one.is_plain,
        "inner": one.is_inner,
        "alone": one.is_alone,
        "whole_line": len(line.text) <= len(one.value) + 6,
        "heading": line.heading > 0,
        "sentence": len(line.text) > SENTENCE,
        "list_item": line.tag == "li",
        "nav": line.region in ("nav", "header"),
        "footer": line.region == "footer",
        "credit": bool(_CREDIT.search(before)),
        "reachable": bool(
            {one.line, one.line + 1, one.line + 2, one.line + 3} & around.reachable
        ),
        "mailbox": _is_spelt(around, words),
        "firm": any(len(s) >= SHORTEST and s in around.firm for s in spellings(last)),
        "whole_firm": squeezed("".join(words)) in around.firm,
        "team_head": bool(_TEAM.search(around.heads[one.line])),
        "team_page": around.is_team,
        "story": around.is_story,
        "peers": _has_peers(around, one),
        **_repeated(around, one.value, last),
    }
    return {name: float(value) for name, value in found.items() if value}


def _repeated(around: Surroundings, name: str, last: str) -> Traits:
    """Say whether the page names somebody again, in full or by the surname."""
    times = around.count(name)
    again = len(last) >= SHORTEST and around.count(last) > times
    return {"again": float(times > 1), "surname_again": float(again)}


def _is_spelt(around: Surroundings, words: list[str]) -> bool:
    """Say whether an address of the page spells the surname, or the given name first."""
    boxes = around.mailboxes
    last, first = spellings(words[-1]), spellings(words[0])
    return any(len(s) >= SHORTEST and s in boxes for s in last) or any(
        len(s) >= SHORTEST and f" {s}" in boxes for s in first
    )


def _has_peers(around: Surroundings, one: FoundPerson) -> bool:
    """Say whether two other candidates stand in lines of the same kind near by."""
    peers = around.peers.get(around.sheet.lines[one.line].tag, set())
    near = peers.intersection(range(one.line - PEER_REACH, one.line + PEER_REACH + 1))
    return len(near - {one.line}) > 1
