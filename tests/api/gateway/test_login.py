"""Logging in and out, and what a cookie is good for."""

import itertools
import statistics
import time
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from scrapersky.api.account import invitation
from scrapersky.api.auth import password
from scrapersky.api.auth.password import HASHER, NOBODY
from scrapersky.records import User
from scrapersky.records.status import Role
from tests.api.gateway.rig import HASHED, PASSWORD, House, Person, a_person

pytestmark = pytest.mark.asyncio(loop_scope="module")

COOKIE = "scrapersky_session"


async def log_in(house: House, person: Person) -> httpx.Response:
    return await house.send(
        "POST", "/session", json={"email": person.email, "password": PASSWORD}
    )


def cookie_of(answer: httpx.Response) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={answer.cookies[COOKIE]}"}


@pytest.fixture(autouse=True)
def without_cookies(house: House) -> None:
    house.client.cookies.clear()


async def test_a_person_logs_in_works_and_logs_out(house: House) -> None:
    answer = await log_in(house, house.admin)
    house.client.cookies.clear()
    cookie = cookie_of(answer)
    header = answer.headers["set-cookie"].lower()

    assert answer.status_code == 201
    assert "httponly" in header
    assert "samesite=lax" in header
    token = answer.json()["csrf_token"]
    seen = await house.get("/session", headers=cookie)
    assert (seen.status_code, seen.json()["via"]) == (200, "session")
    assert seen.json()["csrf_token"] == token
    out = await house.send(
        "DELETE", "/session", headers={**cookie, "X-CSRF-Token": token}
    )
    assert out.status_code == 204
    assert (await house.get("/session", headers=cookie)).status_code == 401


async def test_the_cookie_is_marked_secure_behind_tls(house: House) -> None:
    answer = await house.client.post(
        "https://app.test/api/v3/session",
        json={"email": house.admin.email, "password": PASSWORD},
    )

    assert "secure" in answer.headers["set-cookie"].lower()
    assert answer.headers["strict-transport-security"]


async def test_the_database_holds_no_cookie(house: House) -> None:
    value = (await log_in(house, house.admin)).cookies[COOKIE]

    kept = await house.run("SELECT token_hash FROM login_sessions")

    assert all(value.encode() not in bytes(row[0]) for row in kept)


async def test_a_login_begins_a_new_session(house: House) -> None:
    first = await log_in(house, house.admin)
    house.client.cookies.clear()
    fixed = {"Cookie": f"{COOKIE}=chosen-by-an-attacker"}

    chosen = await house.send(
        "POST", "/session", headers=fixed,
        json={"email": house.admin.email, "password": PASSWORD},
    )  # fmt: skip
    again = await house.send(
        "POST", "/session", headers=cookie_of(first),
        json={"email": house.admin.email, "password": PASSWORD},
    )  # fmt: skip
    house.client.cookies.clear()

    assert chosen.cookies[COOKIE] != "chosen-by-an-attacker"
    assert again.cookies[COOKIE] != first.cookies[COOKIE]
    assert (await house.get("/session", headers=cookie_of(first))).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-CSRF-Token": "wrong"},
        {"X-CSRF-Token": "wrong", "Origin": "http://app.test"},
        {"X-CSRF-Token": ""},
    ],
    ids=str,
)
async def test_a_change_by_cookie_needs_the_pages_token(
    house: House, headers: dict[str, str]
) -> None:
    answer = await log_in(house, house.admin)
    house.client.cookies.clear()
    sent = {**cookie_of(answer), **headers}

    refused = [
        await house.send(method, path, headers=sent, json={})
        for method, path in (
            ("POST", "/users"), ("DELETE", "/session"),
            ("PATCH", f"/users/{house.viewer.id}"),
        )
    ]  # fmt: skip

    assert [answer.status_code for answer in refused] == [403, 403, 403]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
async def test_a_form_of_another_site_changes_nothing(house: House, kind: str) -> None:
    answer = await log_in(house, house.admin)
    house.client.cookies.clear()
    headers = {
        **cookie_of(answer),
        "Content-Type": kind,
        "Origin": "https://evil.example",
    }

    forged = await house.send(
        "POST", "/users", headers=headers, content=b'{"email": "evil@example.com"}'
    )

    assert forged.status_code in {403, 415}
    assert not await house.scalar(
        "SELECT count(*) FROM users WHERE email = 'evil@example.com'"
    )


