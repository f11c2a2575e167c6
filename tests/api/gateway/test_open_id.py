"""Logging in through an OpenID provider: who is let in, as what, and who is not."""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from scrapersky.api.app import create_app
from scrapersky.api.auth.open_id import ProviderUser, safe_path
from scrapersky.api.auth.secret import refuse_unsafe
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, parse_target
from scrapersky.errors import ConfigurationError
from scrapersky.records.status import Role
from scripts import page
from tests.api.gateway.provider import (
    CLIENT,
    CLIENT_SECRET,
    OTHER_KEY,
    Provider,
    a_provider,
)
from tests.api.gateway.rig import PASSWORD, WITH_TOKENS, House, a_house, a_person
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

COOKIE = "scrapersky_session"
WITH_PROVIDER = {
    **WITH_TOKENS,
    "OIDC_CLIENT_ID": CLIENT,
    "OIDC_CLIENT_SECRET": CLIENT_SECRET,
    "OIDC_NAME": "Harbour login",
    "OIDC_ROLES": "crawl-admins=admin,crawl=curator",
    "OIDC_PUBLIC_URL": "http://app.test",
}


@dataclass(slots=True)
class Door:
    """The application with its provider, and the browser of somebody who comes in."""

    house: House
    provider: Provider
    web: httpx.AsyncClient
    target: Target

    def be(self, **person: Any) -> str:
        """Have somebody new at the browser, told about truly; return their subject."""
        subject = f"sub-{uuid4().hex}"
        fresh = Provider(issuer=self.provider.issuer)
        for name in ("more", "key", "algorithm", "facts_apart", "about", "named"):
            setattr(self.provider, name, getattr(fresh, name))
        self.provider.person = {"sub": subject, **person}
        self.house.client.cookies.clear()
        self.house.fresh()
        return subject

    async def leave(self, back: str = "/") -> str:
        """Go to the provider and return what it sends the browser back to."""
        there = await self.house.get("/session/openid", params={"back": back})
        assert there.status_code == 303
        return str((await self.web.get(there.headers["location"])).headers["location"])

    async def come_in(self) -> httpx.Response:
        return await self.house.client.get(await self.leave())

    async def role(self) -> str | None:
        seen = await self.house.get("/session")
        return str(seen.json()["role"]) if seen.status_code == 200 else None


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(module_database: TestDatabase) -> AsyncIterator[Door]:
    async with a_provider() as provider, httpx.AsyncClient() as web:
        settings = {**WITH_PROVIDER, "OIDC_ISSUER": provider.issuer}
        async with a_house(module_database, settings) as house:
            yield Door(house, provider, web, parse_target(module_database.url))


@pytest_asyncio.fixture(loop_scope="module")
async def door(opened: Door) -> Door:
    opened.be()
    return opened


def verified(name: str) -> dict[str, Any]:
    return {
        "email": f"{name}-{uuid4().hex[:8]}@harbour.example",
        "email_verified": True,
    }


async def test_a_new_person_comes_in_with_the_role_of_their_groups(door: Door) -> None:
    ways = await door.house.get("/session/ways")
    assert ways.json() == {"provider": "Harbour login"}
    subject = door.be(**verified("ada"), name="Ada", groups=["sail", "crawl"])

    back = await door.house.client.get(await door.leave("/curate/places?status=New"))

    assert (back.status_code, back.headers["location"]) == (
        303, "/curate/places?status=New",
    )  # fmt: skip
    cookie = back.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert await door.role() == "curator"
    made = "SELECT name, password_hash FROM users WHERE subject = :subject"
    assert await door.house.run(made, subject=subject) == [("Ada", None)]
    # The groups of today count: tomorrow she is an admin, and then she has left.
    door.house.client.cookies.clear()
    door.provider.person["groups"] = ["crawl-admins", "crawl"]
    await door.come_in()
    assert await door.role() == "admin"
    door.house.client.cookies.clear()
    door.provider.person["groups"] = ["sail"]
    out = await door.come_in()
    assert out.headers["location"] == "/?login=refused"
    assert await door.role() is None


