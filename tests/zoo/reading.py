"""Fetches hostile pages and sitemaps and reads them as stages do: in the sandbox.

Run as `python -m tests.zoo.reading --lane LANE`; prints one line of JSON.
"""

import argparse
import asyncio
import json
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import timedelta

import structlog

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.errors import BadSitemap, ExtractionError
from contact_extraction.page_list import (
    PageList,
    list_linked_pages,
    list_sitemap_pages,
)
from scrapersky.crawler import Accept, Crawler, FetchResult, Sandbox, SandboxLimits
from scrapersky.errors import FetchError
from tests.zoo import all_cases
from tests.zoo.canary import Canaries
from tests.zoo.case import Case
from tests.zoo.census import Census, memory, peak_memory
from tests.zoo.rig import Rig
from tests.zoo.run import LogReader, make_crawler, own_canaries, wiretap
from tests.zoo.sitemap import Map, sitemaps
from tests.zoo.wire import ADDRESS

MAX_LINKS = 2000
MAX_URLS = 50_000
PAGE_LIMIT = 15.0
"""Seconds of our processor that a page may take; its child has a limit of its own."""
MAP_LIMIT = 40.0
UNHURRIED = SandboxLimits(wall=timedelta(minutes=2))
"""As much processor time as always, however long a busy machine takes to give it."""
BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\0")


@dataclass(slots=True)
class Read:
    """One page or sitemap that was read."""

    id: str
    title: str
    outcome: str
    expect: tuple[str, ...]
    seconds: float = 0.0
    urls: int = 0
    emails: list[str] = field(default_factory=list)
    complaint: str | None = None


@dataclass(slots=True)
class Reading:
    """What came of all of them."""

    lane: str
    rows: list[Read] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    forbidden_packets: dict[str, int] | None = None
    leaks: dict[str, int] = field(default_factory=dict)
    growth: int = 0


def page_cases() -> list[Case]:
    """Return the cases whose page can be fetched, and may hurt its reader."""
    wanted = ("32", "34", "6", "7")
    return [
        case
        for case in all_cases()
        if case.expect == ("ok",)
        and case.id.startswith(wanted)
        and not case.id.startswith(("69", "78"))
        and len(case.id) > 1
    ]


async def read_page(crawler: Crawler, sandbox: Sandbox, rig: Rig, case: Case) -> Read:
    """Fetch one page and take its links and its contacts."""
    row = Read(case.id, case.title, "", ("ok", "trap", "not_markup"))
    began = time.process_time()
    try:
        page = await crawler.fetch(case.address(rig.lane))
        await take(page, sandbox, row)
        row.outcome = "ok"
    except FetchError as error:
        row.outcome = error.outcome
    except ExtractionError:
        row.outcome = "not_markup"
    row.seconds = round(time.process_time() - began, 2)
    row.complaint = row.complaint or judge(row, PAGE_LIMIT)
    return row


async def take(page: FetchResult, sandbox: Sandbox, row: Read) -> None:
    given = (page.body, str(page.url), page.charset.name)
    links = await sandbox.run(list_linked_pages, *given)
    contacts = await sandbox.run(find_contacts, page.body, str(page.url))
    row.urls = len(links.urls)
    facts = json.dumps(asdict(contacts), default=str, ensure_ascii=False)
    row.emails = [email.address for email in contacts.emails][:20]
    if row.urls > MAX_LINKS:
        row.complaint = f"{row.urls} links were kept"
    elif BIDI & set(facts):
        row.complaint = "control characters among the contacts"
    elif strange := [url for url in links.urls if page.url.site not in url]:
        row.complaint = f"links to {strange[:3]}"
    elif false := [mail for mail in row.emails if mail != ADDRESS]:
        row.complaint = f"addresses nobody wrote: {false[:3]}"


async def read_map(
    crawler: Crawler, sandbox: Sandbox, rig: Rig, each: Map, largest: int
) -> Read:
    """Fetch one sitemap, or the part that is not too large, and list its pages."""
    row = Read(each.id, each.title, "", each.expect)
    url = rig.lane.origin(each.site.slug) + each.path
    began = time.process_time()
    try:
        fetched = await crawler.fetch(
            url, accept=Accept.ANY, max_bytes=largest, keep_partial=True
        )
        if fetched.is_success:
            found = await sandbox.run(
                list_sitemap_pages, fetched.body, url, fetched.url.site, MAX_URLS
            )
            row.urls = len(found.urls)
            row.outcome = partial_or_whole(fetched, found)
        else:
            row.outcome = f"status_{fetched.status}"
    except (FetchError, BadSitemap) as error:
        row.outcome = error.outcome
    row.seconds = round(time.process_time() - began, 2)
    row.complaint = judge(row, MAP_LIMIT)
    wanted = row.urls if each.urls is None or row.outcome != "ok" else each.urls
    if row.complaint is None and row.urls != wanted:
        row.complaint = f"{row.urls} URLs instead of {wanted}"
    return row


def partial_or_whole(fetched: FetchResult, found: PageList) -> str:
    return "ok_partial" if fetched.cut or found.cut else "ok"


def judge(row: Read, limit: float) -> str | None:
    if row.outcome not in row.expect:
        return f"{row.outcome} instead of {' or '.join(row.expect)}"
    return f"took {row.seconds} s" if row.seconds > limit else None


async def main(lane: str, largest: int) -> Reading:
    """Read everything, one after the other."""
    structlog.configure(processors=[LogReader()])
    reading = Reading(lane)
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(Rig(lane, 1.0))
        before, held = Census.take(), memory()
        async with Canaries(own_canaries(rig)) as canaries:
            with wiretap(rig) as tap:
                async with (
                    make_crawler(rig) as crawler,
                    Sandbox(children=1, limits=UNHURRIED) as sandbox,
                ):
                    for case in page_cases():
                        row = await read_page(crawler, sandbox, rig, case)
                        reading.rows.append(row)
                    for each in sitemaps():
                        row = await read_map(crawler, sandbox, rig, each, largest)
                        reading.rows.append(row)
            report = await rig.report()
            reading.canaries = [*report.canaries, *canaries.hits]
            if tap is not None:
                reading.forbidden_packets = dict(tap.forbidden)
        await asyncio.sleep(0.5)
        reading.leaks = Census.take().more_than(before)
        reading.growth = peak_memory() - held
    return reading


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", choices=["loopback", "namespace"], required=True)
    parser.add_argument("--largest", type=int, default=50, help="sitemap, in MiB")
    given = parser.parse_args()
    print(json.dumps(asdict(asyncio.run(main(given.lane, given.largest << 20)))))
