"""What speaks for a candidate being a person of the business, and what against it."""

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.contacts import outsider
from contact_extraction.contacts.model import PersonSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.role import has_role_word
from contact_extraction.contacts.person.support import turns_names
from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    given_names,
    is_given,
    is_turned,
)
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import compact, small, small_pattern, spellings

Traits = dict[str, float]

MAX_HEADING: Final = 60
BEFORE_CHARACTERS: Final = 60
SENTENCE_CHARACTERS: Final = 90
PEER_REACH: Final = 12
MIN_SURNAME_LETTERS: Final = 4
MAX_TEXT: Final = 200_000
"""How much of a page is searched for a name again."""

_TEAM: Final = small_pattern(
    r"\b(?:team|staff|our people|who we are|meet (?:the|our|dr)|about (?:us|me)|doctors?|providers|"
    r"attorneys?|lawyers|partners|dentists?|physicians|practitioners|therapists|founders?|"
    r"leadership|board|committee|management|ansprechpartner|mitarbeiter\w*|über (?:uns|mich)|"
    r"ärzt\w*|anwält\w*|praxisteam|équipe|qui sommes|à propos|chi siamo|lo staff|equipo|"
    r"quiénes somos|nosotros|equipe|sobre nós|zespół|o nas|o mnie|kadra|over ons|medewerkers|om oss|om mig|om meg|our story|my story|minusta|chi sono|qui suis je|"
    r"quem sou|quién soy|quien soy|rólam|bemutatkozás|owners?|principals?|meet \w+$|"
    r"personal|medarbetare|om os|medarbejdere|ansatte|kolleger|henkilökunta|henkilöstö|meistä|"
    r"yhteystiedot|equipa|quem somos|sobre (?:mim|nosotros|mí)|conócenos|wie (?:zijn wij|ben ik)|over mij|"
    r"o nás|o mně|náš tým|naši? (?:tým|lidé)|tím|rólunk|csapat\w*|munkatársa\w*|elérhetőség\w*|echipa|"
    r"despre (?:noi|mine)|o nama|naš tim|tko smo|ekibimiz|hakkımızda|praticiens|avocats|médecins|"
    r"medici|abogados|avvocati|lekarze|impressum|imprint|mentions légales|note legali|"
    r"aviso legal|contact\w*|kontakt\w*)\b"
)
_STORIES: Final = re.compile(
    r"blog|news|(?<!im)press|article|aktuell|(?<!our.)(?<!my.)(?<!the.)(?<!our)story|stories|guide|case-stud|portfolio|project|review|"
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


# "Source: eRecht24, solicitor Ann Lee": what stands behind it is not theirs who quote.
_SOURCE: Final = re.compile(
    r"(?:quellen?|source|fonte|fuente|bron|källa|kilder?|lähde|forrás|źródło|zdroj|bildnachweis\w*|fotos?|photos?|photo credits?)\s?:",
    re.IGNORECASE,
)
# Whoever writes the page says who they are.
_INTRODUCES: Final = re.compile(
    r"(?:\bmy name is|\bI am|\bI['’]m|\bmein name ist|\bich heiße|\bich bin|\bje m['’]appelle|\bje suis|\bmi chiamo|\bsono|"
    r"\bme llamo|\bmi nombre es|\bsoy|\bchamo-me|\bo meu nome é|\beu sou|\bsou|\bmijn naam is|\bik heet|\bik ben|\bjag heter|"
    r"\bmitt namn är|\bjag är|\bjeg hedder|\bmit navn er|\bjeg heter|\bmitt navn er|\bjeg er|\bnimeni on|\bolen|\bnazywam się|"
    r"\bjestem|\bjmenuji se|\bmé jméno je|\bjsem|\bvolám sa|\ba nevem|\bvagyok|\bmă numesc|\bzovem se)"
    r"(?:\s(?:dr|mr|mrs|ms|frau|herr|la|le|el|l['’]|die|der|de)\.?)?\s$",
    re.IGNORECASE,
)


# "Ann Lee, a leading dermatologist, recommends ...": said of somebody, not their role.
_APPOSITION: Final = re.compile(
    r"(?:an?|my|his|her|their|the|who|one of)\s", re.IGNORECASE
)


@lru_cache(1_024)
def _names_team(text: str) -> bool:
    return _TEAM.search(small(text)) is not None


@dataclass(frozen=True)
class PersonSurroundings:
    """What the traits of all candidates of a page rest on."""

    sheet: PageText
    url: str
    firm: str
    """The names of the business and its domain, squeezed."""
    mailboxes: str
    """The parts before the @ of the page's addresses, squeezed, each after a space."""
    reachable: frozenset[int]
    names: tuple[PersonSighting, ...] = field(default=())

    @cached_property
    def is_story(self) -> bool:
        """Say whether the page's address says of news, products or legal texts."""
        return bool(_STORIES.search(split_url(self.url)[1]))

    @cached_property
    def is_team(self) -> bool:
        """Say whether the page's address or title says of its people."""
        path = split_url(self.url)[1].replace("-", " ").replace("_", " ")
        title = self.sheet.page.title or ""
        return _names_team(path) or _names_team(title)

    @cached_property
    def is_of_outsiders(self) -> bool:
        """Say whether the page's address promises references, partners or courses."""
        return outsider.is_page_of_outsiders(split_url(self.url)[1])

    @cached_property
    def below_firms(self) -> frozenset[int]:
        """Give the lines below a heading about vendors, suppliers or references.

        The name of each firm heads its people, so the heading just above says too little.
        """
        return outsider.lines_below(
            self.sheet.lines, outsider.heads_vendors, lambda _: False
        )

    @cached_property
    def may_hold_filler(self) -> bool:
        """Say whether the page may have the texts that templates are filled with."""
        return outsider.may_hold_filler(self.sheet.lower)

    @cached_property
    def is_of_goods(self) -> bool:
        """Say whether the page's address promises dishes, animals or brands."""
        return outsider.is_of_goods(split_url(self.url)[1])

    @cached_property
    def is_of_places(self) -> bool:
        """Say whether the page's address promises the towns the business serves."""
        return outsider.is_of_places(split_url(self.url)[1])

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
        """Give the heading above each line; above a heading that of its section."""
        heads: list[str] = []
        above: dict[int, str] = {}
        for line in self.sheet.lines:
            if line.heading and len(line.text) <= MAX_HEADING:
                above = {
                    rank: text for rank, text in above.items() if rank < line.heading
                }
                heads.append(above[max(above)] if above else line.text)
                above[line.heading] = line.text
            else:
                heads.append(above[max(above)] if above else "")
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


def traits_of(around: PersonSurroundings, one: PersonSighting) -> Traits:
    """Describe a candidate by what it is written like and what stands around it."""
    sheet, line = around.sheet, around.sheet.lines[one.line]
    words = one.value.partition(",")[0].split()
    first, last = words[0].casefold().strip("."), words[-1]
    before = sheet.text[
        max(sheet.starts[one.line], one.start - BEFORE_CHARACTERS) : one.start
    ]
    seniority = seniority_of(one.role)
    has_given = is_given(first)
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
        "last_given": has_given and last.casefold() in given_names(),
        "turned": is_turned(words) and turns_names(sheet),
        "initial": any(len(word.strip(".")) == 1 for word in words),
        "three_words": len(words) > 2,
        "shouted": one.value.isupper(),
        "plain": one.is_plain,
        "inner": one.is_inner,
        "alone": one.is_alone,
        "whole_line": len(line.text) <= len(one.value) + 6,
        "heading": line.heading > 0,
        "sentence": len(line.text) > SENTENCE_CHARACTERS,
        "list_item": line.tag == "li",
        "nav": line.region in ("nav", "header"),
        "footer": line.region == "footer",
        "credit": one.role is None and bool(_CREDIT.search(before)),
        "quoted": bool(_SOURCE.match(before)),
        "introduced": bool(_INTRODUCES.search(before)),
        "reachable": bool(
            {one.line, one.line + 1, one.line + 2, one.line + 3} & around.reachable
        ),
        "mailbox": _is_spelt(around, words),
        "firm": any(
            len(s) >= MIN_SURNAME_LETTERS and s in around.firm for s in spellings(last)
        ),
        "whole_firm": compact("".join(words)) in around.firm,
        "team_head": _names_team(around.heads[one.line]),
        "team_page": around.is_team,
        "story": around.is_story,
        "peers": _has_peers(around, one),
        **_repeated(around, one.value, last),
        **_outside(around, one, before),
    }
    return {name: float(value) for name, value in found.items() if value}


