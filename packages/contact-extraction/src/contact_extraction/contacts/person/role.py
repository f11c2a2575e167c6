"""What people do: roles, and whether one stands beside a name."""

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.name import are_degrees
from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    DEGREES,
    HONORIFIC,
    given_names,
)
from contact_extraction.html import Line
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import small, small_pattern

MAX_ROLE: Final = 90
MAX_SHORT: Final = 70
MAX_LIST: Final = 40
"""Lines of a list of names and roles that are looked through, each way."""


def role_in(text: str) -> str | None:
    """Give a text back if it reads as a role and nothing more."""
    text = _ROLE_LABEL.sub("", text.strip(" ,.;:|–—-()\u2022"))
    if text in _SHORT_ROLES or text.casefold() in _WHOLE_ROLES:
        return text
    return text if 2 < len(text) <= MAX_ROLE and _is_role(text) else None


# Lines beside names are asked about several times, and pages of a site share many.
@lru_cache(4_096)
def _is_role(text: str) -> bool:
    if "@" in text or _LONG_NUMBER.search(text):
        return False
    if len(text.split()) > 10 or not (
        _may_hold_role(text) and _role_pattern().search(small(text))
    ):
        return False
    return not (
        _SENTENCE.search(text) or _OPEN_END.search(text) or _names_somebody(text)
    )


_LONG_NUMBER: Final = re.compile(r"\d{3}")


def _names_somebody(text: str) -> bool:
    """Tell `Inhaber Karl Weiss`, somebody else's role, from a role by itself."""
    return any(
        one[0].isupper()
        and other[0].isupper()
        and (first := one.casefold().partition("-")[0]) in given_names()
        and first not in AMBIGUOUS
        for one, other in pairwise(text.split())
    )


def has_role_word(text: str) -> bool:
    """Say whether one of the words of a text is a role."""
    roles = wordlist.load("roles")
    return any(word.strip(".,()") in roles for word in text.casefold().split())


def is_calling(role: str | None) -> bool:
    """Tell what somebody is from the office they are in: `Verwaltung` heads houses too."""
    return role is not None and role.casefold() not in wordlist.load("departments")


_SHORT_ROLES: Final = {
    "VD": ("sv", "och"), "GF": ("de", "und"), "TJ": ("fi", "ja"), "VP": ("en", "the"),
}  # fmt: skip
"""Roles of two letters with their language and a word that its pages have."""
_WHOLE_ROLES: Final = frozenset(("chair", "head", "captain", "host", "skipper", "koch"))
"""Words that are a role only where nothing stands beside them."""
MANY_DIETS: Final = 3
"""Names with the same two letters that make them something else: (GF) is gluten free."""
# What lists write before a role: the Title of "Title: Managing Partner".
_ROLE_LABEL: Final = re.compile(
    r"^(?:(?:job )?title|position|role|funktion|fonction|poste|cargo|puesto|ruolo|qualifica|stanowisko|"
    r"functie|titel|befattning|stilling|tehtävä|beosztás|pozice|funkce)\s?:\s?",
    re.IGNORECASE,
)
_OPEN_END: Final = re.compile(r"\s(?:&|and|und|et|y|en|och|og)$")
# The full stops of "leg. tandläkare" and "staatl. gepr. Masseurin" end no sentence.
_SHORTENED: Final = r"(?<![Ll]eg)(?<![Dd]ipl)(?<!gepr)(?<!taatl)"
_SENTENCE: Final = re.compile(
    rf"(?-i:{_SHORTENED}[.!?]\s+[A-Z])|\b(?:is|are|was|were|has|have|will|please|click|our|your|we|you|they|"
    r"with over|joined|contact|call|email)\b",
    re.IGNORECASE,
)
# What trades end in: neurologist, podiatrist, Heilpraktikerin, Malermeister.
_ROLE_ENDINGS: Final = (
    r"\w{3,}(?:ologist|iatrist|therapist|therapeut(?:in)?|praktiker(?:in)?|meister(?:in)?|"
    r"leiter(?:in)?|anwalt|anwältin|arzt|ärztin|angestellte[r]?|ologue|thérapeute|terapeuta)"
)


