"""Find the name of the business behind a page, and of others it names as such.

No single place holds the name, so several are asked (title, site name, logo,
copyright line, letterhead, structured data, legal forms in the text) and names that
agree with each other and with the domain win.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.place import country_names
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.email_quality import is_listed
from scrapersky.extraction.html import Line, clean, words
from scrapersky.kit.urls import registrable_domain

MAX_NAME: Final = 80
MAX_WORDS: Final = 9
MAX_FOUND: Final = 60
MAX_HINTS: Final = 1_000
MAX_RANKED: Final = 300
MAX_BETTER: Final = 40
MAX_SPELLINGS: Final = 4
MAX_PLACES: Final = 6
MAX_PROSE: Final = 160
ENOUGH: Final = 0.37
"""The chance of being right from which a name is given: best F1 on annotated pages."""
ALONE: Final = 1.9
"""The votes a page's best name needs to be given whatever its chance."""


def find_organisations(
    sheet: Sheet,
    url: str,
    *,
    letterheads: list[int] | None = None,
    mail_domains: Counter[str] | None = None,
    known: str | None = None,
    stated: Sequence[Found] = (),
) -> list[Found]:
    """Find organisation names, the page's own first.

    `letterheads` are the lines on which addresses begin, `stated` what structured data
    says, `known` a name from elsewhere that helps only if the page agrees.
    """
    labels = _site_labels(sheet, url, mail_domains or Counter())
    ballot = _Ballot(sheet, labels)
    for name, method, weight in _nominations(sheet, letterheads or [], known):
        ballot.add(name, method, weight)
    for found in stated[:MAX_FOUND]:
        ballot.add(found.value, found.method, 3.5)
    for name, method, weight in _kin_names(sheet, labels):
        ballot.add(name, method, weight)
    return ballot.result()


def is_legal_name(text: str) -> bool:
    """Say whether a text ends in a legal form: Acme Ltd."""
    return bool(_LEGAL_END.search(text))


def bare_name(name: str) -> str:
    """Fold a name for comparison: no legal form, article, case or punctuation."""
    name = _LEGAL_END.sub("", name.strip(" .,"))
    name = _ARTICLE.sub("", name)
    return _NON_WORD.sub(" ", name.casefold()).strip()