async def test_facts_that_are_only_in_userinfo_are_asked_for(door: Door) -> None:
    door.be(**verified("ben"), groups="crawl")
    door.provider.facts_apart = True

    await door.come_in()

    assert await door.role() == "curator"


async def test_whoever_was_invited_is_known_by_a_verified_address(door: Door) -> None:
    person = await a_person(door.house.engine, door.house.home, Role.VIEWER)
    door.be(email=person.email, email_verified=False, groups=["crawl"])
    assert (await door.come_in()).headers["location"] == "/?login=refused"
    subject = door.be(email=person.email, email_verified=True, groups=["crawl"])

    await door.come_in()

    assert await door.role() == "curator"
    bound = "SELECT id FROM users WHERE subject = :subject"
    assert await door.house.scalar(bound, subject=subject) == person.id
    # Another who shows the same address is somebody else.
    door.be(email=person.email, email_verified=True, groups=["crawl"])
    assert (await door.come_in()).headers["location"] == "/?login=refused"


async def test_a_password_set_by_another_was_good_for_the_role_of_the_groups(
    door: Door,
) -> None:
    person = await a_person(door.house.engine, door.house.home, Role.VIEWER)
    subject = door.be(email=person.email, email_verified=True, groups=["crawl"])

    await door.come_in()

    door.house.client.cookies.clear()
    given = {"email": person.email, "password": PASSWORD}
    by_password = await door.house.send("POST", "/session", json=given)
    assert by_password.status_code == 401
    kept = "SELECT role::text, password_hash FROM users WHERE subject = :subject"
    assert await door.house.run(kept, subject=subject) == [("curator", None)]


async def test_another_tenants_admin_captures_nobody(door: Door) -> None:
    subject = door.be(**verified("cleo"), groups=["crawl"])
    planted = {"email": "trap@example.com", "role": "viewer", "subject": subject}
    made = await door.house.send("POST", "/users", door.house.stranger, json=planted)
    assert made.status_code == 201

    await door.come_in()

    seen = (await door.house.get("/session")).json()
    assert seen["tenant"]["id"] == str(door.house.home)


async def test_a_deactivated_person_stays_out(door: Door) -> None:
    subject = door.be(**verified("dan"), groups=["crawl"])
    await door.come_in()
    await door.house.run(
        "UPDATE users SET disabled_at = now() WHERE subject = :subject", subject=subject
    )
    door.house.client.cookies.clear()

    assert (await door.come_in()).headers["location"] == "/?login=refused"