@cache
def _role_pattern() -> re.Pattern[str]:
    roles = sorted(wordlist.load("roles"), key=len, reverse=True)
    return small_pattern(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, roles))}|{_ROLE_ENDINGS})(?!\w)"
    )


@cache
def _first_words() -> frozenset[str]:
    """Give the word that each role begins with: a text without any of them has none."""
    return frozenset(_WORD.findall(role)[0] for role in wordlist.load("roles"))


def _may_hold_role(text: str) -> bool:
    """Rule a text out by its words: most lines beside names hold no role."""
    found = _WORD.findall(text.casefold())
    return not _first_words().isdisjoint(found) or bool(_ROLE_END.search(small(text)))


_WORD: Final = re.compile(r"\w+")
_ROLE_END: Final = small_pattern(_ROLE_ENDINGS)


def _is_spoken(sheet: PageText, short: str) -> bool:
    """Say whether two letters are a role in the page's language, and not a diet."""
    if short not in _SHORT_ROLES:
        return True
    language, word = _SHORT_ROLES[short]
    declared = (sheet.page.language or "").lower().startswith(language)
    return (declared or word in sheet.words) and sheet.text.count(
        f"({short})"
    ) < MANY_DIETS


def role_near(sheet: PageText, number: int, start: int, end: int) -> str | None:
    """Give the role beside a name, or on a line of its own next to it.

    "Dentist Ann Lind" above "Owner" is the owner.
    """
    beside = _role_beside(sheet, number, start, end)
    if beside is not None and not _is_spoken(sheet, beside):
        return None
    if beside is None:
        return _role_in_sentence(sheet.lines[number].text, start, end)
    if sheet.lines[number].text[end:].strip(" ,:|–—-"):
        return beside
    below = _role_below(sheet, number)
    return below if below and seniority_of(below) is Seniority.OWNER else beside


def _role_in_sentence(text: str, start: int, end: int) -> str | None:
    """Give the role of who is said to have founded the business, or to own or lead it.

    "Founded in 1923 by Ann Lind" is history.
    """
    before, after = text[max(0, start - 60) : start], text[end : end + 60]
    before, after = before.rpartition(". ")[2], after.partition(". ")[0]
    is_said_before = before[-1:] == " "
    match = _DOES.match(after)
    if match is None and is_said_before:
        match = _DONE_BY.search(small(before))
    if match is None and (is_said := _IS.match(after)):
        role = None if _OF_ANOTHER.search(is_said[1]) else role_in(is_said[1])
        return role if seniority_of(role) in _LEADING else None
    if match is None or (_LONG_AGO.search(before) or _LONG_AGO.search(after)):
        return None
    return next((role for role in _SAID if match[role]), "").capitalize() or None


