"""Find people and what they do.

A person is a run of capitalised words that begins with a known given name, or that
stands beside a role or an honorific. Streets, schools and firms named after people
are told apart by the word that follows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from scrapersky.extraction import wordlist
from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.place import country_names
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.html import words

MAX_FOUND: Final = 300
MAX_RUNS: Final = 20_000
MAX_ROLE: Final = 90
MAX_SHORT: Final = 70


def find_people(
    sheet: Sheet,
    organisations: frozenset[str] = frozenset(),
    reachable: frozenset[int] = frozenset(),
) -> list[Found]:
    """Find people of a page.

    `organisations` are folded names that are firms, `reachable` the lines that hold a
    telephone number or an e-mail address.
    """
    found: list[Found] = []
    page = _Page(sheet, organisations, reachable)
    given = _given()
    text = sheet.visible_text
    for count, run in enumerate(_RUN.finditer(text)):
        if count > MAX_RUNS or len(found) >= MAX_FOUND:
            break
        at_start = run.start() == 0 or text[run.start() - 1] in "\n:-–|•("
        # Most runs of capitals are titles and menus: a look at each word rules them out.
        if not at_start and not any(
            word in given or word in _HONORIFIC for word in run[0].casefold().split()
        ):
            continue
        number = sheet.line_at(run.start())
        line = sheet.lines[number]
        if line.tag != "option" and len(line.text) <= 5000:
            found += _in_run(page, number, run)
    return found


def role_in(text: str) -> str | None:
    """Give a text back if it reads as a role and nothing more."""
    text = text.strip(" ,.;:|–—-()\u2022")
    if not 2 < len(text) <= MAX_ROLE or "@" in text or re.search(r"\d{3}", text):
        return None
    if len(text.split()) > 10 or not _role_pattern().search(text):
        return None
    if _SENTENCE.search(text):
        return None
    return text


def looks_like_person(name: str) -> bool:
    """Say whether a name given by structured data begins as people's names do."""
    tokens = [
        t for t in name.split() if t not in ("Dr.", "Prof.", "Mr.", "Mrs.", "Ms.")
    ]
    return 2 <= len(tokens) <= 4 and tokens[0].casefold() in _given()


def has_role_word(text: str) -> bool:
    """Say whether one of the words of a text is a role."""
    roles = wordlist.load("roles")
    return any(word.strip(".,()") in roles for word in text.casefold().split())