LIES: dict[str, dict[str, Any]] = {
    "of another issuer": {"more": {"iss": "https://other.example"}},
    "for another program": {"more": {"aud": "another"}},
    "for many, made for another": {"more": {"aud": [CLIENT, "b"], "azp": "b"}},
    "for many, made for nobody": {"more": {"aud": [CLIENT, "b"]}},
    "for another login": {"more": {"nonce": "an older one"}},
    "expired": {"more": {"exp": 1_000_000_000}},
    "of the future": {"more": {"iat": 9_000_000_000, "exp": 9_000_000_300}},
    "of tomorrow": {"more": {"nbf": time.time() + 86_400}},
    "of a later that is a text": {"more": {"nbf": "later"}},
    "issued tomorrow": {"more": {"iat": time.time() + 86_400}},
    "about nobody": {"more": {"sub": ""}},
    "about two lines": {"more": {"sub": "one\r\ntwo"}},
    "signed by another": {"key": OTHER_KEY},
    "signed with the client's secret": {"key": CLIENT_SECRET, "algorithm": "HS256"},
    "not signed": {"key": None, "algorithm": "none"},
    "facts about another": {"facts_apart": True, "about": "somebody else"},
    "the answer is another's": {"named": "https://other.example"},
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_no_lie_of_a_provider_lets_anyone_in(
    door: Door, lie: dict[str, Any]
) -> None:
    door.be(**verified("eve"), groups=["crawl-admins"])
    for name, value in lie.items():
        setattr(door.provider, name, value)

    answer = await door.come_in()

    assert answer.headers["location"] == "/?login=failed"
    assert COOKIE not in answer.cookies
    assert await door.role() is None


async def test_the_clocks_of_two_machines_may_differ_by_seconds(door: Door) -> None:
    door.be(**verified("gil"), groups=["crawl"])
    door.provider.more = {"nbf": time.time() + 5, "iat": time.time() + 5}

    await door.come_in()

    assert await door.role() == "curator"


async def test_a_name_of_two_lines_was_stored(door: Door) -> None:
    name = "Ada\r\nSet-Cookie: a=b\x1b[31m \u202eLovelace"
    subject = door.be(**verified("ada"), name=name, groups=["crawl"])

    await door.come_in()

    kept = "SELECT name FROM users WHERE subject = :subject"
    stored = await door.house.scalar(kept, subject=subject)
    assert stored == "Ada Set-Cookie: a=b Lovelace"


@pytest.mark.parametrize(
    "email", ["ada\r\n@harbour.example", "\u0430da@harbour.example", "ada"]
)
async def test_an_address_that_no_admin_could_write_was_stored(
    door: Door, email: str
) -> None:
    subject = door.be(email=email, email_verified=True, groups=["crawl"])

    answer = await door.come_in()

    assert answer.headers["location"] == "/?login=refused"
    kept = "SELECT count(*) FROM users WHERE subject = :subject"
    assert await door.house.scalar(kept, subject=subject) == 0


@pytest.mark.parametrize(
    ("given", "client", "host", "callback"),
    [
        ({}, "192.0.2.7", "evil.example", None),
        ({}, "192.0.2.7", "localhost", None),
        ({}, "127.0.0.1", "evil.example", None),
        ({}, "127.0.0.1", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ({"TRUSTED_HOSTS": "sky.test"}, "192.0.2.7", "sky.test", "http://sky.test"),
        ({"TRUSTED_HOSTS": "sky.test"}, "192.0.2.7", "sky.test:x@evil.example", None),
        ({"TRUSTED_HOSTS": "sky.test"}, "192.0.2.7", "localhost", None),
        (
            {"OIDC_PUBLIC_URL": "https://sky.test/"},
            "192.0.2.7",
            "evil.example",
            "https://sky.test",
        ),
    ],
)
async def test_people_were_sent_back_to_the_name_that_a_request_gave(
    door: Door, given: dict[str, str], client: str, host: str, callback: str | None
) -> None:
    settings = {**WITH_PROVIDER, "OIDC_PUBLIC_URL": "", **given}
    settings["OIDC_ISSUER"] = door.provider.issuer
    app = create_app(load_settings(settings, dotenv=None).settings, door.target)
    transport = httpx.ASGITransport(app, client=(client, 4000))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://x") as web,
    ):
        answer = await web.get("/api/v3/session/openid", headers={"Host": host})

    if callback is None:
        assert answer.status_code == 400
        assert answer.json()["hint"].endswith("TRUSTED_HOSTS.")
    else:
        sent = parse_qs(urlsplit(answer.headers["location"]).query)
        path = "/api/v3/session/openid/callback"
        assert sent["redirect_uri"] == [callback + path]


async def test_an_answer_counts_once_and_only_in_the_browser_that_asked(
    door: Door,
) -> None:
    door.be(**verified("fay"), groups=["crawl"])
    answer = await door.leave()
    asked = dict(door.house.client.cookies)
    door.house.client.cookies.clear()

    stolen = await door.house.client.get(answer)
    assert stolen.headers["location"] == "/?login=expired"
    forged = {name: f"{value[:-4]}AAAA" for name, value in asked.items()}
    cookie = "; ".join(f"{name}={value}" for name, value in forged.items())
    wrong = await door.house.client.get(answer, headers={"Cookie": cookie})
    assert wrong.headers["location"] == "/?login=expired"
    cookie = "; ".join(f"{name}={value}" for name, value in asked.items())
    other = await door.house.client.get(
        re.sub("state=[^&]+", "state=other", answer), headers={"Cookie": cookie}
    )
    assert other.headers["location"] == "/?login=failed"
    first = await door.house.client.get(answer, headers={"Cookie": cookie})
    again = await door.house.client.get(answer, headers={"Cookie": cookie})

    assert COOKIE in first.cookies
    assert again.headers["location"] == "/?login=failed"


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\nb"]
)
async def test_nobody_is_sent_elsewhere_after_the_login(path: str) -> None:
    assert safe_path(path) == "/"


