"""What browsers and caches are told, and what production does not show."""

from collections.abc import Mapping

import httpx
import pytest

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from tests.api.gateway.rig import SECRET, House

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALLOWED = "https://app.example.com"


@pytest.mark.parametrize(
    "path", ["/api/v3/session", "/", "/docs", "/health/live", "/x"]
)
async def test_every_answer_is_hardened(house: House, path: str) -> None:
    answer = await house.client.get(path)

    policy = answer.headers["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "server" not in answer.headers


async def test_answers_of_the_api_are_kept_by_no_cache(house: House) -> None:
    good = await house.get("/session", house.admin)
    bad = await house.get("/session")

    for answer in (good, bad):
        assert answer.headers["cache-control"] == "no-store"
        assert {"authorization", "cookie", "origin"} <= {
            name.strip().lower() for name in answer.headers["vary"].split(",")
        }


async def test_a_bug_is_answered_with_the_same_headers(house: House) -> None:
    async def bug() -> None:
        raise RuntimeError("secret inside")

    house.app.add_api_route("/api/v3/bug", bug)

    answer = await house.get("/bug")

    assert answer.status_code == 500
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert "secret" not in answer.text


def client_of(more: Mapping[str, str]) -> httpx.AsyncClient:
    """An application that is not started: only what stands before its routes."""
    settings = load_settings(more, dotenv=None).settings
    app = create_app(settings, parse_target("postgresql://nobody@/nothing"))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://app.test")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "https://app.example.com.evil.example",
        "https://sub.app.example.com",
        "http://app.example.com",
        "https://app.example.com:444",
        "HTTPS://APP.EXAMPLE.COM.",
    ],
)
async def test_other_origins_are_told_nothing(origin: str) -> None:
    async with client_of({"CORS_ORIGINS": ALLOWED}) as client:
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        before = await client.options("/api/v3/users", headers=asked)
        plain = await client.get("/health/live", headers={"Origin": origin})

    assert "access-control-allow-origin" not in before.headers
    assert "access-control-allow-origin" not in plain.headers


async def test_an_allowed_origin_is_told_without_credentials() -> None:
    async with client_of({"CORS_ORIGINS": ALLOWED}) as client:
        answer = await client.get("/health/live", headers={"Origin": ALLOWED})

    assert answer.headers["access-control-allow-origin"] == ALLOWED
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/docs", "/openapi.json", "/docs/assets/start.js", "/redoc"]
)
async def test_production_does_not_show_its_reference(path: str) -> None:
    tokens = {"JWT_SECRET": SECRET, "JWT_AUDIENCE": "a", "JWT_ISSUER": "i"}

    async with client_of({"ENVIRONMENT": "production", **tokens}) as client:
        answer = await client.get(path)

    assert "swagger" not in answer.text.lower()
    assert "openapi" not in answer.text.lower()


@pytest.mark.parametrize(
    "path", ["/api/v3/session/", "/health/live/", "/api/v3/users/"]
)
async def test_the_host_of_a_request_was_repeated_in_a_redirect(path: str) -> None:
    async with client_of({}) as client:
        answer = await client.get(path, headers={"Host": "evil.example"})

    assert answer.status_code == 404
    assert "location" not in answer.headers
    assert "evil.example" not in answer.text


async def test_a_server_with_names_answers_to_no_other() -> None:
    async with client_of({"TRUSTED_HOSTS": "sky.example.com"}) as client:
        answers = {
            host: (await client.get("/health/live", headers={"Host": host})).status_code
            for host in (
                "sky.example.com", "SKY.example.com:8000", "localhost", "127.0.0.1:8000",
                "[::1]:8000", "evil.example", "sky.example.com.evil.example",
                "sky.example.com:x@evil.example", "[::1]evil.example", "",
            )
        }  # fmt: skip

    assert [host for host, status in answers.items() if status != 200] == [
        "evil.example",
        "sky.example.com.evil.example",
        "sky.example.com:x@evil.example",
        "[::1]evil.example",
        "",
    ]


async def test_a_probe_by_address_was_refused_and_its_process_ended() -> None:
    # A kubelet and Prometheus know a process by its address alone.
    async with client_of({"TRUSTED_HOSTS": "sky.example.com"}) as client:
        answers = {
            (path, host): (await client.get(path, headers={"Host": host})).status_code
            for path in ("/health/live", "/metrics", "/api/v3/session", "/")
            for host in ("10.42.0.7:8000", "[fd00::7]:8000", "evil.example")
        }

    refused = {asked for asked, status in answers.items() if status == 400}
    assert refused == {
        *((path, "evil.example") for path, _ in answers),
        *((path, host) for path, host in answers if path in ("/api/v3/session", "/")),
    }


async def test_two_hosts_in_one_request_are_refused() -> None:
    async with client_of({}) as client:
        answer = await client.get(
            "/health/live", headers=[("Host", "a.example"), ("Host", "b.example")]
        )

    assert answer.status_code == 400