_UPPER: Final = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĘĚĞĢĪĮİĶŁĹĻŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽȘȚ"
_WORD: Final = rf"[{_UPPER}](?:[\w'’-]{{1,20}}|\.(?= ?[{_UPPER}]))"
_PARTICLE: Final = r"(?:van|von|de|der|den|da|di|do|dos|del|della|la|le|du|zu|af|av|bin|al|ten|ter|y|e)"
_RUN: Final = re.compile(
    # The set comes first so that the matcher can skip; what stands before is checked next.
    rf"[{_UPPER}](?<![\w@/.].)(?<!\w-.)(?:[\w'’-]{{1,20}}|\.(?= ?[{_UPPER}]))(?: (?:{_WORD}|{_PARTICLE}(?= )|\([{_UPPER}][a-z]{{1,12}}\)|[“\"][{_UPPER}][a-z]{{1,12}}[”\"])){{1,7}}"
)
_HONORIFIC: Final = words(
    "dr dr. prof prof. mr mr. mrs mrs. ms ms. miss herr frau hr hr. fr. mag mag. ra ing "
    "ing. dott dott. dott.ssa avv avv. sr sr. sra sra. srta mme mlle m. rev rev. reverend "
    "sir lady hon hon. dipl.-ing dipl.-ing. rechtsanwalt rechtsanwältin doc. mgr mgr. judr "
    "mudr mvdr bc bc. ir ir. drs drs. dhr dhr. mevr mevr. maître me doctor professor "
    "captain pastor father señor señora doña"
)
_AMBIGUOUS: Final = words(
    "will mark may april june august grace hope rose faith joy dallas austin chase jordan "
    "georgia virginia carolina florence victoria charlotte madison savannah lincoln "
    "jackson houston art bill rich gene sunny dean chester lee van grant brook brooke dale "
    "glen clay cliff rusty woody pat earl drew max ray sydney paris chelsea devon kent "
    "clinton carson carter mason hunter tucker taylor harvey dot opal pearl ruby amber "
    "ginger heather iris ivy jade jasmine lily olive violet summer autumn dawn eve star "
    "angel christian domingo santiago leon diego francisco antonio angeles rosa cruz bo "
    "guy rob skip ada min long yong young hong li mei lan gal beat love ali noor do page "
    "sterling price miles reed baker forrest wade stone spencer preston franklin marina "
    "melody crystal destiny harmony sierra dakota phoenix holly misty sandy dolly penny "
    "jack terry kim tommy tracy aurora luz paloma soledad consuelo mercedes regina major "
    "sara della gloria lorena luna alba nova vera"
)
_HARD: Final = words(
    "street st. st avenue ave ave. road rd rd. drive dr lane boulevard blvd way court place "
    "parkway highway square university college school academy institute hospital clinic "
    "center centre museum library church cathedral park county airport station hall tower "
    "building house hotel inn lodge suites restaurant cafe bar grill pizza pizzeria bakery "
    "inc inc. llc ltd ltd. limited corp corp. corporation company co co. gmbh ag & group "
    "holdings associates foundation association society trust fund bank insurance "
    "securities records music band orchestra realty estate homes properties construction "
    "builders roofing plumbing furniture design designs studio studios gallery media "
    "press news times post journal magazine books shop store market mall plaza products "
    "services solutions systems technologies technology industries international "
    "enterprises consulting partners motors auto automotive dental dentistry dermatology "
    "medical veterinary animal law legal award awards prize cup league club team stadium "
    "arena theatre theater festival day week month year beach island lake river mountain "
    "valley hills heights springs creek bay harbor harbour city town village township "
    "state republic kingdom states collection series edition model dress shirt jeans shoes "
    "straße strasse platz weg allee straat laan plein gatan road's blvd. circle box pricing"
)
_SOFT: Final = words(
    "the a an and or of for to in on at by with from is was are has have had will can may "
    "your our my we you he she it they his her its their this that these those here there "
    "contact call email e-mail phone tel fax mobile cell office home about us more read "
    "click view visit join follow today now new free all welcome copyright rights reserved "
    "privacy policy terms sitemap menu search login cart news blog january february march "
    "april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday mon tue wed thu fri sat sun feb mar apr jun jul "
    "aug sep sept oct nov dec president director manager owner founder ceo cfo coo cto "
    "chairman vice senior junior executive assistant associate attorney principal "
    "secretary treasurer coordinator partner broker agent designer engineer consultant "
    "general managing chief head sales marketing customer service account project office "
    "licensed certified registered independent team member members board staff photo image "
    "am pm north south east west usa uk texas california florida york london paris berlin "
    "said says writes wrote posted posts reply report share like tweet what when where why "
    "how who no not yes but if so as be do does did get got go see make made kontakt "
    "telefon mobil adresse geschäftsführer inhaber inhaberin impressum herr frau und oder "
    "der die das vom zum zur für mit von iva tva btw ust cif nif nip siret siren kvk"
)
_SENTENCE: Final = re.compile(
    r"[.!?]\s+[A-Z]|\b(?:is|are|was|were|has|have|will|please|click|our|your|we|you|they|"
    r"with over|joined|contact|call|email)\b",
    re.IGNORECASE,
)
_SUFFIX: Final = re.compile(
    r"^,?\s(?:Jr|Sr|II|III|IV|M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?O|D\.?C|R\.?N|"
    r"C\.?P\.?A|Esq(?:uire)?|MBA|CFP|CKD|AIA|LL\.?M|J\.?D|MBChB|FRCS|BDS|MSc|BSc|BA|MA|LCSW|"
    r"PE|RPh|O\.?D|MP|MEP|QC|KC|OBE|CBE|MBE|FRICS|RIBA)\b\.?(?![\w-])"
)


@cache
def _given() -> frozenset[str]:
    return wordlist.load_words("given_names")


@cache
def _role_pattern() -> re.Pattern[str]:
    roles = sorted(wordlist.load("roles"), key=len, reverse=True)
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, roles))})(?!\w)", re.IGNORECASE
    )


@dataclass(frozen=True)
class _Page:
    sheet: Sheet
    organisations: frozenset[str]
    reachable: frozenset[int]

    def is_plain(self, name: str) -> bool:
        """Say whether a word of a name is an ordinary word of this page."""
        text = self.sheet.text
        parts = re.split(r"[\s-]", name.casefold())
        return any(len(p) > 2 and _is_word_of(p.strip(".,"), text) for p in parts)


_BEFORE_WORD: Final = re.compile(r"[\w@./'’-]")
# The "grace" of grace.lockhart@acme.com is a name, not a word.
_AFTER_WORD: Final = re.compile(r"[\w@]|\.\w")
MAX_LOOKS: Final = 20