def _outside(around: PersonSurroundings, one: PersonSighting, before: str) -> Traits:
    """Say what speaks for somebody whom the page only mentions."""
    lines = around.sheet.lines
    text, head = lines[one.line].text, around.heads[one.line]
    is_prose = len(_SMALL_WORD.findall(before)) >= MIN_PROSE
    near = lines[max(0, one.line - 2) : one.line + 3]
    is_more = len(text) > len(one.value) + 12
    # "Run by husband and wife team Ann and Ole Lind": who they are to each other does not matter.
    is_leading = seniority_of(one.role) in (Seniority.OWNER, Seniority.EXECUTIVE)
    below = lines[one.line + 1].text if one.line + 1 < len(lines) else ""
    return {
        "prose": float(is_prose),
        "title_in_prose": float(is_prose and one.has_title),
        "dated": float(is_more and bool(_YEAR.search(text))),
        "filler": float(
            around.may_hold_filler
            and any(outsider.is_filler(line.text) for line in near)
        ),
        "elsewhere": float(_is_elsewhere(around, one.role)),
        "outsider_head": float(outsider.heads_outsiders(head)),
        "outsider_page": float(around.is_of_outsiders),
        "other_firms": float(one.line in around.below_firms),
        "course": float(_is_of_course(around, one)),
        "former": float(
            outsider.is_former(text[:MAX_SENTENCE] + below[:BEFORE_CHARACTERS])
        ),
        "relative": float(not is_leading and outsider.announces_relative(before)),
        "goods": float(_is_priced(around, one)),
        "goods_page": float(around.is_of_goods),
        "places": float(
            around.is_of_places
            or outsider.heads_places(head)
            or outsider.heads_places(before)
        ),
        "tail": float(_ends_phrase(around, before, text, one)),
    }


