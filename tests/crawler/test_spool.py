"""A body without end costs the disk a little and the crawler's memory nothing."""

import asyncio
import gc
import gzip
import os
import resource
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psutil
import pytest

from contact_extraction.errors import BadSitemap
from contact_extraction.page_list import list_sitemap_pages
from scrapersky.crawler import Accept, Sandbox
from scrapersky.crawler.limits import MIB
from scrapersky.crawler.result import IncompleteReason
from scrapersky.crawler.sandbox_process import SandboxLimits
from scrapersky.errors import TooBig
from scrapersky.kit.spool import MAX_MEMORY_BYTES, Spool
from sdk_tests.rig.size import size
from tests.crawler import sandboxed
from tests.crawler.rig import QUICK, Site, a_crawler, a_site, answer

PATIENT = replace(QUICK, total=timedelta(seconds=60))
LARGEST = size(24, 50) * MIB
"""More than our memory may grow meanwhile: a body that is held there is noticed."""
MOST_URLS = size(10_000, 50_000)
UNHURRIED = SandboxLimits(cpu=timedelta(minutes=1), wall=timedelta(minutes=2))
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
)
ROW = b"<url><loc>http://127.0.0.1/%0250d</loc></url>\n"
"""300 bytes: a million of them are 300 MB."""


@asynccontextmanager
async def a_million_urls() -> AsyncIterator[tuple[Site, list[int]]]:
    """Serve one sitemap of 300 MB; tell the port, and how much of it was sent."""
    sent = [0]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await reader.readuntil(b"\r\n\r\n")
            if b"/robots.txt" in asked:
                writer.write(answer(b"", status="404 Not Found"))
                return
            writer.write(HEAD)
            for start in range(0, 1_000_000, 500):
                rows = b"".join(ROW % n for n in range(start, start + 500))
                writer.write(rows)
                sent[0] += len(rows)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Site(port=server.sockets[0].getsockname()[1]), sent


@contextmanager
def watched_memory() -> Iterator[list[float]]:
    """Judge by how many MiB this process grew at most meanwhile."""
    gc.collect()
    process, over = psutil.Process(), threading.Event()
    before = process.memory_info().rss
    growth = [0.0]

    def watch() -> None:
        while not over.wait(0.002):
            growth[0] = max(growth[0], (process.memory_info().rss - before) / MIB)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield growth
    finally:
        over.set()
        watcher.join()


@pytest.mark.slow
async def test_a_sitemap_of_300_megabytes_does_not_pass_through_our_memory() -> None:
    async with (
        a_million_urls() as (site, sent),
        a_crawler(site, limits=PATIENT) as crawler,
        Sandbox(children=1, limits=UNHURRIED) as sandbox,
    ):
        await sandbox.warm_up()
        with watched_memory() as fetching:
            fetched = await crawler.fetch(
                site.url("/sitemap.xml"),
                accept=Accept.ANY,
                max_bytes=LARGEST,
                keep_partial=True,
                spool=True,
            )
        with watched_memory() as reading:
            pages = await sandbox.run_on(
                list_sitemap_pages,
                fetched.whole,
                str(fetched.url),
                "127.0.0.1",
                MOST_URLS,
            )

    assert fetched.cut is IncompleteReason.SIZE
    assert LARGEST < fetched.inflated_bytes < LARGEST + MIB
    assert len(fetched.body) <= MAX_MEMORY_BYTES
    assert sent[0] < LARGEST + 16 * MIB
    assert len(pages.urls) == MOST_URLS
    assert fetching[0] < 16
    assert reading[0] < size(20, 80)


def open_files() -> int:
    return psutil.Process().num_fds()


async def test_a_long_body_is_whole_in_its_file_and_leaves_nothing_behind() -> None:
    content = os.urandom(3 * MIB) + b"the end"
    said = answer(gzip.compress(content), "Content-Encoding: gzip", kind="text/plain")
    async with a_site({"/long": said}) as site, a_crawler(site) as crawler:
        await crawler.robots(site.url("/"))
        before = open_files()

        fetched = await crawler.fetch(site.url("/long"), accept=Accept.ANY, spool=True)
        assert fetched.spool is not None
        inside = fetched.spool.read(len(content) + 1)
        del fetched
        gc.collect()
        after = open_files()

    assert inside == content
    assert after <= before + 1  # the connection is kept for the next request


async def test_a_short_body_needs_no_file() -> None:
    async with a_site({"/short": answer(b"short")}) as site, a_crawler(site) as crawler:
        fetched = await crawler.fetch(site.url("/short"), accept=Accept.ANY, spool=True)

    assert fetched.spool is None
    assert fetched.whole == fetched.body == b"short"


@contextmanager
def a_full_disk() -> Iterator[None]:
    """Let no file of this process grow beyond two megabytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_ends_a_body_too_long_for_memory_and_nothing_else() -> None:
    page = b"<p>" + os.urandom(2 * MIB).hex().encode()
    said = {"/long": answer(page), "/short": answer(b"short")}
    sitemap: dict[str, Any] = {
        "accept": Accept.ANY,
        "max_bytes": LARGEST,
        "spool": True,
    }
    async with a_site(said) as site, a_crawler(site) as crawler:
        with a_full_disk():
            with pytest.raises(TooBig, match="does not fit on our disk"):
                await crawler.fetch(site.url("/long"), **sitemap)
            kept = await crawler.fetch(site.url("/long"), **sitemap, keep_partial=True)
            held = await crawler.fetch(site.url("/long"), spool=True)
            other = await crawler.fetch(site.url("/short"))

    assert (kept.cut, other.body) == (IncompleteReason.SIZE, b"short")
    assert MAX_MEMORY_BYTES < kept.inflated_bytes <= 2 * MIB
    assert held.whole == page


async def test_a_long_page_is_read_from_its_file() -> None:
    page = b"<p>" + os.urandom(2 * MIB).hex().encode()
    async with a_site({"/": answer(page)}) as site, a_crawler(site) as crawler:
        fetched = await crawler.fetch(site.url("/"), spool=True)

    assert len(fetched.body) <= MAX_MEMORY_BYTES
    assert fetched.read_all() == page
    assert fetched.text == page.decode()


async def test_a_child_reads_the_file_and_gives_it_back() -> None:
    spool = Spool()
    spool.write(b"hello")
    async with Sandbox(children=1) as sandbox:
        # More often than a child may hold files open.
        read = [await sandbox.run_on(sandboxed.parse, spool) for _ in range(100)]
        plain = await sandbox.run_on(sandboxed.parse, b"hello")

    assert plain.title == "hello"
    assert read == [plain] * 100
    spool.close()
    spool.close()


async def test_what_is_wrong_with_a_file_is_told_as_for_bytes() -> None:
    spool = Spool()
    spool.write(b"no sitemap at all")
    async with Sandbox(children=1) as sandbox:
        with pytest.raises(BadSitemap):
            await sandbox.run_on(
                list_sitemap_pages, spool, "http://a.example/", "a.example", 10
            )