_LEGAL: Final = (
    r"Inc(?:orporated)?|INC|Corp(?:oration)?|CORP|Co\.?,? ?(?:Ltd|LTD|Inc|KG|LLC)|Company|"
    r"(?:&|and) Co|L\.?L\.?C|L\.?L\.?P|P\.?L\.?L\.?C|"
    r"Ltd|LTD|Limited|LIMITED|P\.?L\.?C|Pty(?:\.? Ltd)?|Pvt(?:\.? Ltd)?|PTE(?:\.? LTD)?|P\.C|P\.A|"
    r"N\.A|GmbH(?: & Co\.? KGa?A?)?|mbH|AG|KG|OHG|UG(?: \(haftungsbeschränkt\))?|e\.?K|e\.?V|"
    r"GbR|S\.?A\.?R\.?L|SAS|SASU|EURL|S\.?A\.?|S\.?L\.?U?|S\.?R\.?L\.?S?|S\.?p\.?A|S\.?n\.?c|"
    r"S\.?a\.?s|B\.?V\.?B\.?A|B\.?V|N\.?V|V\.?O\.?F|C\.?V|A/S|ApS|AB|ASA|AS|Oyj?|HB|"
    r"K\.?K|Sp\.? ?z ?o\.? ?o|S\.?K\.?A|s\.? ?r\.? ?o|a\.? ?s|d\.? ?o\.? ?o|Kft|Zrt|Nyrt|Bt|"
    r"Ltda|Lda|EIRELI|MEI|A\.?Ş|Ltd\.? ?Şti|S\.?A\.? de C\.?V|OOO|ООО|ЗАО|ОАО|QSC|MMC|"
    r"株式会社|有限会社|inc|llc|ltd|plc"
)
_LEGAL_END: Final = re.compile(rf"[\s,]+(?:{_LEGAL})\.?\)?$")
_LEGAL_NAME: Final = re.compile(
    r"(?<![\w&])(?:(?:[A-ZÀ-ÞÄÖÜŁŚŻČŠŽŘİŞ0-9][\w'’.&-]{0,24}|&|and|of|the|und|et|de|van|von|y|i|\([A-Z][\w -]{1,20}\)),?\s){1,7}?"
    rf"(?:{_LEGAL})(?![\w-])(?! (?:to|TO|Edition|edition|time|Time|Warranty|stock)\b)"
    r"\.?(?:,? (?:Ltd|LTD|Inc|LLC)\.?(?![\w-]))?"
)
_NOT_A_FIRM: Final = re.compile(
    r"\b(?:not|but|with|including|premier|is|are|our)\b|^\d+ \w+$|^S\.A|\bBox \d|^\(",
    re.IGNORECASE,
)
_SHORT_FORM: Final = re.compile(
    r"\s(?:AG|KG|AB|AS|SA|NV|BV|HB|Oy|KK|SL|CV|UG|Bt|S\.A|S\.L)\.?$"
)
_LEGAL_MARKS: Final = (
        "Inc", "INC", "Incorporated", "Corp", "CORP", "Corporation", "Company", "LLC", "L.L.C", "LLP", "L.L.P", "PLLC", "Ltd",
        "LTD", "Limited", "LIMITED", "PLC", "plc", "Pty", "Pvt", "PTE", "GmbH", "mbH", "AG", "KG",
        "UG", "SARL", "SAS", "EURL", "S.A", "SA", "S.L", "SL", "S.r.l", "SRL", "Srl", "S.R.L",
        "S.p.A", "SpA", "B.V", "BV", "N.V", "NV", "A/S", "ApS", "AB", "ASA", "AS", "Oy", "K.K",
        "KK", "Sp. z", "Sp.z", "s.r.o", "s. r. o", "a.s", "d.o.o", "Kft", "Zrt", "Ltda", "LTDA",
        "Lda", "A.Ş", "Co.", "& Co", "and Co", "e.V", "e.K", "OHG", "GbR", "QSC", "MMC", "OOO",
        "ООО", "P.C", "P.A", "N.A", "inc", "llc", "ltd",
)  # fmt: skip
_INSTITUTE: Final = re.compile(
    r"(?<![\w&])(?:(?:The )?(?:[A-Z][a-z]{1,20} ){0,3}(?:University|College|Bank|Church|Museum|"
    r"Institute|School|City|Town|County|Department|Ministry|Chamber|Board) of (?:the )?(?:[A-Z][\w'’&-]{1,20}(?: and | of | )?){1,4}"
    r"|(?:[A-Z][\w'’.&-]{1,20} (?:of |and |& )?){1,4}"
    r"(?:University|College|High School|Elementary School|Middle School|School District|"
    r"Business School|Law School|Hospital|Medical Center|Clinic|Dental|Dentistry|Orthodontics|"
    r"Veterinary Hospital|Law Firm|Law Group|Real Estate|Realty|Restaurant|"
    r"Hotel|Inn|Museum|Zoo|Library|Church|Academy|Institute|Foundation|Association|Society|"
    r"Group|Bank|Credit Union|Insurance|Pharmacy|Bakery|Brewery|Cafe|Café|Bistro|Pizzeria|"
    r"Salon|Spa|Studio|Gallery|Records|Furniture|Furnishings?|Motors|Plumbing|Roofing|Construction|"
    r"Builders|Homes|Properties|Services|Solutions|Systems|Technologies|Electronics|"
    r"Industries|Products|Supply|Securities|Consulting|Associates|Partners|Enterprises|"
    r"International|Holdings|Media|Design|Photography|Florist|Flower Shop|Landscaping|"
    r"Cosmetics|Jewelers|Dermatology|Chiropractic|Fitness|Yoga|Catering|Travel|Tours|Windows|"
    r"Stores?|Shop|Software|Communications|Networks?|Entertainment|Electric|Energy|"
    r"Financial|Capital|Advisors|Realtors|Architects|Contractors|Publishing|Press|Council|"
    r"Agency|Authority|Committee|Trust|Theatre|Theater|Garage|Nursery|Vineyards|Winery|"
    r"Farms|Resort|Lodge|Motel|Club|Grill|Diner|Tavern|Community Center|City Hall|"
    r"Outdoors|Audio|Engineering|Laboratory|Laboratories|Labs|Collision Repair|Auto Repair))"
    r"(?![\w-])"
)
# The last words of what _INSTITUTE accepts, to pass over other lines at once.
_TRADES: Final = frozenset(re.findall(r"[A-Z][a-zé]+(?=[|)])", _INSTITUTE.pattern))
_NON_WORD: Final = re.compile(r"[\W_]+")
_ARTICLE: Final = re.compile(
    r"^(?:the|die|der|das|le|la|les|el|los|il|de|het)\s", re.IGNORECASE
)
_SEPARATOR: Final = re.compile(
    r"\s+[-–—:~/·]+\s+|\s*[|»«•‹›>]+\s*|\s*[–—]\s+|\s+::\s+|:\s+|\s-\s"
)
_GENERIC: Final = words(
    "home homepage index welcome main start startseite accueil inicio início bienvenue "
    "bienvenido bienvenidos willkommen benvenuti welkom witamy vítejte contact contacts "
    "contactus kontakt kontakte contacto contato contatti contactez impressum imprint "
    "about aboutus über überuns uns chi-siamo legal privacy policy terms conditions "
    "sitemap login search news blog shop store products services team staff jobs careers "
    "faq help support gallery portfolio testimonials menu page untitled document new "
    "online official site website web us our find get in touch location locations office "
    "offices directions map hours information info contactenos nosotros o-nas kontakty "
    "iletişim iletisim anasayfa hakkımızda ota yhteyttä etusivu kontakta hem forside "
    "hjem and & the of to for a your you my we i und uns wir die der das et de la le les "
    "logo image banner header picture photo icon click here read more back next previous "
    "company details overview profile address phone email mail visit call today now free "
    "quote request form feedback customer service account cart checkout sign up register"
)
_GENERIC_START: Final = re.compile(
    r"^(?:welcome to|welcome|willkommen bei|willkommen|bienvenue (?:chez|à|sur)|"
    r"bienvenidos? a|benvenuti (?:da|in|su)|welkom bij|contact(?: us)?(?: -| at)?|about|"
    r"home(?: page)? (?:of|-)|the official (?:web)?site of|official (?:web)?site of|"
    r"kontakt(?: -)?|impressum(?: -)?|copyright|logo (?:of|der|von)|return to|visit|go to|"
    r"back to|home ?-)\s+",
    re.IGNORECASE,
)
_GENERIC_END: Final = re.compile(
    r"\s*(?:logo(?:type)?|copyright|home ?page|home|official (?:web)?site|website|web site|"
    r"all rights reserved.*|alle rechte vorbehalten.*|tous droits réservés.*|"
    r"todos los derechos.*|todos os direitos.*|tutti i diritti.*|alle rechten voorbehouden.*|"
    r"wszelkie prawa.*|všechna práva.*)\W*$",
    re.IGNORECASE,
)
_COPYRIGHT: Final = re.compile(
    r"(?:©|\(c\)|&copy;|copyright|\ufffd copyright)[\s©()cC]{0,6}(?:by\s)?"
    r"(?:(?:19|20)\d\d(?:\s?[-–,/&]\s?(?:(?:19|20)?\d\d))*)?[\s,.:©|–-]{0,4}(?:by\s)?(?:the\s)?"
    r"(?P<name>[^|©\n]{2,90})",
    re.IGNORECASE,
)
_COPYRIGHT_YEAR: Final = re.compile(
    r"(?P<name>[^|©.\n]{2,70}?)\s*(?:©|\(c\))\s*(?:19|20)\d\d", re.IGNORECASE
)
_COPYRIGHT_CUT: Final = re.compile(
    r"(?:\.\s|\.$|\||•|·|\ball rights|\balle rechte|\btous droits|\btodos |\btutti |,? (?:19|20)\d\d\b|"
    r"\bdesigned\b|\bpowered\b|\bwebsite\b|\bweb design|\bprivacy|\bterms\b|\bsite by\b|\bis a\b|"
    r"\blicensed\b|\btel\b|\bphone\b|\s[-–]\s|\ball right|\bregistered\b|\bmember\b)",
    re.IGNORECASE,
)


