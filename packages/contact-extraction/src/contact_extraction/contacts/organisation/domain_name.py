"""Names that look like the site's domain, and the runs of words that spell it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.contacts.organisation.institution import is_trade_name
from contact_extraction.contacts.organisation.source import NameSource, Nomination
from contact_extraction.contacts.page_text import PageText
from contact_extraction.email_quality import is_listed
from contact_extraction.urls import registrable_domain

MAX_LINE: Final = 3000
MAX_SPELLINGS: Final = 6


def site_labels(sheet: PageText, url: str, mail_domains: Counter[str]) -> list[str]:
    """Give the page's domain and that of its mail, as written, without endings."""
    hosts = []
    canonical = next(
        (h.href for h in sheet.page.head_links if h.rel == "canonical"), ""
    )
    for address in (url, canonical, sheet.page.meta("og:url"), sheet.page.base):
        try:
            hosts.append(urlsplit(address).hostname or "")
        except ValueError:
            continue
    if not any(hosts):
        hosts += _linked_hosts(sheet)
    hosts += [
        d for d, _ in mail_domains.most_common(2) if not is_listed(d, "free_mail")
    ]
    labels = []
    for host in hosts:
        domain = registrable_domain(host.lower()) if host else None
        label = (domain or "").partition(".")[0]
        if len(label) > 1 and label not in labels:
            labels.append(label)
    return labels


def _linked_hosts(sheet: PageText) -> list[str]:
    """Give the host most links go to: a page saved without its address still says it."""
    seen: Counter[str] = Counter()
    for link in sheet.page.links:
        if link.href[:4].lower() == "http":
            seen[link.href[:200].lower().partition("//")[2].partition("/")[0]] += 1
    return [host for host, count in seen.most_common(1) if count >= MIN_LINKS]


MIN_LINKS: Final = 4


# Pages of a site name the same firms, and have one domain.
@lru_cache(4_096)
def domain_similarity(key: str, label: str) -> float:
    """Say from 0 to 1 how much a folded name looks like a domain."""
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


def kin_names(sheet: PageText, labels: list[str]) -> Iterator[Nomination]:
    """Nominate runs of capitalised words that spell the page's domain."""
    wanted = tuple(label for label in labels if len(label) > 3)
    starts = {label[:3] for label in wanted}
    votes: Counter[str] = Counter()
    for number in sorted(_capitalised(sheet, starts)):
        line = sheet.lines[number]
        if line.tag == "option" or len(line.text) > MAX_LINE:
            continue
        for run in runs(line.text):
            if name := _spelling(tuple(run[:MAX_READ]), wanted):
                votes[name] += 1
    for name in _small_spellings(sheet, wanted) if not votes else ():
        votes[name] += 1
    for name, _ in votes.most_common(MAX_SPELLINGS):
        yield name, NameSource.SPELLED


def _capitalised(sheet: PageText, starts: set[str]) -> set[int]:
    """Return the lines that have some letters, the first of them not a small one.

    Pages full of addresses have the letters of the domain on every line.
    """
    found: set[int] = set()
    for start in starts:
        place = sheet.lower.find(start)
        while place >= 0:
            if not sheet.text[place].islower():
                found.add(sheet.line_at(place))
            place = sheet.lower.find(start, place + 1)
    return found


def _small_spellings(sheet: PageText, labels: Sequence[str]) -> Iterator[str]:
    """Give the labels as a page writes them that never begins them with a capital."""
    for label in labels:
        place = sheet.lower.find(label)
        while place >= 0:
            end = place + len(label)
            if _LOOSE.match(sheet.lower, place) and _LOOSE_END.match(sheet.lower, end):
                yield sheet.text[place:end]
                break
            place = sheet.lower.find(label, place + 1)


# Where a word begins and ends that is no part of an address.
_LOOSE: Final = re.compile(r"(?<![\w@./-])")
_LOOSE_END: Final = re.compile(r"(?![\w@/-]|\.\w)")


def domain_names(sheet: PageText, labels: list[str]) -> Iterator[Nomination]:
    """Nominate the domain itself where the text writes it as a name: `acme.com`."""
    for label in labels:
        place = sheet.lower.find(f"{label}.")
        for _ in range(MAX_LOOKS):
            if place < 0:
                break
            match = _DOMAIN.match(sheet.text, place)
            if match and sheet.text[place - 1 : place] not in _IN_ADDRESS:
                yield match[0], NameSource.DOMAIN
                break
            place = sheet.lower.find(f"{label}.", place + 1)


MAX_LOOKS: Final = 20
_DOMAIN: Final = re.compile(
    r"[\w-]+\.(?:com|net|org|biz|info|co\.uk|[a-z]{2})(?![\w/.@-]*[\w/@])"
)
_IN_ADDRESS: Final = frozenset("@/.-")


_CAPITALS: Final = re.compile(
    r"(?<![\w'’.-])[A-Z0-9][\w'’&-]{0,24}(?:\.(?:com|net|org|co\.uk|de|nl))?"
    r"(?: (?:&|and|of|de|und) (?=[A-Z])| (?=[A-Z]))?"
)


def runs(text: str) -> Iterator[list[str]]:
    """Give the runs of capitalised words of a text."""
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


_NON_WORD: Final = re.compile(r"[\W_]+")
MAX_RUN: Final = 10
"""Words of a run that may spell a label: it begins at one of six, and has five."""
MAX_READ: Final = MAX_RUN + 4
"""Words of a run that are read: a trade of up to four words may follow the label."""


def _folded(word: str) -> str:
    return (word if word.isalnum() else _NON_WORD.sub("", word)).casefold()


@lru_cache(4_096)
def _spelling(run: tuple[str, ...], labels: tuple[str, ...]) -> str | None:
    """Find the part of a run of words that spells a label, with what follows it."""
    folded = [_folded(word) for word in run[:MAX_RUN]]
    for start in range(min(len(run), 6)):
        compact = ""
        for end in range(start, min(len(run), start + 5)):
            compact += folded[end]
            if not any(f"{label}com".startswith(compact) for label in labels):
                break
            for label in labels:
                if compact in (label, f"{label}com") or (
                    len(compact) > 5
                    and label.startswith(compact)
                    and len(compact) >= 0.7 * len(label)
                ):
                    return " ".join(run[start : _name_end(run, end)])
    return None


def _name_end(run: Sequence[str], end: int) -> int:
    """Add the words after a spelled label that name a trade: Prism Flow Products."""
    for stop in range(min(len(run), end + 4), end + 1, -1):
        if is_trade_name(" ".join(run[:stop])):
            return stop
    return end + 1
