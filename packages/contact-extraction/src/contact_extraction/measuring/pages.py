"""Score extraction against annotated pages: precision, recall, F1 and every miss.

A file has one JSON object a line: `id`, `set`, `url`, `html`, `entities` (a list of
`{"type", "text"}`) and optionally `mailto`. Gold and predictions are sets per page.
A label is scored on those sets of pages that carry it at all, so that pages nobody
annotated for it do not count as mistakes.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final, cast
from urllib.parse import unquote

import orjson
import phonenumbers

from contact_extraction.contacts import NO_HINTS, Contacts, PhoneKind
from contact_extraction.contacts.confidence import role_confidence
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.model import Value
from contact_extraction.errors import BadAnnotations

LABELS: Final = (
    "PHONE",
    "FAX",
    "EMAIL",
    "ORG",
    "MAIN_ORG",
    "STREET",
    "ZIPCODE",
    "PER",
    "FUNC",
    "HOURS",
    "SOCIAL",
)
ANNOTATIONS_PER_PAGE: Final = 0.1
"""A set of pages is scored for a label if it has this many annotations a page."""
ALIKE_F1: Final = 0.8
MIN_DIGITS: Final = 7


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """One page with what people found on it."""

    id: str
    group: str
    url: str
    html: str
    gold: dict[str, frozenset[str]]
    annotated: frozenset[str]
    """The labels people set, as opposed to mail links, which are gold by themselves."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One gold value not found, or one value found that is not gold."""

    page: str
    label: str
    text: str
    is_invented: bool


@dataclass(slots=True)
class LabelCount:
    """Counts of one label; `pages` holds the F1 of each page for the macro average."""

    gold: int = 0
    gold_found: int = 0
    predicted: int = 0
    predicted_right: int = 0
    pages: list[float] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Give the share of predicted values that are right."""
        return self.predicted_right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Give the share of gold values that were found."""
        return self.gold_found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Give the harmonic mean of the two."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def macro(self) -> float:
        """Give the mean F1 over pages that have a gold or a predicted value."""
        return sum(self.pages) / len(self.pages) if self.pages else 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often values of one confidence band were right."""

    label: str
    low: float
    count: int
    right: int
    claimed: float


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of scoring a file."""

    pages: int
    tallies: dict[str, LabelCount]
    misses: tuple[Miss, ...]
    calibration: tuple[Calibration, ...]
    reliability: dict[tuple[str, str], tuple[int, int]]
    """By label and method: values seen with it, and how many were right."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted value in the forms it may be written, and how it was found."""

    text: str
    forms: frozenset[str]
    confidence: float
    methods: frozenset[str]


Extract = Callable[[str, str], Contacts]


def read_pages(path: Path) -> Iterator[AnnotatedPage]:
    """Read an annotated file, plain or gzip; raise BadAnnotations naming the line."""
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                yield _page(row)
            except (
                orjson.JSONDecodeError,
                KeyError,
                TypeError,
                AttributeError,
            ) as error:
                raise BadAnnotations(
                    f"{path.name}, line {number}: {error!r}",
                    hint="each line needs id, html and entities of {type, text}",
                ) from error


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def score_pages(
    pages: Iterable[AnnotatedPage], extract: Extract | None = None
) -> Report:
    """Extract every page and compare with its annotations."""
    listed = list(pages)
    scope = _scope(listed)
    tallies = {label: LabelCount() for label in LABELS}
    misses: list[Miss] = []
    claims: list[tuple[str, float, bool, frozenset[str]]] = []
    for page in listed:
        contacts = (extract or _default_extract)(page.html, page.url)
        predictions = predictions_of(contacts)
        for label in LABELS:
            if page.group in scope[label]:
                right = _score_page(
                    page, label, predictions[label], tallies[label], misses
                )
                claims += [
                    (label, p.confidence, ok, p.methods)
                    for p, ok in zip(predictions[label], right, strict=True)
                ]
    return Report(
        pages=len(listed),
        tallies={label: tally for label, tally in tallies.items() if tally.gold},
        misses=tuple(misses),
        calibration=tuple(_calibrated(claims)),
        reliability=_reliability(claims),
    )


