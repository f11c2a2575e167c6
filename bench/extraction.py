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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/packages/contact-extraction/tests")

from contact_extraction.closure import says_closed_for_good
from contact_extraction.contact_page import read_contact_page
from contact_extraction.contacts import NO_HINTS, Contacts
from contact_extraction.contacts.address import find_addresses, find_mapped
from contact_extraction.contacts.email import (
    addresses_in,
    find_all_emails,
    find_emails,
)
from contact_extraction.contacts.finder import (
    assembled,
    by_address,
    by_key,
    contacts_of,
    find_contacts,
)
from contact_extraction.contacts.hours import find_hours
from contact_extraction.contacts.organisation import (
    OrganisationClues,
    find_organisations,
)
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.person import PersonClues, find_people
from contact_extraction.contacts.phone import find_numbers
from contact_extraction.contacts.place import guess_regions
from contact_extraction.contacts.social import find_profiles
from contact_extraction.contacts.structured import read_structured
from contact_extraction.discovery import linked_pages
from contact_extraction.html import HtmlPage, parse_page
from contact_extraction.scripted import needs_script
from contact_extraction.site import read_page_facts
from contact_extraction.soft_404 import says_not_found
from contact_extraction.verdict import stands_instead
from extraction_tests.business_pages import business_page
from extraction_tests.hostile_pages import EMAIL_SOUP, MIB, PAGES

T = TypeVar("T")
Same = tuple[set[str], set[str], int]


def same_output(html: str, url: str) -> Same:
    """Find what the baseline finds: links, text, addresses, numbers and profiles."""
    page = parse_page(html)
    sheet = page_text(page)
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
    from bench.extraction_baseline import extract  # noqa: PLC0415 - needs the peers

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


def run_sitemaps(*, quick: bool) -> dict[str, float]:
    """Compare the reader of sitemaps with its peers."""
    from bench import extraction_sitemap  # noqa: PLC0415 - needs the peers

    return extraction_sitemap.run(quick=quick)


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


class ReaderTimes:
    """Gathers the processor time of the parts of reading pages."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, list[float]] = defaultdict(list)

    def mean(self, part: str) -> float:
        """Give the mean of all pages in milliseconds."""
        return fmean(self.spent[part]) * 1000

    def at(self, part: str, share: float) -> float:
        """Give the milliseconds that this share of the pages does not pass."""
        ordered = sorted(self.spent[part])
        return ordered[int(share * (len(ordered) - 1))] * 1000

    def call(self, part: str, work: Callable[..., T], *given: object) -> T:
        """Do a part of the work, and add its time to the others of its name."""
        began = time.process_time()
        try:
            return work(*given)
        finally:
            self.spent[part].append(time.process_time() - began)


def read_by_parts(watch: ReaderTimes, body: bytes, url: str) -> Contacts:
    """Read a page as `read_contact_page` does, each reader by itself."""
    page = watch.call("parsing, tree and lines", parse_page, body)
    sheet = watch.call("text", page_text, page)
    regions = watch.call("countries", guess_regions, sheet, url, NO_HINTS)
    data = watch.call("structured data", read_structured, page, regions)
    written, templates = watch.call("e-mails", find_all_emails, sheet)
    emails = by_key([*written, *data.emails])
    phones = by_key(
        [*watch.call("numbers", find_numbers, sheet, regions), *data.phones]
    )
    streets = watch.call("addresses", find_addresses, sheet, regions)
    mapped = watch.call("maps", find_mapped, page, regions)
    clues = OrganisationClues(
        streets=streets,
        mail_domains=Counter(address.rpartition("@")[2] for address in emails),
        stated=data.organisations,
    )
    names = watch.call("organisations", find_organisations, sheet, url, clues)
    known = PersonClues(
        url=url,
        organisations=tuple(name.value for name in names),
        addresses=tuple(emails),
        reachable=frozenset(
            found.line
            for groups in (emails, phones)
            for group in groups.values()
            for found in group
            if found.line >= 0
        ),
        streets=tuple((f.start, f.end) for f in streets if f.end),
    )
    people = by_key([*watch.call("people", find_people, sheet, known), *data.people])
    hours = watch.call("hours", find_hours, sheet)
    profiles = watch.call("profiles", find_profiles, page)
    contacts = watch.call(
        "owners, links to people, groups",
        partial(
            assembled,
            sheet,
            url,
            emails=emails,
            templates=by_key(templates),
            phones=phones,
            people=people,
            names=names,
            streets=by_address([*streets, *data.addresses] or mapped),
            hours=by_key([*hours, *data.hours]),
            profiles=by_key([*profiles, *data.socials]),
        ),
    )
    watch.call("facts of the page", read_page_facts, page, url)
    watch.call("links", linked_pages, page, url)
    watch.call("walls, notices, scripts", _says_of_itself, page, url, contacts)
    return contacts


def _says_of_itself(page: HtmlPage, url: str, contacts: Contacts) -> None:
    says_not_found(page)
    says_closed_for_good(page)
    needs_script(page, contacts)
    stands_instead(page, url)


def run_readers(folder: Path | None, *, quick: bool) -> dict[str, float]:
    """Show which reader costs what: on pages of a folder, a site each, or on our own."""
    pages = [(html.encode(), url) for html, url in map(business_page, range(40))]
    if folder is not None:
        pages = [
            (file.read_bytes(), f"http://{file.relative_to(folder).as_posix()}")
            for file in sorted(folder.rglob("*.htm*"))
        ]
    pages = pages[:: 8 if quick else 1]
    for html, url in map(business_page, range(40, 60)):
        find_contacts(html, url)  # what is compiled once is no page's
    watch = ReaderTimes()
    whole = "all readers"
    # As a crawl reads them: once, and the pages of a site after one another.
    read = [watch.call(whole, read_by_parts, watch, *page) for page in pages]
    total = watch.mean(whole)
    print(f"{len(pages)} pages, processor time a page by reader")
    for part in sorted(watch.spent, key=lambda one: -watch.mean(one)):
        spent = watch.mean(part)
        print(f"{part:<40}{spent:>9.2f} ms{spent / total:>8.0%}")
    middle, most = watch.at(whole, 0.5), watch.at(whole, 0.95)
    print(f"half of the pages within {middle:.2f} ms, 95 % within {most:.2f} ms")
    alike = sum(
        contacts == read_contact_page(body, url, None, None).contacts
        for contacts, (body, url) in zip(read, pages, strict=True)
    )
    print(f"pages read alike at once: {alike} of {len(pages)}")
    return {
        "reader_mean_ms": round(total, 2),
        "reader_p50_ms": round(middle, 2),
        "reader_p95_ms": round(most, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pages and rounds")
    parser.add_argument("--only", choices=("sitemap", "pages", "readers", "hostile"))
    parser.add_argument("--folder", type=Path, help="pages to time the readers on")
    arguments = parser.parse_args()
    parts: dict[str, Callable[..., dict[str, float]]] = {
        "sitemap": run_sitemaps,
        "pages": run_pages,
        "readers": partial(run_readers, arguments.folder),
        "hostile": run_hostile,
    }
    figures: dict[str, float] = {}
    for name, part in parts.items():
        if arguments.only in (None, name):
            figures |= part(quick=arguments.quick)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