_CAMEL: Final = re.compile(r"[a-z][A-Z]")
_STATED: Final = (Method.JSON_LD, Method.MICRODATA, Method.RDFA, Method.HCARD)
_WEIGHTS: Final = {
    "always": -2.08,
    "above_address": 1.30,
    "camel": 0.45,
    "copyright": 1.59,
    "domain": -0.25,
    "employer": 2.51,
    "first": 1.45,
    "form": 0.80,
    "in_list": -1.47,
    "in_nav": 0.39,
    "kin": 1.40,
    "legal": 1.42,
    "letterhead": 0.80,
    "logo": -0.11,
    "many_words": -0.43,
    "mentions": -0.39,
    "meta": 0.50,
    "more_than_better": 0.77,
    "one_word": -0.97,
    "part_of_better": 0.43,
    "plain": -0.69,
    "prose": 1.26,
    "same_as_domain": -0.33,
    "short_form": 0.27,
    "shouted": -0.50,
    "spelled": 0.73,
    "stated": 0.87,
    "title": 0.39,
    "trade": 0.43,
    "unseen": -0.40,
    "whole_line": -0.58,
}


def _nominations(
    sheet: Sheet, letterheads: list[int], known: str | None
) -> Iterator[tuple[str, Method, float]]:
    page = sheet.page
    if known:
        yield known, Method.META, 1.0
    for name in (
        "og:site_name",
        "application-name",
        "apple-mobile-web-app-title",
        "author",
        "copyright",
        "dc.publisher",
        "dcterms.publisher",
    ):
        value = page.meta(name)
        if value:
            yield value, Method.META, 2.5 if name == "og:site_name" else 1.0
    for part in _SEPARATOR.split(page.title[:300]):
        yield part, Method.TITLE, 1.2
    if page.title:
        yield page.title, Method.TITLE, 0.6
    for image in page.images:
        if image.alt and (
            "logo" in image.names
            or "logo" in image.src.lower()[-80:]
            or "logo" in image.alt.lower()
        ):
            yield image.alt, Method.LOGO, 1.5
    for line in sheet.lines:
        if line.heading == 1 and len(line.text) < 200:
            yield line.text, Method.HEADING, 0.8
    for number in _copyright_lines(sheet):
        if len(sheet.lines[number].text) <= 600:
            yield from _copyright_names(sheet.lines[number].text)
    yield from _link_names(sheet)
    yield from _legal_names(sheet)
    yield from _employers(sheet)
    for number in letterheads:
        yield from _letterhead_names(sheet, number)