def predictions_of(contacts: Contacts) -> dict[str, list[Prediction]]:
    """Put what was extracted into the terms of the annotations."""
    organisations = [_plain(o.name, o) for o in contacts.organisations]
    spellings = [
        _plain(name, o) for o in contacts.organisations for name in (o.name, *o.also)
    ]
    return {
        "PHONE": [_phone(p.e164, p.written, p) for p in contacts.phones],
        "FAX": [
            _phone(p.e164, p.written, p)
            for p in contacts.phones
            if p.kind is PhoneKind.FAX
        ],
        "EMAIL": [_plain(e.address, e) for e in contacts.emails],
        "ORG": _distinct(spellings),
        "MAIN_ORG": organisations[:1],
        "STREET": _distinct(
            _plain(a.street, a) for a in contacts.addresses if a.street
        ),
        "ZIPCODE": _distinct(
            _plain(a.postal_code, a) for a in contacts.addresses if a.postal_code
        ),
        "PER": [_plain(p.name, p) for p in contacts.people],
        "FUNC": _distinct(_role(p.role, p) for p in contacts.people if p.role),
        "HOURS": [_plain(h.text, h) for h in contacts.hours],
        "SOCIAL": [_plain(s.url, s) for s in contacts.socials],
    }


def token_f1(one: str, other: str) -> float:
    """Compare two texts by the words they share, as often as they share them."""
    mine = Counter(_TOKEN.findall(one.casefold()))
    theirs = Counter(_TOKEN.findall(other.casefold()))
    if not mine or not theirs:
        return 0.0
    shared = sum((mine & theirs).values())
    return 2 * shared / (sum(mine.values()) + sum(theirs.values()))


def render(report: Report, *, misses: int = 50) -> str:
    """Write a report as tables for a terminal."""
    rows = [
        f"{report.pages} pages",
        (
            f"{'label':<10}{'gold':>6}{'found':>7}{'precision':>11}{'recall':>9}"
            f"{'F1 micro':>10}{'F1 macro':>10}"
        ),
    ]
    rows += [
        f"{label:<10}{t.gold:>6}{t.predicted:>7}{t.precision:>11.3f}{t.recall:>9.3f}"
        f"{t.f1:>10.3f}{t.macro:>10.3f}"
        for label, t in report.tallies.items()
    ]
    rows += ["", f"{'confidence':<16}{'values':>8}{'claimed':>10}{'right':>8}"]
    rows += [
        f"{c.label:<9}{c.low:.1f}-{c.low + 0.1:.1f}{c.count:>7}"
        f"{c.claimed:>10.2f}{c.right / c.count:>8.2f}"
        for c in report.calibration
    ]
    rows += ["", f"{'method':<32}{'values':>8}{'right':>8}"]
    rows += [
        f"{label:<10}{method:<22}{seen:>8}{right / seen:>8.2f}"
        for (label, method), (seen, right) in sorted(report.reliability.items())
    ]
    if misses and report.misses:
        rows += ["", f"misses (first {misses} of {len(report.misses)})"]
        rows += [
            f"{'+' if m.is_invented else '-'} {m.page:<12} {m.label:<9} {m.text[:100]}"
            for m in report.misses[:misses]
        ]
    return "\n".join(rows)


_TOKEN: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\D")


def _page(row: dict[str, Any]) -> AnnotatedPage:
    gold: dict[str, set[str]] = defaultdict(set)
    annotated = {_LABEL_OF.get(e["type"], e["type"]) for e in row["entities"]}
    for entity in row["entities"]:
        label, text = entity["type"], " ".join(entity["text"].split())
        if label in ("TEL", "FAX"):
            digits = _DIGIT.sub("", text)
            if len(digits) >= MIN_DIGITS:
                gold["PHONE"].add(digits)
                if label == "FAX":
                    gold["FAX"].add(digits)
        elif label == "ORG":
            gold["ORG"].add(text)
            gold["MAIN_ORG"].add(text)
        elif label == "EMAIL":
            gold["EMAIL"].add(text.lower())
        else:
            gold[label].add(text)
    for written in row.get("mailto") or ():
        for address in re.split(r"[,;]", unquote(written).partition("?")[0]):
            if "@" in address:
                gold["EMAIL"].add(address.strip().lower())
    return AnnotatedPage(
        id=str(row["id"]),
        group=str(row.get("set") or ""),
        url=str(row.get("url") or ""),
        html=row["html"],
        gold={label: frozenset(values) for label, values in gold.items()},
        annotated=frozenset(
            annotated | ({"MAIN_ORG"} & set(gold)) | ({"FAX"} & set(gold))
        ),
    )


_LABEL_OF: Final = {"TEL": "PHONE", "FAX": "PHONE"}


def _default_extract(html: str, url: str) -> Contacts:
    return find_contacts(html, url, hints=NO_HINTS)


