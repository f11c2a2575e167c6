"""What a name looks like: tidied, folded, and separated from slogans and menus."""

import re
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.organisation.legal import without_form
from contact_extraction.contacts.place import country_names
from contact_extraction.html import clean, words
from contact_extraction.text import small

MAX_NAME: Final = 80
MAX_WORDS: Final = 9


@lru_cache(4_096)
def bare_name(name: str) -> str:
    """Fold a name for comparison: no legal form, article, case or punctuation."""
    name = without_form(name.strip(" .,"))
    name = _ARTICLE.sub("", name)
    return _NON_WORD.sub(" ", name.casefold()).strip()


def words_of(name: str) -> list[str]:
    """Give the words of a name, folded, its legal form among them."""
    return _NON_WORD.sub(" ", name.casefold()).split()


@lru_cache(4_096)
def spoken_name(name: str) -> str:
    """Give a name as people say it, in lower case: no article, no legal form."""
    return _ARTICLE.sub("", without_form(name)).lower()


@lru_cache(4_096)
def tidy_name(name: str) -> str:
    """Take off what surrounds a name: greetings, years, signs, `logo`, `home`."""
    name = clean(name[:200]).strip(" \t-–—|:;,.•·»«>\"“”'‘’*!?")
    name = _SPACED_OUT.sub(lambda letters: letters[0].replace(" ", ""), name)
    name = _GENERIC_START.sub("", name)
    low = small(name)
    if any(end in low for end in _ENDS):
        name = _GENERIC_END.sub("", name)
    name = _LOOSE_START.sub("", name)
    name = _TWICE.sub(r"\1", name)
    name = name.strip(" -–—|:;,•·»«>\"“”'‘’*®™©!?")
    name = _MARKS.sub("", name)
    if name.endswith(")") and "(" not in name:
        name = name[:-1]
    return _YEARS.sub("", name).strip()


_MARKS: Final = re.compile("[®™©]")
# "H A R T  Gardens": a design, not initials; those have full stops or are fewer.
_SPACED_OUT: Final = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_]){3,}(?!\S)")


def core_name(name: str) -> str:
    """Give a name without the words of a menu after it: `Acme Contact Us` is Acme."""
    parts = name.split()
    while len(parts) > 1 and _folded(parts[-1]) in _TRAILING:
        parts.pop()
    return " ".join(parts)


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
    if generic_share(name) == 1.0:
        return False
    if sum(c.isdigit() for c in name) > len(name) / 3:
        return False
    first = name[0]
    if not (
        first.isupper() or first.isdigit() or not first.isascii() or "." in name[1:-1]
    ):
        # iPhone and ioSafe are names, a sentence in lower case is none.
        return len(parts) <= 2 and any(c.isupper() for c in name)
    if len(parts) == 1 and "." in name[1:-1]:
        return True
    parts = without_form(name).split()
    capital = sum(
        p[:1].isupper() or p[:1].isdigit() or p[:1] == "(" or p.lower() in _SMALL
        for p in parts
    )
    return capital >= 0.7 * len(parts)


def generic_share(name: str) -> float:
    """Give the share of a name's words that any page has: `home`, `contact`, `our`."""
    folded = [_folded(p) for p in name.split()]
    parts = [p for p in folded if p and p not in _SMALL]
    return sum(p in _GENERIC for p in parts) / len(parts) if parts else 1.0


def is_district(name: str) -> bool:
    """Say whether the last word of a name is that of a street or a part of a town."""
    return name.rpartition(" ")[2].strip(".,").casefold() in _DISTRICT


def has_generic_end(name: str) -> bool:
    """Say whether the last word of a name is an office or a menu's: `Sales Office`."""
    last = _folded(name.rpartition(" ")[2])
    return last in _GENERIC or last in _GENERIC_LAST


def _folded(word: str) -> str:
    return word.strip(".,&'’()-!?:").casefold()


_DISTRICT: Final = words(
    "street avenue road drive lane boulevard blvd ave rd st circle square side plaza park "
    "village heights hills beach island bay lake river valley harbor harbour north south "
    "east west downtown uptown midtown county tower building floor suite room "
    "airport mall station straße strasse platz straat plein"
)
_GENERIC_LAST: Final = words(
    "headquarters hq department departments care relations inquiries enquiries desk division "
    "branch campus building floor suite side area directions reviews events "
    "guide tips gallery reservations billing sales marketing administration admissions "
    "reception delivery shipping orders returns parts specials inventory financing rentals "
    "videos photos resources links forms downloads programs features options benefits"
)
_YEARS: Final = re.compile(r"^(?:(?:19|20)\d\d(?:\s?[-–]\s?(?:19|20)?\d\d)?)+\s+")
_NON_WORD: Final = re.compile(r"[\W_]+")
_ARTICLE: Final = re.compile(
    r"^(?:the|die|der|das|le|la|les|el|los|il|de|het)\s", re.IGNORECASE
)
_LOOSE_START: Final = re.compile(
    r"^(?:(?:by|and|of|at|from|y|i|e|et|und|&|\(Pty\))\s+)+"
)
_TWICE: Final = re.compile(r"^(\w{3,30}) \1$")
_MAKER: Final = re.compile(
    r"(?:(?:web ?)?site|web design|design(?:ed)?|powered|hosted|developed|created) by\b",
    re.IGNORECASE,
)
_FOREIGN_SIGNS: Final = ("@", "http", "www.", "|", "»", "::", " > ")
_SMALL: Final = words(
    "of the and & for de la du der die das und von y e et van a in by to at on - des del i og och"
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
    "quote request form feedback customer service account cart checkout sign up register "
    "corporate headquarters hq care client clients reviews directions"
)
_TRAILING: Final = _GENERIC | _SMALL
_GENERIC_START: Final = re.compile(
    r"^(?:welcome to|welcome|willkommen bei|willkommen|bienvenue (?:chez|à|sur)|"
    r"bienvenidos? a|benvenuti (?:da|in|su)|welkom bij|contact(?: us)?(?: -| at)?|about|"
    r"home(?: page)? (?:of|-)|the official (?:web)?site of|official (?:web)?site of|"
    r"kontakt(?: -)?|impressum(?: -)?|copyright|logo (?:of|der|von)|return to|visit|go to|"
    r"back to|home ?-)\s+",
    re.IGNORECASE,
)
# One of these is in every text of which the pattern takes something off.
_ENDS: Final = (
    "logo", "copyright", "home", "site", "reserved", "vorbehalten", "réservés",
    "todos", "diritti", "prawa", "práva",
)  # fmt: skip
_GENERIC_END: Final = re.compile(
    r"\s*(?:logo(?:type)?|copyright|home ?page|home|official (?:web)?site|website|web site|"
    r"all rights reserved.*|alle rechte vorbehalten.*|tous droits réservés.*|"
    r"todos los derechos.*|todos os direitos.*|tutti i diritti.*|alle rechten voorbehouden.*|"
    r"wszelkie prawa.*|všechna práva.*)\W*$",
    re.IGNORECASE,
)