_LEADING: Final = (Seniority.OWNER, Seniority.EXECUTIVE)
# "Anna Berg is the owner", of nothing that has another name.
_IS: Final = re.compile(
    r"\s(?:is|ist|est|è|es|é|är|er|on|jest|je|is de)\s"
    r"(?:(?:the|our|your|der|die|unser|unsere|le|la|l['’]|notre|il|lo|el|nuestro|nuestra|o|a|de|het|onze|vår|vores)\s?)?"
    r"(?:(?:proud|sole|current|new|present|stolzer?|stolze|neue[rn]?)\s)?"
    r"([^\W\d_][\w -]{2,40}?)(?=[.,;!]|$|\s(?:of|der|des|von|de|du|della?|av|af|van)\s(?:the|this|our|[a-zß-ÿ])|\s(?:and|und|et|e|y|og|och|en)\s)"
)
_OF_ANOTHER: Final = re.compile(
    r"\s(?:of|der|des|von|de|du|della?|av|af|van|at|bei|chez)\s[A-ZÀ-Ž]"
)
_SAID: Final = ("founder", "owner", "director")
_LONG_AGO: Final = re.compile(r"\b1[0-8]\d\d\b|\b19[0-7]\d\b")
_BUSINESS: Final = (
    r"(?:compan|business|firm|practice|office|studio|shop|salon|restaurant|clinic|school|agency|store|betrieb|"
    r"bakery|kennels|garage|gallery|farm|nursery|brewery|winery|café|cafe|pub\b|bar\b|hotel|inn\b|theatre|theater|gym\b|"
    r"spa\b|brand|label|magazine|workshop|dealership|boutique|surgery|restaurante|panadería|tienda|taller|consulta|despacho|"
    r"boulangerie|boutique|magasin|atelier|ristorante|negozio|bottega|pasticceria|officina|bäckerei|werkstatt|geschäft|"
    r"winkel|bakkerij|salong|butik|kliniek|firma|forretning|liike|toimisto|gabinet|sklep|zakład|salon|obchod|dílnu|üzlet|bolt|"
    r"praxis|kanzlei|unternehmen|büro|laden|entreprise|société|cabinet|azienda|impresa|empresa|negocio|bedrijf|zaak|"
    r"praktijk|företag|virksomhed|yrity|cége|vállalkoz|gabinet|ordinac)"
)
# What somebody started may be their career: only of a business is it a role.
_DOES: Final = re.compile(
    r",?\s(?:who\s|and \w+ )?(?:(?:has|hat|a|ha|et \w+ ont)\s)?(?:(?P<founder>(?:co-)?founded|started|established|opened|"
    r"gründete|eröffnete|fondé|créé|fondato|fundó|založil\w?|założył\w?|grundade|startade|grundlagde|startede|"
    r"startet|perusti|richtte|alapította|aperto|abrió)|"
    r"(?P<owner>owns|is the (?:proud )?owner|besitzt|bought)|"
    r"(?P<director>runs|leads|heads|führt|leitet|dirige|gestisce|leidt|runt|prowadzi|vede|driver))"
    rf"\s(?=[a-zß-ÿ])[^.,;]{{0,30}}{_BUSINESS}",
)
_DONE_BY: Final = small_pattern(
    r"\b(?:(?P<founder>(?:co-)?(?:founded|established|started|opened|created)(?: (?:in )?\d{4})? by|gegründet (?:\d{4} )?(?:von|durch)|"
    r"gründete|fond[ée]+e? (?:en \d{4} )?par|créée? (?:en \d{4} )?par|fondat[oa] (?:nel \d{4} )?da|fundad[oa] (?:en \d{4} )?por|"
    r"opgericht (?:in \d{4} )?door|grundades (?:\d{4} )?av|grundat av|grundlagt (?:i \d{4} )?af|założon[aey] (?:w \d{4} )?przez)|"
    r"(?P<owner>(?:owned|(?:owned|family)(?: and|,| &) (?:operated|run|managed|led)|run and owned|a family business run) by"
    r"(?: (?:the )?(?:husband[- ](?:and|&)[- ]wife|wife[- ](?:and|&)[- ]husband|mother[- ]and[- ]daughter|father[- ]and[- ]son|"
    r"brothers?|sisters?|siblings|partners|couple|local couple|married couple)(?: team| duo)?)?,?|im besitz von|majitel(?:em|kou) (?:\w+ )?je|"
    r"właściciel(?:em|ką) (?:\w+ )?jest|(?:inhaber(?:in)?|besitzer(?:in)?) (?:\w+ \w+ )?ist|(?:the|our) (?:\w+ )?owner is|"
    r"le propriétaire est|il titolare è|el propietario es|o proprietário é|de eigenaar is|omistaja on|ägare är|ejes af|ägs av|eies av)|"
    r"(?P<director>(?:run|led|headed|managed|operated) by(?: (?:the )?(?:husband[- ](?:and|&)[- ]wife|wife[- ](?:and|&)[- ]husband|"
    r"mother[- ]and[- ]daughter|father[- ]and[- ]son|brothers?|sisters?|siblings|partners|couple|married couple)(?: team| duo)?)?,?|geführt von|geleitet von|unter (?:der )?leitung von|"
    r"dirigée? par|dirett[oa] da|dirigid[oa] por|gestit[oa] da|geleid door|drivs av|drives af|prowadzon[aey] przez))\s"
    r"(?:dr\.? |mr\.? |mrs\.? |ms\.? |frau |herrn? )?$"
)