async def test_the_highest_of_somebodys_groups_counts(door: Door) -> None:
    role_of = door.house.app.state.authenticator.open_id.role_of
    guest = ProviderUser(
        "i", "s", None, False, None, frozenset({"crawl", "crawl-admins"})
    )

    assert role_of(guest) is Role.ADMIN


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID is missing"),
        ({"OIDC_SCOPES": "email"}, "OIDC_SCOPES"),
        ({"ENVIRONMENT": "production"}, "not https"),
        ({"OIDC_ISSUER": ""}, "OIDC_ISSUER is missing"),
        ({"OIDC_ROLES": "crawl=captain"}, "not group=role"),
        ({"OIDC_PUBLIC_URL": "", "HOST": "0.0.0.0"}, "OIDC_PUBLIC_URL is missing"),
    ],
)
async def test_a_loose_provider_stops_the_start(
    given: dict[str, str], why: str
) -> None:
    settings = {**WITH_PROVIDER, "OIDC_ISSUER": "http://p.example", **given}

    with pytest.raises(ConfigurationError, match=why):
        refuse_unsafe(load_settings(settings, dotenv=None).settings)


REAL = Path(__file__).parent / "real_provider.mjs"
FRONTEND = Path(__file__).parents[3] / "frontend"


@pytest.mark.long
async def test_a_certified_provider_lets_its_people_in(database: TestDatabase) -> None:
    """Against node-oidc-provider, which the OpenID Foundation has certified."""
    page.install_all()
    process = await asyncio.create_subprocess_exec(
        str(page.node()), str(REAL), cwd=FRONTEND, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "CLIENT_SECRET": CLIENT_SECRET},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        issuer = (await process.stdout.readline()).decode().strip()
        settings = {**WITH_PROVIDER, "OIDC_ISSUER": issuer}
        async with a_house(database, settings) as house:
            there = await house.get("/session/openid")
            back = await through_the_forms(there.headers["location"])
            answer = await house.client.get(back)
            assert answer.headers["location"] == "/"
            seen = (await house.get("/session")).json()
    finally:
        process.terminate()
        await process.wait()

    assert (seen["role"], seen["email"]) == ("curator", "ada@harbour.example")


async def through_the_forms(address: str) -> str:
    """Log in and consent at the provider; return where it sends the browser."""
    async with httpx.AsyncClient() as web:
        answer = await web.get(address)
        for _ in range(12):
            if answer.is_redirect:
                address = urljoin(str(answer.url), answer.headers["location"])
                if urlsplit(address).hostname == "app.test":
                    return address
                answer = await web.get(address)
                continue
            form = re.search(r'action="([^"]+)"', answer.text)
            prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)
            assert form is not None, answer.text
            assert prompt is not None, answer.text
            given = {"prompt": prompt[1], "login": "ada", "password": "any"}
            answer = await web.post(urljoin(str(answer.url), form[1]), data=given)
    pytest.fail("the provider never sends anyone back")