def _is_word_of(word: str, text: str) -> bool:
    """Say whether a text writes a word in lower case, standing by itself."""
    place = text.find(word) if word else -1
    for _ in range(MAX_LOOKS):
        if place < 0:
            return False
        before = text[place - 1 : place] if place else ""
        end = place + len(word)
        if not _BEFORE_WORD.match(before) and not _AFTER_WORD.match(text, end):
            return True
        place = text.find(word, end)
    return False


def _in_run(page: _Page, number: int, run: re.Match[str]) -> Iterator[Found]:
    sheet = page.sheet
    text = sheet.lines[number].text
    base = sheet.starts[number]
    for start, stop, has_given, has_title in _names_in_run(run, base):
        suffix = _SUFFIX.match(text[stop:])
        end = stop + (suffix.end() if suffix else 0)
        name = text[start:end]
        role = _role_near(sheet, number, start, end)
        is_alone = _is_alone(text, start, end)
        context = _Context(role, is_alone, has_given, has_title)
        if not _is_supported(page, number, name, context):
            continue
        if role is None and name.casefold() in page.organisations:
            continue
        if _is_place_or_role(name, has_given=has_given):
            continue
        method = Method.ROLE if role else Method.NAME_LIST
        if has_title and not role:
            method = Method.TITLE_OF_ADDRESS
        yield Found(
            key=_key(name),
            value=name.strip(" ,"),
            method=method,
            line=number,
            start=base + start,
            end=base + end,
            snippet=sheet.snippet(base + start, base + end),
            details={"role": role, "alone": "yes" if is_alone else None},
        )


def _is_place_or_role(name: str, *, has_given: bool) -> bool:
    """Tell `Hong Kong` and `Front-Office Administrator` from a name."""
    folded = name.casefold().strip(" ,.")
    last = folded.rpartition(" ")[2]
    if folded in country_names() or last in _LAST_OF_ROLES:
        return True
    # Michael Jordan is a person, Roosendaal Nederland is none.
    return not has_given and last in country_names()


_LAST_OF_ROLES: Final = words(
    "administrator administration assistance assistant manager director officer "
    "representative coordinator specialist supervisor receptionist technician"
)


@dataclass(frozen=True, slots=True)
class _Context:
    role: str | None
    is_alone: bool
    has_given: bool
    has_title: bool


def _is_supported(page: _Page, number: int, name: str, context: _Context) -> bool:
    parts = name.split()
    first = parts[0].casefold().strip(".")
    surname = parts[-1] if not parts[-1].endswith(".") else parts[1]
    if context.has_title:
        return not page.is_plain(surname)
    is_shouted = name.isupper()
    if context.has_given and first not in _AMBIGUOUS:
        if is_shouted:
            return context.is_alone and not page.is_plain(name)
        return context.role is not None or not page.is_plain(surname)
    if not context.is_alone or is_shouted or page.is_plain(name):
        return False
    if len(parts) > 3 or any(p.casefold().strip(",.") in _NOT_NAMES for p in parts):
        return False
    if context.has_given:
        return (
            context.role is not None
            or first in _RARELY
            or _goes_on(page, number, parts[0])
            or bool({number + 1, number + 2, number + 3} & page.reachable)
        )
    if len(first) == 1:
        return len(page.sheet.lines[number].text) < MAX_SHORT
    if context.role is not None or _goes_on(page, number, parts[0]):
        return True
    near = {number + 1, number + 2, number + 3} & page.reachable
    return bool(near) and page.sheet.lines[number].tag in _NAME_TAGS and len(parts) == 2


_NAME_TAGS: Final = words("h2 h3 h4 h5 h6 td dt")
_NOT_NAMES: Final = words(
    "overview information application portfolio contacts customers card cards info chart "
    "address works details online page pages links articles resources gallery events "
    "hours directions map locations location reviews review guide tips faq quote request "
    "form video videos photos pictures payment payments shipping delivery returns order "
    "orders account register history mission vision values story careers jobs job "
    "support help center corporate headquarters sales department departments division "
    "branch main toll number line hotline reception billing technical general mailing "
    "shipping physical postal international customer relations human quality health "
    "safety security privacy media public investor internet social network networks"
)


def _goes_on(page: _Page, number: int, first: str) -> bool:
    """Say whether the next line tells about the person: `Dana Wu` / `Dana is ...`."""
    lines = page.sheet.lines
    return any(
        lines[near].text.startswith(f"{first} ") and len(lines[near].text) > MAX_SHORT
        for near in (number + 1, number + 2)
        if near < len(lines)
    )


# Given names that double as words, yet alone on a line are nearly always people.
_RARELY: Final = words(
    "bill mark rob guy pat drew ray max dale glen lee kim terry tracy jack tommy"
)