def _copyright_lines(sheet: Sheet) -> list[int]:
    return sorted(
        _lines_with(sheet, ("©", "copyright", "Copyright", "COPYRIGHT", "(c)", "(C)"))
    )


def _lines_with(sheet: Sheet, signs: Sequence[str]) -> set[int]:
    """Find the lines that hold one of some strings, by plain search."""
    numbers: set[int] = set()
    for sign in signs:
        place = sheet.text.find(sign)
        while place >= 0 and len(numbers) < MAX_HINTS:
            numbers.add(sheet.line_at(place + len(sign) - 1))
            place = sheet.text.find(sign, place + 1)
    return numbers


def _copyright_names(text: str) -> Iterator[tuple[str, Method, float]]:
    match = _COPYRIGHT.search(text)
    if match:
        name = match["name"]
        # "Acme Inc. All rights": the full stop belongs to the legal form.
        legal = _LEGAL_NAME.match(name)
        if legal:
            yield legal[0], Method.COPYRIGHT, 2.5
            return
        cut = _COPYRIGHT_CUT.search(name)
        yield name[: cut.start()] if cut else name, Method.COPYRIGHT, 2.0
    before = _COPYRIGHT_YEAR.search(text)
    if before:
        yield before["name"], Method.COPYRIGHT, 1.5


def _link_names(sheet: Sheet) -> Iterator[tuple[str, Method, float]]:
    for link in sheet.page.links[:60]:
        if link.href in ("/", "./", "index.html", "index.php", "#") and link.text:
            yield link.text, Method.LINK, 0.5