def _is_of_course(around: PersonSurroundings, one: PersonSighting) -> bool:
    """Say whether somebody is named for a course: whoever begins a line took it."""
    line = around.sheet.lines[one.line]
    if outsider.is_course(line.text[:MAX_SENTENCE]):
        return one.start > around.sheet.starts[one.line] + MAX_TITLE
    is_entry = line.tag == "li" and one.role is None
    return is_entry and outsider.is_course(around.heads[one.line])


MAX_TITLE: Final = 4
"""Characters of a title that a line may begin with."""


def _is_priced(around: PersonSurroundings, one: PersonSighting) -> bool:
    """Say whether a name's line, or one of the two below it, has a price or a diet."""
    # Whose role is read is somebody, whatever their school spends on each pupil.
    lines = around.sheet.lines[one.line : one.line + 3]
    return one.role is None and any(
        outsider.is_priced(line.text[:MAX_SENTENCE]) for line in lines
    )


def _ends_phrase(
    around: PersonSurroundings, before: str, text: str, one: PersonSighting
) -> bool:
    """Say whether other words end in the name: `Manual therapy, prof. Robert Lang`."""
    if around.sheet.lines[one.line].tag != "li":
        return False
    phrase = before.strip()
    is_last = text.rstrip(" .)").endswith(one.value[-4:])
    return is_last and bool(_PHRASE.search(phrase)) and not has_role_word(phrase)


_PHRASE: Final = re.compile(r"[^\W\d_]{4}.{3,}[,–—-]\s?(?:\w{1,6}\.\s?)*$")
MIN_PROSE: Final = 3
"""Small words before a name in its line that make it part of a sentence."""
MAX_SENTENCE: Final = 400
_SMALL_WORD: Final = re.compile(r"(?<!\S)[a-z\u00df-\u00ff]\S*")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_EMPLOYER: Final = re.compile(
    r"(?:,\s|\s?:\s|\s(?:at|@|bei|chez|presso|hos|en)\s)((?:[A-Z\u00c0-\u00de][\w&.'’-]*\s?)+)$"
)


def _is_elsewhere(around: PersonSurroundings, role: str | None) -> bool:
    """Say whether a role is one in another firm: `Founder, Tech Studio`."""
    match = _EMPLOYER.search(role or "")
    if match is None or has_role_word(match[1]):
        return False
    named = compact(match[1])
    return len(named) >= MIN_SURNAME_LETTERS and named not in around.firm


def _repeated(around: PersonSurroundings, name: str, last: str) -> Traits:
    """Say whether the page names somebody again, in full or by the surname."""
    times = around.count(name)
    again = len(last) >= MIN_SURNAME_LETTERS and around.count(last) > times
    return {"again": float(times > 1), "surname_again": float(again)}


def _is_spelt(around: PersonSurroundings, words: list[str]) -> bool:
    """Say whether an address of the page spells the surname, or the given name first."""
    boxes = around.mailboxes
    last, first = spellings(words[-1]), spellings(words[0])
    return any(len(s) >= MIN_SURNAME_LETTERS and s in boxes for s in last) or any(
        len(s) >= MIN_SURNAME_LETTERS and f" {s}" in boxes for s in first
    )


def _has_peers(around: PersonSurroundings, one: PersonSighting) -> bool:
    """Say whether two other candidates stand in lines of the same kind near by."""
    peers = around.peers.get(around.sheet.lines[one.line].tag, set())
    near = peers.intersection(range(one.line - PEER_REACH, one.line + PEER_REACH + 1))
    return len(near - {one.line}) > 1