async def test_a_page_of_another_site_reads_nothing_by_cookie(house: House) -> None:
    answer = await log_in(house, house.admin)
    house.client.cookies.clear()
    headers = {**cookie_of(answer), "Sec-Fetch-Site": "cross-site"}

    assert (await house.get("/session", headers=headers)).status_code == 403


async def test_another_site_cannot_log_its_visitors_in(house: House) -> None:
    given = {"email": house.admin.email, "password": PASSWORD}
    headers = {"Origin": "https://evil.example"}

    answer = await house.send("POST", "/session", headers=headers, json=given)

    assert answer.status_code == 403


async def test_a_wrong_password_and_a_wrong_address_get_the_same_answer(
    house: House,
) -> None:
    wrong = await house.send(
        "POST", "/session", json={"email": house.admin.email, "password": "no" * 8}
    )
    nobody = await house.send(
        "POST", "/session", json={"email": "no@example.com", "password": "no" * 8}
    )

    assert (wrong.status_code, nobody.status_code) == (401, 401)
    assert wrong.json()["detail"] == nobody.json()["detail"]


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Which hashes were verified, None for nobody's."""
    found: list[str | None] = []
    verify = password.verified

    def counted(given: str, kept: str | None) -> bool:
        found.append(kept)
        return verify(given, kept)

    monkeypatch.setattr(password, "verified", counted)
    return found


@pytest.mark.parametrize("tenants", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("given", [PASSWORD, "no" * 8], ids=["right", "wrong"])
async def test_the_work_of_a_login_told_how_many_tenants_know_an_address(
    house: House, verified: list[str | None], tenants: int, given: str
) -> None:
    email = await in_many_tenants(house, tenants)

    answer = await house.send(
        "POST", "/session", json={"email": email, "password": given}
    )

    is_let_in = tenants > 0 and given == PASSWORD
    assert answer.status_code == (201 if is_let_in else 401)
    assert len(verified) == 3


@pytest.mark.parametrize("tenants", [0, 4])
async def test_a_named_tenant_takes_the_same_work_whoever_is_in_it(
    house: House, verified: list[str | None], tenants: int
) -> None:
    email = await in_many_tenants(house, tenants)
    last = "SELECT slug FROM tenants ORDER BY created_at DESC LIMIT 1"
    given = {
        "email": email,
        "password": PASSWORD,
        "tenant": await house.scalar(last),
    }

    answer = await house.send("POST", "/session", json=given)

    assert answer.status_code == (201 if tenants else 401)
    assert len(verified) == 1


async def in_many_tenants(house: House, tenants: int) -> str:
    """Let one address into so many tenants; return it."""
    email = f"{uuid4().hex}@example.com"
    for _ in range(tenants):
        tenant = await house.scalar(
            "INSERT INTO tenants (name, slug) VALUES ('M', :slug) RETURNING id",
            slug=uuid4().hex,
        )
        await house.add(User, tenant, email=email, password_hash=HASHED)
    return email


async def test_nobodys_password_is_verified_with_the_same_effort() -> None:
    ours = HASHER.hash("anything").split("$")

    assert NOBODY.split("$")[:4] == ours[:4]


@pytest.mark.long
async def test_a_wrong_address_takes_as_long_as_a_wrong_password(house: House) -> None:
    # A difference is there every time; what other work does to the clock is not.
    for _ in range(3):
        taken = await times_of_wrong_logins(house)
        # Other work on the machine makes some answers late and none early.
        known, unknown = (statistics.quantiles(times)[0] for times in taken)
        longer = statistics.fmean(
            one > other for one, other in itertools.product(*taken)
        )
        print(
            f"a quarter of the known took at most {known * 1e3:.1f} ms, of the unknown "
            f"{unknown * 1e3:.1f} ms; known took longer in {longer:.1%} of all pairs"
        )
        # Whoever guesses by the time it took is right half of the time.
        if abs(known - unknown) / known < 0.1 and 0.4 < longer < 0.6:
            return
    pytest.fail("whether an address is known shows in the time of the answer")


async def times_of_wrong_logins(house: House) -> tuple[list[float], list[float]]:
    """Return how long answers took to who has an account, and to who has none."""
    taken: dict[str, list[float]] = {house.admin.email: [], "no@example.com": []}
    for turn in range(150):
        # Whoever is second may find what the first has left.
        for email in sorted(taken, reverse=bool(turn % 2)):
            house.fresh()
            started = time.perf_counter()
            await house.send(
                "POST", "/session", json={"email": email, "password": "no" * 8}
            )
            taken[email].append(time.perf_counter() - started)
    known, unknown = taken.values()
    return known, unknown


async def test_passwords_are_not_tried_out(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow this machine is: what is gained meanwhile is not what this is about.
    logins = house.app.state.authenticator.logins
    monkeypatch.setattr(logins, "_clock", lambda: 0.0)
    person = await a_person(house.engine, house.home, Role.VIEWER)
    given = {"email": person.email, "password": "guess guess guess"}

    answers = [await house.send("POST", "/session", json=given) for _ in range(15)]
    right = await log_in(house, person)

    codes = [answer.status_code for answer in answers]
    assert codes == [401] * 10 + [429] * 5
    assert int(answers[-1].headers["retry-after"]) >= 1
    # Not even the right one: otherwise the limit would say which it is.
    assert right.status_code == 429


async def test_one_address_cannot_try_many_accounts(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = house.app.state.authenticator.attempts
    # Nobody gains an attempt while a slow machine hashes.
    monkeypatch.setattr(attempts, "per_second", 1e-6)
    answers = [
        await house.send(
            "POST", "/session", json={"email": f"u{n}@example.com", "password": "x"}
        )
        for n in range(3)
    ]
    attempts._buckets["192.0.2.7"].left = 0

    answers.append(
        await house.send(
            "POST", "/session", json={"email": "u9@example.com", "password": "x"}
        )
    )

    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]


async def test_a_new_password_ends_every_session(house: House) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)
    cookie = cookie_of(await log_in(house, person))
    house.client.cookies.clear()

    changed = await house.send(
        "PATCH", f"/users/{person.id}", house.admin,
        json={"password": "an entirely new password"},
    )  # fmt: skip

    assert changed.status_code == 200
    assert (await house.get("/session", headers=cookie)).status_code == 401
    assert (await log_in(house, person)).status_code == 401


async def test_a_disabled_person_is_out_at_once(house: House) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)
    cookie = cookie_of(await log_in(house, person))
    house.client.cookies.clear()

    await house.send(
        "PATCH", f"/users/{person.id}", house.admin, json={"disabled": True}
    )

    assert (await house.get("/session", headers=cookie)).status_code == 401
    assert (await house.get("/session", person)).status_code == 401
    assert (await log_in(house, person)).status_code == 401