def _legal_names(sheet: Sheet) -> Iterator[tuple[str, Method, float]]:
    given = 0
    words_of_page = sheet.words
    numbers = _lines_with(
        sheet,
        [
            f" {form}"
            for form in _LEGAL_MARKS
            if form.split()[0].rstrip(".") in words_of_page
        ],
    )
    for number in sorted(numbers):
        text = sheet.lines[number].text
        if len(text) > 4000:
            continue
        for match in _LEGAL_NAME.finditer(text):
            if _NOT_A_FIRM.search(match[0]):
                continue
            # "Miss KG" and "Plan AS" are words as often as firms.
            is_short = bool(_SHORT_FORM.search(match[0])) and len(match[0].split()) < 3
            if is_short and "," in match[0]:
                continue
            is_weak = is_short or match[0].endswith("Company")
            yield match[0], Method.LEGAL_FORM, 1.5 if is_weak else 3.0
            given += 1
            if given > MAX_FOUND:
                return
    schools = tuple(hint for hint in _SCHOOLS if hint in sheet.text)
    for line in sheet.lines:
        if len(line.text) < MIN_INSTITUTE:
            continue
        if len(line.text) < 60 and line.tag != "option":
            last = line.text.rstrip(" ,.:").rpartition(" ")[2]
            may_be = last in _TRADES or " of " in line.text
            whole = _INSTITUTE.fullmatch(line.text.rstrip(" ,.:")) if may_be else None
            if whole is not None:
                yield whole[0], Method.LEGAL_FORM, 1.0
                continue
        if len(line.text) < 4000 and any(hint in line.text for hint in schools):
            for match in _INSTITUTE.finditer(line.text):
                if match[0].endswith(_SCHOOLS) or _STATE_BODY.search(match[0]):
                    yield match[0], Method.LEGAL_FORM, 3.0


_CAREER: Final = re.compile(
    r"\b(?:Vice President|VP|EVP|President|C[ETFO]O|[Ff]ounder|Chairman|[Dd]irector|[Mm]anager|"
    r"[Ee]xecutive|[Ee]ngineer|[Pp]artner|positions?|roles?|career)\b"
)
_EMPLOYER: Final = (
    r"(?:[A-Z][\w&/'’-]{0,24}(?:\.com)?)(?:\s(?:&\s|of\s)?[A-Z][\w&/'’-]{0,24}){0,4}"
)
_EMPLOYERS: Final = re.compile(
    rf"\b(?:at|joined|founded) ({_EMPLOYER}(?:, {_EMPLOYER}){{0,5}}(?:,? and {_EMPLOYER})?)"
)


def _employers(sheet: Sheet) -> Iterator[tuple[str, Method, float]]:
    """Nominate where people worked: `was a director at Acme, Bolt and Crane`."""
    given = 0
    for line in sheet.lines:
        text = line.text
        if not MIN_CAREER < len(text) < 4000 or " at " not in text:
            continue
        if not _CAREER.search(text):
            continue
        for match in _EMPLOYERS.finditer(text):
            for name in re.split(r",? and |, ", match[1]):
                yield name, Method.ROLE, 1.0
                given += 1
                if given > MAX_FOUND:
                    return


MIN_INSTITUTE: Final = 6
MIN_CAREER: Final = 200
_SCHOOLS: Final = (
    "University", "College", "School", "Hospital", "Institute", "Clinic", "Department of",
)  # fmt: skip
_STATE_BODY: Final = re.compile(r"\b(?:University|College|Department|Ministry) of ")
_CAPITALS: Final = re.compile(
    r"(?<![\w'’.-])[A-Z0-9][\w'’&-]{0,24}(?:\.(?:com|net|org|co\.uk|de|nl))?"
    r"(?: (?:&|and|of|de|und) (?=[A-Z])| (?=[A-Z]))?"
)


def _kin_names(sheet: Sheet, labels: list[str]) -> Iterator[tuple[str, Method, float]]:
    """Nominate runs of capitalised words that spell the page's domain."""
    wanted = [label for label in labels if len(label) > 3]
    if not wanted:
        return
    starts = {label[:3] for label in wanted}
    votes: Counter[str] = Counter()
    if not any(start in sheet.lower for start in starts):
        return
    for line in sheet.lines:
        if line.tag == "option" or len(line.text) > 3000:
            continue
        low = line.text.lower()
        if not any(start in low for start in starts):
            continue
        for run in _runs(line.text):
            if (name := _spelling(run, wanted)) and name not in votes:
                votes[name] = 0
            if name:
                votes[name] += 1
    for name, count in votes.most_common(6):
        yield name, Method.TEXT, min(1.8, 0.6 + 0.4 * count)