def _names_in_run(
    run: re.Match[str], base: int
) -> Iterator[tuple[int, int, bool, bool]]:
    """Yield start, end, whether it begins with a given name, and with an honorific."""
    offset = run.start() - base
    tokens = [
        (m.start() + offset, m.end() + offset, m[0])
        for m in re.finditer(r"\S+", run[0])
    ]
    place = 0
    while place < len(tokens):
        word = tokens[place][2].casefold()
        has_title = False
        while word in _HONORIFIC and place + 1 < len(tokens):
            has_title = True
            place += 1
            word = tokens[place][2].casefold()
        has_given = word.strip(".,") in _given() or (
            _is_initial(tokens[place][2])
            and place + 1 < len(tokens)
            and tokens[place + 1][2].casefold() in _given()
        )
        is_start = place == 0 and len(tokens) <= 3
        if (
            (has_given or has_title or is_start)
            and word not in _SOFT
            and word not in _HARD
            # The "y" of "Galindo y Duarte" is no initial.
            and not tokens[place][2][0].islower()
        ):
            stop = _name_stop(tokens, place)
            if stop:
                yield tokens[place][0], tokens[stop][1], has_given, has_title
                place = stop + 1
                continue
        place += 1


def _name_stop(tokens: list[tuple[int, int, str]], place: int) -> int | None:
    """Give the number of the last word of a name that starts at `place`, or None."""
    last = place
    for number in range(place + 1, min(len(tokens), place + 5)):
        word = tokens[number][2]
        folded = word.casefold().strip(",")
        if folded in _HARD or (folded.endswith("s") and folded[:-1] in _HARD):
            return None
        if folded in _SOFT and not _is_initial(word):
            break
        is_given = folded in _given() and folded not in _AMBIGUOUS
        # "Jan Kral Petr Novak" are two people, "John Leo Hayden" is one.
        if last > place and not _is_initial(tokens[last][2]) and not word[0].islower():
            follows_given = tokens[last][2].casefold() in _given()
            if is_given:
                break
            if not (follows_given or tokens[last][2][0].islower()):
                # "Joan Marsh Community Center" is a place.
                ahead = [
                    t[2].casefold().strip(",") for t in tokens[number : number + 3]
                ]
                if any(word in _HARD for word in ahead):
                    return None
                break
        if (
            word.isupper() != tokens[place][2].isupper()
            and len(word) > 2
            and not (_is_initial(tokens[place][2]))
        ):
            break
        last = number
    while last > place and (
        _is_initial(tokens[last][2])
        or tokens[last][2][0].islower()
        or "(" in tokens[last][2]
    ):
        last -= 1
    return last if last > place else None


def _is_initial(word: str) -> bool:
    return len(word.strip(".")) == 1


def _is_alone(text: str, start: int, end: int) -> bool:
    before = text[:start].strip()
    after = text[end:].strip()
    return (not before or before[-1] in ":|-–—•(/") and (
        not after or after[0] in ",:|-–—•(/)" or len(text) < end - start + 4
    )


def _role_near(sheet: Sheet, number: int, start: int, end: int) -> str | None:
    text = sheet.lines[number].text
    after = text[end : end + MAX_ROLE + 10]
    cut = _AFTER.match(after)
    if cut and (role := role_in(_first_clause(cut[1]))):
        return role
    before = text[max(0, start - 60) : start]
    label = _BEFORE.search(before)
    if label and (role := role_in(label[1])):
        return role
    if not _is_alone(text, start, end):
        return None
    if not after.strip(" ,:|–—-"):
        for near in (number + 1, number - 1):
            if 0 <= near < len(sheet.lines):
                line = sheet.lines[near].text
                if len(line) <= MAX_SHORT and (role := role_in(line)):
                    return role
    return None


_AFTER: Final = re.compile(r"^\s?[,:|–—(/-]\s?(.{3,100})")
_BEFORE: Final = re.compile(r"(?:^|[.;|•(]\s?)([^.;|•(]{3,50}?)\s?[:–—-]?\s?$")


def _first_clause(text: str) -> str:
    return re.split(r"[;|•()]|\s[-–—]\s|\.\s|,\s(?=[a-z]+\s)|\s{2}", text)[0]


def _key(name: str) -> str:
    bare = _SUFFIX_ANY.sub("", name)
    return re.sub(r"[\W_]+", " ", bare.casefold()).strip()


_SUFFIX_ANY: Final = re.compile(r",.*$|\s(?:M\.?D|Ph\.?D|Jr|Sr|Esq)\.?$")