def _role_beside(sheet: PageText, number: int, start: int, end: int) -> str | None:
    text = sheet.lines[number].text
    after = _LETTERS.sub("", text[end : end + MAX_ROLE + 10])
    cut = _AFTER.match(after)
    is_theirs = cut is not None and not _ANNOUNCES.match(cut[1])
    if cut and is_theirs and (role := role_in(_first_clause(cut[1]))):
        return role
    if start:
        before = text[max(0, start - 60) : start]
        if short := _ABBREVIATED.search(before):
            return short[1]
        label = _BEFORE.search(before)
        if label and (role := role_in(label[1]) or _of_each(label[0])):
            return role
        if shared := _SHARED.match(text[:start]):
            # "Geschäftsführer: Ann Lind, Ole Berg": what is before the colon is all theirs.
            return role_in(shared[1]) or _of_each(f"{shared[1]}:")
    if _are_titles(text[:start]) and _goes_on_as_role(text[start:end], after):
        return role_in(_NUMBER_AFTER.split(after)[0])
    if not stands_alone(text, start, end):
        return None
    if not after.strip(" ,:|–—-"):
        return _role_of_neighbours(sheet, number)
    return None


def _are_titles(before: str) -> bool:
    """Say whether nothing but degrees and titles stands before a name."""
    return all(
        word in DEGREES or word.casefold() in HONORIFIC for word in before.split()
    )


def _goes_on_as_role(name: str, after: str) -> bool:
    """Tell `Nagy Zoltán ügyvezető` and `Regina Berg Inhaberin` from `Hill Dental Director`."""
    first, is_apart = after.split(maxsplit=1)[:1], after[:1] == " "
    if not first or not is_apart or _IS.match(after):
        return False
    return first[0].islower() or (
        has_role_word(first[0])
        and name.split(maxsplit=1)[0].casefold() in given_names()
    )


def _role_of_neighbours(sheet: PageText, number: int) -> str | None:
    """Give the role in the line below a name, else above it unless it is another's."""
    lines = sheet.lines
    above = lines[number - 1] if number else None
    if above is None or len(above.text) > MAX_SHORT:
        return _role_below(sheet, number)
    if (nearer := _nearer_side(sheet, number)) == LINE_ABOVE and (
        role := role_in(above.text)
    ):
        return role
    if nearer == LINE_BELOW:
        return _role_below(sheet, number)
    if nearer == LINE_ABOVE and lines[number].tag in _CELLS:
        return None
    if above.text.endswith(":") and (role := role_in(above.text)):
        return role
    if role := _role_below(sheet, number):
        return role_in(above.text) if _roles_come_first(sheet, number) else role
    # Name, role, name, role: the role above belongs to the name above it; not so where
    # the roles come first.
    mine, tag = lines[number].tag, above.tag
    if number > 1 and lines[number - 2].tag == mine != tag:
        first = lines[number - 3] if number > 2 else None
        if first is None or first.tag != tag or role_in(first.text) is None:
            return None
    return role_in(above.text)


_NUMBER_AFTER: Final = re.compile(r"\s[+(]?\d")
_CELLS: Final = ("td", "th", "dd")
LINE_ABOVE: Final = -1
LINE_BELOW: Final = 1


def _nearer_side(sheet: PageText, number: int) -> int | None:
    """Say on which side of a name its row or card goes on; None if on both or neither.

    What stands in the next card says nothing of whoever this one is about.
    """
    if number + 1 >= len(sheet.lines):
        return None
    mine = sheet.ancestors(number)
    above, below = (
        set(sheet.ancestors(number + step)) for step in (LINE_ABOVE, LINE_BELOW)
    )
    up = next((place for place, one in enumerate(mine) if one in above), len(mine))
    down = next((place for place, one in enumerate(mine) if one in below), len(mine))
    if up == down:
        return None
    return LINE_ABOVE if up < down else LINE_BELOW