async def test_a_session_that_nobody_uses_ends(house: House) -> None:
    cookie = cookie_of(await log_in(house, house.admin))
    house.client.cookies.clear()
    await house.run("UPDATE login_sessions SET seen_at = now() - interval '3 days'")
    house.fresh()

    assert (await house.get("/session", headers=cookie)).status_code == 401


@pytest.mark.parametrize(
    "password", ["short", "aaaaaaaaaaaa", "password1234", "1" * 12]
)
async def test_a_weak_password_is_refused(house: House, password: str) -> None:
    given = {"email": "weak@example.com", "password": password}

    answer = await house.send("POST", "/users", house.admin, json=given)

    assert answer.status_code == 422
    assert password not in answer.text


async def test_an_invited_person_chooses_the_password_and_the_link_works_once(
    house: House,
) -> None:
    given = {"email": f"eve-{uuid4().hex[:8]}@example.com", "role": "curator"}
    made = (await house.send("POST", "/users", house.admin, json=given)).json()
    path = f"/users/{made['id']}/invitation"
    by_viewer = await house.send("POST", path, house.viewer)
    by_stranger = await house.send("POST", path, house.stranger)
    invited = await house.send("POST", path, house.admin)
    assert invited.status_code == 201, invited.text
    token = invited.json()["token"]

    async def accept(token: str, password: str = "a long and quiet river") -> int:
        body = {"token": token, "password": password}
        answer = await house.send("POST", "/session/invitation", json=body)
        house.client.cookies.clear()
        return answer.status_code

    assert (by_viewer.status_code, by_stranger.status_code) == (403, 404)
    assert await accept(f"{token}x") == 403
    assert await accept(token, "short") == 422
    assert await accept(token) == 201
    assert await accept(token) == 403
    logged_in = await house.send(
        "POST",
        "/session",
        json={"email": given["email"], "password": "a long and quiet river"},
    )
    assert logged_in.json()["role"] == "curator"