def _runs(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    last = -1
    for match in _CAPITALS.finditer(text):
        if match.start() != last and run:
            yield run
            run = []
        run.append(match[0].strip())
        last = match.end()
        if not match[0].endswith(" "):
            yield run
            run = []
    if run:
        yield run


def _spelling(run: list[str], labels: list[str]) -> str | None:
    """Find the part of a run of words that spells a label, with what follows it."""
    for start in range(min(len(run), 6)):
        compact = ""
        for end in range(start, min(len(run), start + 5)):
            compact += _NON_WORD.sub("", run[end]).casefold()
            for label in labels:
                if compact in (label, f"{label}com") or (
                    len(compact) > 5
                    and label.startswith(compact)
                    and len(compact) >= 0.7 * len(label)
                ):
                    return " ".join(run[start : _name_end(run, end)])
    return None


def _name_end(run: list[str], end: int) -> int:
    """Add the words after a spelled label that name a trade: Prism Flow Products."""
    for stop in range(min(len(run), end + 4), end + 1, -1):
        if _INSTITUTE.fullmatch(" ".join(run[max(0, end - 1) : stop])):
            return stop
    return end + 1


def _letterhead_names(sheet: Sheet, number: int) -> Iterator[tuple[str, Method, float]]:
    """Nominate the first line of the block an address stands in."""
    chain = sheet.ancestors(number, 2)
    for above in range(number - 1, max(-1, number - 5), -1):
        line = sheet.lines[above]
        if len(line.text) > 60 or not set(sheet.ancestors(above, 2)) & set(chain):
            break
        if re.search(r"\d{3}|:|@", line.text):
            break
        yield line.text, Method.LETTERHEAD, 1.6 if above == number - 1 else 1.2


@dataclass(slots=True)
class _Candidate:
    key: str
    names: Counter[str] = field(default_factory=Counter)
    methods: dict[Method, float] = field(default_factory=dict)
    kinship: float = 0.0
    mentions: int = 0
    score: float = 0.0
    chance: float = 0.0

    @property
    def name(self) -> str:
        """Give the spelling seen in most places, the shortest of several."""
        return max(self.names, key=lambda n: (self.names[n], -len(n)))


class _Ballot:
    """Counts the votes for each name."""

    def __init__(self, sheet: Sheet, labels: list[str]) -> None:
        self.sheet = sheet
        self.labels = labels
        self.candidates: dict[str, _Candidate] = {}

    def add(self, name: str, method: Method, weight: float) -> None:
        """Give a vote to a name, once per method."""
        name = _tidy(name)
        if not is_name(name):
            return
        key = bare_name(name)
        candidate = self.candidates.setdefault(key, _Candidate(key))
        candidate.names[name] += 1
        candidate.methods[method] = max(candidate.methods.get(method, 0.0), weight)

    def result(self) -> list[Found]:
        """Give the names that won, best first."""
        ranked = self._ranked()
        for place, candidate in enumerate(ranked):
            candidate.chance = self._chance(place, candidate, ranked)
        won = [
            candidate
            for place, candidate in enumerate(ranked[:MAX_RANKED])
            if candidate.chance >= ENOUGH or (place == 0 and candidate.score >= ALONE)
        ]
        # Where people worked before is sure to be a firm, but not the page's own.
        won.sort(key=lambda c: (set(c.methods) == {Method.ROLE}, -c.chance))
        return [self._found(candidate) for candidate in won[:MAX_FOUND]]

    def _ranked(self) -> list[_Candidate]:
        low = self.sheet.lower[:200_000]
        for key, candidate in self.candidates.items():
            candidate.kinship = max(
                (_kinship(key, label) for label in self.labels), default=0.0
            )
            spoken = _ARTICLE.sub("", _LEGAL_END.sub("", candidate.name)).lower()
            candidate.mentions = low.count(spoken) if len(key) > 3 else 0
            candidate.score = (
                sum(candidate.methods.values())
                + 2.5 * candidate.kinship
                + min(1.0, 0.25 * candidate.mentions)
            )
        ranked = [c for c in self.candidates.values() if c.key]
        return sorted(ranked, key=lambda c: (-c.score, c.key))

    def _chance(
        self, place: int, candidate: _Candidate, ranked: list[_Candidate]
    ) -> float:
        """Weigh what speaks for a name and against it."""
        total = _WEIGHTS["always"]
        for trait, value in self.traits(place, candidate, ranked).items():
            total += _WEIGHTS[trait] * value
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def traits(
        self, place: int, candidate: _Candidate, ranked: list[_Candidate]
    ) -> dict[str, float]:
        """Describe a name by numbers between 0 and 1, most of them 0."""
        methods = candidate.methods
        legal = methods.get(Method.LEGAL_FORM, 0.0)
        key, name = candidate.key, candidate.name
        parts = key.split()
        long = [p for p in parts if len(p) > 2]
        better = ranked[: min(place, MAX_BETTER)]
        found: dict[str, float] = {
            "title": Method.TITLE in methods,
            "meta": Method.META in methods,
            "logo": Method.LOGO in methods,
            "copyright": Method.COPYRIGHT in methods,
            "letterhead": Method.LETTERHEAD in methods,
            "above_address": methods.get(Method.LETTERHEAD, 0.0) > 1.5,
            "spelled": Method.TEXT in methods,
            "employer": Method.ROLE in methods,
            "stated": any(m in methods for m in _STATED),
            "legal": legal >= 3.0,
            "short_form": legal == 1.5,
            "trade": legal == 1.0,
            "form": is_legal_name(name),
            "kin": candidate.kinship,
            "same_as_domain": candidate.kinship == 1.0,
            "mentions": min(1.0, math.log1p(candidate.mentions) / 3.0),
            "first": place == 0,
            "one_word": len(parts) == 1,
            "many_words": len(parts) > 5,
            "plain": (
                sum(p in self.sheet.words for p in long) / len(long) if long else 0.0
            ),
            "camel": bool(_CAMEL.search(name)),
            "shouted": name.isupper() and len(name) > 3,
            "domain": "." in name.rstrip("."),
            "part_of_better": any(f" {key} " in f" {b.key} " for b in better),
            "more_than_better": any(f" {b.key} " in f" {key} " for b in better),
        }
        return found | self._traits_of_place(name)

    def _traits_of_place(self, name: str) -> dict[str, float]:
        text = self.sheet.text
        seen: list[Line] = []
        start = text.find(name)
        while start >= 0 and len(seen) < MAX_PLACES:
            seen.append(self.sheet.lines[self.sheet.line_at(start)])
            start = text.find(name, start + len(name))
        if not seen:
            return {"unseen": 1.0}
        most = len(name) + 2
        return {
            "whole_line": all(len(line.text) <= most for line in seen),
            "prose": any(len(line.text) > MAX_PROSE for line in seen),
            "in_list": all(line.tag in ("li", "option") for line in seen),
            "in_nav": all(line.region == "nav" for line in seen),
        }

    def _found(self, candidate: _Candidate) -> Found:
        name = candidate.name
        start = self.sheet.text.find(name)
        method = max(candidate.methods, key=lambda m: candidate.methods[m])
        has_place = start >= 0
        return Found(
            key=candidate.key,
            value=name,
            method=method,
            line=self.sheet.line_at(start) if has_place else -1,
            start=max(start, 0),
            end=start + len(name) if has_place else 0,
            snippet=self.sheet.snippet(start, start + len(name)) if has_place else name,
            details={
                "chance": f"{candidate.chance:.3f}",
                "also": "|".join(self._spellings(candidate)) or None,
            },
        )

    def _spellings(self, candidate: _Candidate) -> list[str]:
        """Give the name with its legal form, or without, if the page writes both."""
        kept = [set(_words_of(candidate.name))]
        also = []
        for name in sorted(candidate.names, key=lambda n: -candidate.names[n]):
            mine = set(_words_of(name))
            if mine not in kept and name in self.sheet.text:
                kept.append(mine)
                also.append(name)
        return also[:MAX_SPELLINGS]


def _words_of(name: str) -> list[str]:
    return _NON_WORD.sub(" ", name.casefold()).split()


_LOOSE_START: Final = re.compile(
    r"^(?:(?:by|and|of|at|from|y|i|e|et|und|&|\(Pty\))\s+)+"
)
_TWICE: Final = re.compile(r"^(\w{3,30}) \1$")


def _tidy(name: str) -> str:
    name = clean(name[:200]).strip(" \t-–—|:;,.•·»«>\"“”'‘’*!?")
    name = _GENERIC_START.sub("", name)
    name = _GENERIC_END.sub("", name)
    name = _LOOSE_START.sub("", name)
    name = _TWICE.sub(r"\1", name)
    name = name.strip(" -–—|:;,•·»«>\"“”'‘’*®™©!?")
    name = re.sub(r"[®™©]", "", name)
    return re.sub(r"^(?:19|20)\d\d(?:\s?[-–]\s?(?:19|20)?\d\d)?\s+", "", name).strip()


_MAKER: Final = re.compile(
    r"(?:(?:web ?)?site|web design|design(?:ed)?|powered|hosted|developed|created) by\b",
    re.IGNORECASE,
)
_FOREIGN_SIGNS: Final = ("@", "http", "www.", "|", "»", "::", " > ")


@lru_cache(maxsize=4096)
def is_name(name: str) -> bool:
    """Say whether a text could be the name of an organisation."""
    if not 2 <= len(name) <= MAX_NAME or not any(c.isalpha() for c in name):
        return False
    parts = name.split()
    if len(parts) > MAX_WORDS or any(sign in name for sign in _FOREIGN_SIGNS):
        return False
    if name.casefold() in country_names() or _MAKER.match(name):
        return False
    low = [p.strip(".,&'’()-!?:").casefold() for p in parts]
    if all(p in _GENERIC or not p for p in low):
        return False
    if sum(c.isdigit() for c in name) > len(name) / 3:
        return False
    first = name[0]
    if not (
        first.isupper() or first.isdigit() or not first.isascii() or "." in name[1:-1]
    ):
        # iPhone and ioSafe are names, a sentence in lower case is none.
        return len(parts) <= 2 and any(c.isupper() for c in name)
    if parts[-1].rstrip(".") in _SMALL_FORMS:
        parts.pop()
    capital = sum(
        1 for p in parts if p[:1].isupper() or p[:1].isdigit() or p.lower() in _SMALL
    )
    return capital >= 0.7 * len(parts)


_SMALL_FORMS: Final = words("inc llc ltd plc")
_SMALL: Final = words(
    "of the and & for de la du der die das und von y e et van a in by to at on - des del i og och"
)


def _site_labels(sheet: Sheet, url: str, mail_domains: Counter[str]) -> list[str]:
    """Give the names in the page's domain and in its mail addresses, without endings."""
    hosts = []
    canonical = next(
        (h.href for h in sheet.page.head_links if h.rel == "canonical"), ""
    )
    for address in (url, canonical, sheet.page.meta("og:url"), sheet.page.base):
        try:
            hosts.append(urlsplit(address).hostname or "")
        except ValueError:
            continue
    hosts += [
        d for d, _ in mail_domains.most_common(2) if not is_listed(d, "free_mail")
    ]
    labels = []
    for host in hosts:
        domain = registrable_domain(host.lower()) if host else None
        label = (domain or "").partition(".")[0].replace("-", "")
        if len(label) > 1 and label not in labels:
            labels.append(label)
    return labels


def _kinship(key: str, label: str) -> float:
    """Say from 0 to 1 how much a name looks like a domain."""
    compact = (
        key.replace(" ", "")
        if key.isascii()
        else key.replace(" ", "").translate(_UMLAUTS)
    )
    if compact == label:
        return 1.0
    parts = key.split()
    if len(compact) > 3 and len(label) > 3 and (compact in label or label in compact):
        return max(0.4, min(len(compact), len(label)) / max(len(compact), len(label)))
    if len(parts) > 1 and "".join(p[0] for p in parts) == label:
        return 0.7
    covered = sum(len(p) for p in parts if len(p) > 2 and p in label)
    share = covered / max(len(label), len(compact))
    return share if share >= 0.5 else 0.0


_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "è": "e", "á": "a", "ó": "o",
     "í": "i", "ç": "c", "ñ": "n", "å": "a", "ø": "o", "æ": "ae", "ê": "e", "à": "a"}
)  # fmt: skip
