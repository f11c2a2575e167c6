"""Extraction: sitemaps, whole pages against parsel + phonenumbers, and hostile pages.

Pages of 60 KB are generated from seeds. "same output" does what the baseline does and
checks that it finds the same addresses, numbers and profiles; "everything" adds people,
organisations, postal addresses, hours, groups and evidence, which the baseline has not.
Times are processor time, the best of several rounds.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/packages/contact-extraction/tests")

from bench import extraction_sitemap
from bench.extraction_baseline import extract
from contact_extraction.contacts import NO_HINTS
from contact_extraction.contacts.email import addresses_in, find_emails
from contact_extraction.contacts.finder import contacts_of, find_contacts
from contact_extraction.contacts.phone import find_numbers
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.sheet import sheet_of
from contact_extraction.contacts.social import find_profiles
from contact_extraction.contacts.structured import read_structured
from contact_extraction.html import parse_page
from extraction_tests.business_pages import business_page
from extraction_tests.hostile_pages import EMAIL_SOUP, MIB, PAGES

T = TypeVar("T")
Same = tuple[set[str], set[str], int]


def same_output(html: str, url: str) -> Same:
    """Find what the baseline finds: links, text, addresses, numbers and profiles."""
    page = parse_page(html)
    sheet = sheet_of(page)
    regions = guess_regions(sheet, url, NO_HINTS)
    data = read_structured(page, regions)
    emails = {f.key for f in (*find_emails(sheet), *data.emails)}
    numbers = {
        f.key.partition(";")[0] for f in (*find_numbers(sheet, regions), *data.phones)
    }
    return emails, numbers, len({f.key for f in find_profiles(page)})


def milliseconds(work: Callable[[T], object], items: Iterable[T], rounds: int) -> float:
    """Give the best mean processor time per item over some rounds."""
    listed = list(items)
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for item in listed:
            work(item)
        best = min(best, time.process_time() - started)
    return best / len(listed) * 1000


def run_pages(*, quick: bool) -> dict[str, float]:
    """Compare whole pages with the baseline."""
    pages = [business_page(seed) for seed in range(12 if quick else 40)]
    rounds = 3 if quick else 5
    agreed = 0
    for html, url in pages:
        emails, numbers, profiles = same_output(html, url)
        theirs = extract(html)
        agreed += (emails, numbers, profiles) == (
            theirs.emails,
            set(theirs.phones),
            len(theirs.profiles),
        )
    baseline = milliseconds(lambda page: extract(page[0]), pages, rounds)
    same = milliseconds(lambda page: same_output(*page), pages, rounds)
    parse = milliseconds(lambda page: parse_page(page[0]), pages, rounds)
    everything = milliseconds(lambda page: find_contacts(*page), pages, rounds)
    print(f"{len(pages)} pages of 60 KB, processor time a page")
    print(f"{'parsel + phonenumbers (US, GB)':<40}{baseline:>9.2f} ms")
    print(f"{'this, same output':<40}{same:>9.2f} ms   {baseline / same:.1f}x")
    print(
        f"{'this, everything':<40}{everything:>9.2f} ms   {baseline / everything:.1f}x"
    )
    print(f"{'of which parsing and lines':<40}{parse:>9.2f} ms")
    print(f"pages on which both find the same: {agreed} of {len(pages)}")
    return {
        "page_baseline_ms": round(baseline, 3),
        "page_same_output_ms": round(same, 3),
        "page_everything_ms": round(everything, 3),
        "page_parse_ms": round(parse, 3),
        "vs_parsel_same_output": round(baseline / same, 2),
        "vs_parsel_everything": round(baseline / everything, 2),
        "pages_agreed_share": round(agreed / len(pages), 3),
    }


def run_hostile(*, quick: bool) -> dict[str, float]:
    """Time each hostile page per MiB, and see that twice the size takes twice as long."""
    size = MIB // 4 if quick else MIB
    print(f"\n{'hostile page':<22}{'seconds a MiB':>15}{'at twice the size':>20}")
    worst = 0.0
    for name, make in PAGES.items():
        small = _seconds_per_mib(make(size // 2))
        large = _seconds_per_mib(make(size))
        worst = max(worst, large)
        print(f"{name:<22}{small:>15.3f}{large:>20.3f}")
    print(f"\n{'e-mail soup':<22}{'ms a MiB':>15}")
    soup = 0.0
    for name, make in EMAIL_SOUP.items():
        text = make(MIB)
        spent = milliseconds(lambda t: sum(1 for _ in addresses_in(t)), [text], 3)
        soup = max(soup, spent)
        print(f"{name:<22}{spent:>15.1f}")
    return {
        "hostile_worst_s_per_mib": round(worst, 3),
        "soup_worst_ms_per_mib": round(soup, 1),
    }


def _seconds_per_mib(page: str) -> float:
    spent = milliseconds(
        lambda p: contacts_of(parse_page(p), "https://a.test/"), [page], 1
    )
    return spent / 1000 * MIB / max(1, len(page))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pages and rounds")
    parser.add_argument("--only", choices=("sitemap", "pages", "hostile"))
    arguments = parser.parse_args()
    parts = {
        "sitemap": extraction_sitemap.run,
        "pages": run_pages,
        "hostile": run_hostile,
    }
    figures: dict[str, float] = {}
    for name, part in parts.items():
        if arguments.only in (None, name):
            figures |= part(quick=arguments.quick)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