async def test_an_old_invitation_and_one_to_somebody_shut_out_do_not_work(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)

    async def accept() -> int:
        made = await house.send("POST", f"/users/{person.id}/invitation", house.admin)
        body = {"token": made.json()["token"], "password": "a long and quiet river"}
        answer = await house.send("POST", "/session/invitation", json=body)
        return answer.status_code

    with monkeypatch.context() as patched:
        patched.setattr(invitation, "INVITATION_AGE", timedelta(0))
        assert await accept() == 403
    change = {"disabled": True}
    await house.send(
        "PATCH",
        f"/users/{person.id}",
        house.admin,
        json=change,
        headers={"If-Match": "*"},
    )
    assert await accept() == 403


async def test_a_person_changes_their_own_password_and_is_logged_out_elsewhere(
    house: House,
) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)
    elsewhere = cookie_of(await log_in(house, person))
    house.client.cookies.clear()
    answer = await log_in(house, person)
    house.client.cookies.clear()
    here = {**cookie_of(answer), "X-CSRF-Token": answer.json()["csrf_token"]}

    async def change(current: str) -> httpx.Response:
        body = {"current": current, "password": "a long and quiet river"}
        answer = await house.send("POST", "/session/password", headers=here, json=body)
        house.client.cookies.clear()
        return answer

    assert (await change("not this one")).status_code == 422
    changed = await change(PASSWORD)

    assert changed.status_code == 200
    assert (await house.get("/session", headers=cookie_of(changed))).status_code == 200
    assert (await house.get("/session", headers=elsewhere)).status_code == 401
    assert (await log_in(house, person)).status_code == 401


async def test_people_see_where_they_are_logged_in_and_end_a_lost_one(
    house: House,
) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)
    opened = []
    for device in ("Desk", "Lost phone", "Tablet"):
        opened.append(
            await house.send(
                "POST", "/session", headers={"User-Agent": device},
                json={"email": person.email, "password": PASSWORD},
            )
        )  # fmt: skip
        house.client.cookies.clear()
    here, lost, third = opened
    asks = {**cookie_of(here), "X-CSRF-Token": here.json()["csrf_token"]}

    seen = (await house.get("/sessions", headers=asks)).json()["items"]
    by_device = {one["device"]: one for one in seen}
    assert set(by_device) == {"Desk", "Lost phone", "Tablet"}
    assert [one["device"] for one in seen if one["is_this"]] == ["Desk"]
    assert {one["address"] for one in seen} == {"192.0.2.7"}
    ended = await house.send(
        "DELETE", f"/sessions/{by_device['Lost phone']['id']}", headers=asks
    )

    assert ended.status_code == 204
    assert (await house.get("/session", headers=cookie_of(lost))).status_code == 401
    others = await house.send("DELETE", "/sessions", headers=asks)
    assert others.json() == {"ended": 1}
    assert (await house.get("/session", headers=cookie_of(third))).status_code == 401
    assert (await house.get("/session", headers=asks)).status_code == 200
    noted = "SELECT count(*) FROM audit_log WHERE action = 'session.ended'"
    assert await house.scalar(f"{noted} AND subject = 'users/{person.id}'") == 2


async def test_an_admin_logs_out_their_own_people_only(house: House) -> None:
    person = await a_person(house.engine, house.home, Role.VIEWER)
    cookie = cookie_of(await log_in(house, person))
    house.client.cookies.clear()
    theirs = f"/users/{person.id}/sessions"
    (session,) = (await house.get(theirs, house.admin)).json()["items"]

    for method, path, who in (
        ("GET", theirs, house.stranger), ("DELETE", theirs, house.stranger),
        ("DELETE", f"/sessions/{session['id']}", house.stranger),
        ("DELETE", f"/sessions/{session['id']}", house.curator),
    ):  # fmt: skip
        assert (await house.send(method, path, who)).status_code == 404
    assert (await house.get(theirs, house.viewer)).status_code == 403
    assert (await house.get("/session", headers=cookie)).status_code == 200
    ended = await house.send("DELETE", theirs, house.admin)

    assert ended.json() == {"ended": 1}
    assert (await house.get("/session", headers=cookie)).status_code == 401