def _roles_come_first(sheet: PageText, number: int) -> bool:
    """Say whether a list of lines of one kind goes role, name, role, name.

    Only its two ends tell: it begins with a role, and ends with a name.
    """
    return (
        _ends_with_role(sheet, number, -1) is True
        and _ends_with_role(sheet, number, 1) is False
        and seniority_of(role_in(sheet.lines[number - 1].text)) is not None
    )


def _ends_with_role(sheet: PageText, number: int, step: int) -> bool | None:
    """Walk from a name along its list, and say whether its last line is a role.

    None of a list that is not regular: some have two roles, or a line of something else.
    """
    lines, at, is_role = sheet.lines, number, False
    for _ in range(MAX_LIST):
        after = at + step
        if not 0 <= after < len(lines) or not _is_of_list(lines[after], lines[number]):
            break
        if (role_in(lines[after].text) is not None) == is_role:
            return None
        at, is_role = after, not is_role
    return is_role


def _is_of_list(line: Line, first: Line) -> bool:
    is_short = len(line.text) <= MAX_SHORT and not line.text.endswith((".", ":"))
    return line.tag == first.tag and line.region == first.region and is_short


def _role_below(sheet: PageText, number: int) -> str | None:
    lines = sheet.lines
    if (
        number + 2 < len(lines)
        and are_degrees(lines[number + 1].text)
        and role_in(lines[number + 1].text) is None  # OWNER is no degree
    ):
        number += 1
    below = lines[number + 1].text if number + 1 < len(lines) else ""
    if len(below) > MAX_SHORT:
        return None
    if role := role_in(below):
        return role
    more = _MORE.search(below)
    return role_in(below[: more.start()]) if more else None


# "Practice owner since 2005 · Harbour Street" states a role and more.
_MORE: Final = re.compile(
    r"\s[·•|]\s|(?<=[^\W\d_]{4})\.\s(?=\w)|,?\s(?:since|seit|depuis|dal|desde|sinds|sedan|siden|od)\s[^\d]{0,12}\d{4}",
    re.IGNORECASE,
)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Say whether only signs stand before and after a part of a line."""
    before = text[:start].strip()
    after = text[end:].strip()
    return (not before or before[-1] in ":|-–—•(/") and (
        not after or after[0] in ",:|-–—•(/)" or len(text) < end - start + 4
    )


def _of_each(label: str) -> str | None:
    """Give the role of each of several from a label: `Doctors: Ann Lind, Ole Berg`."""
    label = label.rstrip()
    return role_in(label[:-2]) if label.endswith("s:") else None


# The initials between a name and its role: "Ann Lind (AL): Surveyor".
_LETTERS: Final = re.compile(r"^\s?\((?!GF|VD|TJ|VP)[A-ZÀ-Ž]{2,4}\)(?=\s?[:,–—-])")
_AFTER: Final = re.compile(r"^\s?[,:|–—(/-]\s?(.{3,100})")
_BEFORE: Final = re.compile(r"(?:^|[.;|•(]\s?)([^.;|•(]{3,50}?)\s?[:–—-]?\s?$")


_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s;|(,])(Inh|Prop|Gesch\u00e4ftsf|Gf|GF)\.\s?:?\s?$"
)
# "Gartenbau Weiss, Inh. Karl Weiss": the role is that of who follows.
_ANNOUNCES: Final = re.compile(
    r"(?:Inh|Prop|Gesch\u00e4ftsf|Gf|GF)\.:?\s?[A-Z\u00c0-\u017d]"
)
_SHARED: Final = re.compile(
    r"([^:]{3,60}):\s?(?:[A-Z\u00c0-\u017d][\w.'’() -]{3,50}?(?:,|\s(?:und|and|et|e|y|i|a|og|och|en|[&·•|/]))\s){1,6}$"
)


def _first_clause(text: str) -> str:
    return _CLAUSES.split(text)[0]


_CLAUSES: Final = re.compile(
    rf"[;|•()]|\s[-–—]\s|{_SHORTENED}\.\s|,\s(?=[a-z]+\s|[+(]?\d|\S+@)|\s{{2}}"
)