def _scope(pages: Sequence[AnnotatedPage]) -> dict[str, set[str]]:
    """Give, by label, the sets of pages that were annotated for it."""
    sizes = Counter(page.group for page in pages)
    counts: Counter[tuple[str, str]] = Counter()
    for page in pages:
        for label in page.annotated:
            counts[label, page.group] += len(page.gold.get(label, ()))
    return {
        label: {
            group
            for group, size in sizes.items()
            if counts[label, group] >= ANNOTATIONS_PER_PAGE * size
        }
        for label in LABELS
    }


def _score_page(
    page: AnnotatedPage,
    label: str,
    predictions: list[Prediction],
    tally: LabelCount,
    misses: list[Miss],
) -> list[bool]:
    gold = page.gold.get(label, frozenset())
    same = _COMPARE.get(label, _is_alike)
    right = [any(same(g, p) for g in gold) for p in predictions]
    found = [g for g in gold if any(same(g, p) for p in predictions)]
    if label == "MAIN_ORG":
        # One name is asked for; any of the page's organisations will do.
        tally.gold += bool(gold)
        tally.gold_found += bool(found)
    else:
        tally.gold += len(gold)
        tally.gold_found += len(found)
        misses += [
            Miss(page.id, label, g, is_invented=False)
            for g in sorted(gold - set(found))
        ]
        misses += [
            Miss(page.id, label, p.text, is_invented=True)
            for p, ok in zip(predictions, right, strict=True)
            if not ok
        ]
    if label != "MAIN_ORG" or gold:
        tally.predicted += len(predictions)
        tally.predicted_right += sum(right)
    if gold or predictions:
        precision = sum(right) / len(right) if right else 0.0
        recall = (
            (1.0 if label == "MAIN_ORG" and found else len(found) / len(gold))
            if gold
            else 0.0
        )
        total = precision + recall
        tally.pages.append(2 * precision * recall / total if total else 0.0)
    return right


def _is_alike(gold: str, prediction: Prediction) -> bool:
    return token_f1(gold, prediction.text) >= ALIKE_F1


def _is_equal(gold: str, prediction: Prediction) -> bool:
    return gold in prediction.forms or gold.lstrip("0") in prediction.forms


def _is_same_code(gold: str, prediction: Prediction) -> bool:
    return (
        "".join(gold.split()).casefold() == "".join(prediction.text.split()).casefold()
    )


_COMPARE: Final[dict[str, Callable[[str, Prediction], bool]]] = {
    "PHONE": _is_equal,
    "FAX": _is_equal,
    "EMAIL": _is_equal,
    "SOCIAL": _is_equal,
    "ZIPCODE": _is_same_code,
}


def _plain(text: str, value: Value) -> Prediction:
    methods = frozenset(e.method.value for e in value.evidence)
    return Prediction(text, frozenset({text, text.lower()}), value.confidence, methods)


def _role(text: str, person: Value) -> Prediction:
    sure = role_confidence(person.confidence)
    return replace(_plain(text, person), confidence=sure)


def _phone(e164: str, written: str, value: Value) -> Prediction:
    """Give a number's digits as they may be written: national, international."""
    number = phonenumbers.parse(e164)
    national = phonenumbers.national_significant_number(number)
    raw = _DIGIT.sub("", written)
    extension = getattr(value, "extension", None) or ""
    forms = {
        national, f"0{national}", f"1{national}", e164[1:], raw, raw.lstrip("0"),
        f"{number.country_code}0{national}", f"{national}{extension}",
    }  # fmt: skip
    methods = frozenset(e.method.value for e in value.evidence)
    if extension:
        # A desk is its own value: the bare number may be annotated beside it.
        forms = {form for form in forms if form.endswith(extension)} | {raw, national}
    return Prediction(e164, frozenset(forms), value.confidence, methods)


def _distinct(predictions: Iterable[Prediction]) -> list[Prediction]:
    return list({p.text.casefold(): p for p in predictions}.values())


def _calibrated(
    claims: list[tuple[str, float, bool, frozenset[str]]],
) -> Iterator[Calibration]:
    bands: dict[tuple[str, int], list[tuple[float, bool]]] = defaultdict(list)
    for label, confidence, is_right, _ in claims:
        bands[label, min(9, int(confidence * 10))].append((confidence, is_right))
    for (label, band), values in sorted(bands.items()):
        yield Calibration(
            label=label,
            low=band / 10,
            count=len(values),
            right=sum(ok for _, ok in values),
            claimed=sum(c for c, _ in values) / len(values),
        )


def _reliability(
    claims: list[tuple[str, float, bool, frozenset[str]]],
) -> dict[tuple[str, str], tuple[int, int]]:
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for label, _, is_right, methods in claims:
        for method in methods:
            seen, right = counts.get((label, method), (0, 0))
            counts[label, method] = (seen + 1, right + is_right)
    return counts
