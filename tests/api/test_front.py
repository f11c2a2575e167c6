"""How the web page is served: what a browser may keep, what a program is told."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from scrapersky.api.front import serve_page
from scrapersky.api.middleware.request_limits import RequestLimits
from scrapersky.api.problem import install_problems

INDEX = '<!doctype html><script type="module" src="/assets/index-abc123.js"></script>'


async def make_rule() -> None: ...


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    (tmp_path / "assets").mkdir()
    (tmp_path / ".built").write_text("digest")
    (tmp_path / "index.html").write_text(INDEX)
    script = tmp_path / "assets" / "index-abc123.js"
    script.write_text("go()")
    script.with_name("index-abc123.js.gz").write_bytes(gzip.compress(b"go()"))
    script.with_name("index-abc123.js.br").write_bytes(b"as Brotli writes it")
    app = FastAPI()
    app.post("/api/v3/rules")(make_rule)
    install_problems(app)
    serve_page(app, tmp_path)
    app.add_middleware(RequestLimits)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/search", "/curate/pages?sort=-id"])
async def test_every_screen_is_the_page(client: httpx.AsyncClient, path: str) -> None:
    page = await client.get(path)

    assert page.text == INDEX
    assert page.headers["cache-control"] == "no-cache"
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path", ["/api/nope", "/api", "/api/v3/nope/x", "/health/nope", "/assets/x.js",
             "/missing.css", "/.built", "/assets/index-abc123.js.gz", "/assets/index-abc123.js.br",
             "/assets"],
)  # fmt: skip
async def test_what_is_not_there_is_never_the_page(
    client: httpx.AsyncClient, path: str
) -> None:
    answer = await client.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "asked", ["0-0," * 10_000 + "1-1", "5-2", "-999999999999", "1-", "0-0"]
)
async def test_a_part_of_a_file_is_not_served(
    client: httpx.AsyncClient, asked: str
) -> None:
    answer = await client.get(
        "/assets/index-abc123.js", headers={"Range": f"bytes={asked}"}
    )

    assert (answer.status_code, answer.text) == (200, "go()")
    assert "accept-ranges" not in answer.headers


async def test_a_wrong_method_stays_one(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v3/rules")).status_code == 405
    assert (await client.post("/search")).status_code == 404


async def test_files_with_their_digest_in_the_name_are_kept_for_ever(
    client: httpx.AsyncClient,
) -> None:
    script = await client.get("/assets/index-abc123.js")

    assert script.text == "go()"
    assert script.headers["content-encoding"] == "gzip"
    assert "immutable" in script.headers["cache-control"]
    plain = await client.get(
        "/assets/index-abc123.js", headers={"Accept-Encoding": "identity"}
    )
    assert (plain.text, plain.headers.get("content-encoding")) == ("go()", None)


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip"), ("br;q=0", None)],
)
async def test_a_browser_is_sent_the_smallest_text_that_it_takes(
    client: httpx.AsyncClient, accepted: str, sent: str | None
) -> None:
    path, headers = "/assets/index-abc123.js", {"Accept-Encoding": accepted}
    async with client.stream("GET", path, headers=headers) as script:
        assert script.headers.get("content-encoding") == sent


async def test_an_unchanged_page_is_not_sent_again(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/")).headers["etag"]

    assert (await client.get("/", headers={"If-None-Match": tag})).status_code == 304


async def test_the_page_may_run_nothing_but_its_own_files(
    client: httpx.AsyncClient,
) -> None:
    policy = (await client.get("/")).headers["content-security-policy"]

    assert "unsafe" not in policy
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy


async def test_an_installation_without_the_page_says_so(tmp_path: Path) -> None:
    app = FastAPI()
    serve_page(app, tmp_path / "nothing")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        page = await client.get("/")

    assert "not built" in page.text


async def test_the_built_page_names_nothing_from_elsewhere() -> None:
    app = FastAPI()
    serve_page(app)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        page = (await client.get("/")).text
        links = re.findall(r'(?:src|href)="([^"]+)"', page)

        assert len(links) >= 3
        for link in links:
            assert link.startswith("/")
            assert (await client.get(link)).status_code == 200
