"""Nobody gives more than they have: every caller, every target, every route of accounts."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, combinations, product
from typing import Any, Literal
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from sqlalchemy import select

from scrapersky.api.account import router
from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import add_key, add_user
from scrapersky.api.auth.credential import Opener, csrf_token, open_session
from scrapersky.api.auth.identity import Permission
from scrapersky.api.middleware.route import routes_of
from scrapersky.records import User
from scrapersky.records.status import Role
from tests.api.gateway.rig import HASHED, House, a_person, a_token

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIEWER = frozenset({"read"})
CURATOR = VIEWER | {"export", "curate"}
ADMIN = CURATOR | {"administer"}
OPERATOR = ADMIN | {"operate", "metrics"}
POWER = {"viewer": VIEWER, "curator": CURATOR, "admin": ADMIN}
ALL = sorted(permission.value for permission in Permission)
LASTS = timedelta(hours=1)

Place = Literal["home", "other"]
Powers = frozenset[str]


def powers_of(role: str, place: Place) -> Powers:
    """What the documentation says that a user of a role may do."""
    return OPERATOR if role == "admin" and place == "home" else POWER[role]


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody made for one attempt, with a key and a session."""

    user: UUID
    key: UUID
    role: str
    place: Place
    tenant: UUID


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request about somebody, and what it gives or takes."""

    operation: str
    asks: str
    """The permission that its route asks for."""
    method: str
    path: str
    body: Callable[[Target], Any] = lambda _: None
    gives: Callable[[str, Place], Powers] = powers_of
    """What there is to hold for it, by the role and tenant of the target."""


def change(**values: Any) -> Attempt:
    """Change somebody; a role that is given counts like the one they have."""
    given = values.get("role", "viewer")
    return Attempt(
        "update_user", "administer", "PATCH", "/users/{user}",
        lambda of: values | ({"subject": str(of.key)} if "subject" in values else {}),
        lambda role, place: powers_of(role, place) | powers_of(given, place),
    )  # fmt: skip


def new_key(**given: Any) -> Attempt:
    gives = frozenset(given.get("scopes") or POWER[given["role"]])
    return Attempt(
        "create_api_key", "administer", "POST", "/api-keys",
        lambda _: {"name": "k", **given},
        lambda _role, _place: gives,
    )  # fmt: skip


def new_tenant(gives: Powers, **given: Any) -> Attempt:
    return Attempt(
        "create_tenant", "operate", "POST", "/tenants",
        lambda _: {"name": "T", "slug": f"t{uuid4().hex[:12]}", **given},
        lambda _role, _place: gives,
    )  # fmt: skip


ABOUT_SOMEBODY = [
    Attempt(
        "create_user", "administer", "POST", "/users",
        lambda of: {"email": f"{uuid4().hex}@example.com", "role": of.role},
    ),
    change(name="Renamed"),
    change(password="an entirely new password"),
    change(subject="somebody-else"),
    change(disabled=True),
    *(change(role=role) for role in POWER),
    Attempt("delete_user", "administer", "DELETE", "/users/{user}"),
    Attempt("invite_user", "administer", "POST", "/users/{user}/invitation"),
    Attempt(
        "end_sessions_of_user", "administer", "DELETE", "/users/{user}/sessions"
    ),
    Attempt(
        "revoke_api_key", "administer", "DELETE", "/api-keys/{key}",
        gives=lambda role, _place: POWER[role],
    ),
]  # fmt: skip
ABOUT_NOBODY = [
    *(new_key(role=role) for role in POWER),
    *(new_key(role="admin", scopes=[scope]) for scope in ALL),
    new_tenant(frozenset()),
    new_tenant(ADMIN, admin={"email": "first@example.com"}),
    Attempt(
        "update_tenant", "operate", "PATCH", "/tenants/{tenant}",
        lambda _: {"suspended": False},
        lambda _role, _place: frozenset(),
    ),
]  # fmt: skip
OF_THE_CALLER = {
    "log_in", "log_out", "accept_invitation", "change_password", "begin_openid",
    "end_openid", "end_session", "end_other_sessions",
}  # fmt: skip
"""Routes about whoever shows the secret; the last two have a test of their own."""


async def test_every_route_of_accounts_that_changes_something_is_tried() -> None:
    app = FastAPI()
    app.include_router(router)

    changing = {
        route.operation_id
        for route in routes_of(app)
        if route.path.startswith("/api/v3")
        if set(route.methods) - {"GET", "HEAD"} or "openid" in route.path
    }

    tried = {attempt.operation for attempt in ABOUT_SOMEBODY + ABOUT_NOBODY}
    assert changing == tried | OF_THE_CALLER


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, what they may do, and what they show for it."""

    place: Place
    powers: Powers
    headers: dict[str, str]


def scope_sets() -> list[tuple[str, ...]]:
    sizes = range(len(ALL) + 1)
    return list(chain.from_iterable(combinations(ALL, size) for size in sizes))


QUICK = ("home", ("administer", "read"))
SLOW = ("home", ("operate",))


def mark_of(caller: tuple[str, tuple[str, ...]]) -> Any:
    """Let one caller be tried before every commit, and all of them now and then."""
    if caller == QUICK:
        return ()
    return pytest.mark.slow if caller == SLOW else pytest.mark.long


KEYS = [
    pytest.param(
        place,
        scopes,
        id=f"{place} {','.join(scopes) or 'nothing'}",
        marks=mark_of((place, scopes)),
    )
    for place in ("home", "other")
    for scopes in scope_sets()
]


@pytest.mark.parametrize(("place", "scopes"), KEYS)
async def test_a_key_gave_more_than_it_had(
    house: House, place: Place, scopes: tuple[str, ...]
) -> None:
    caller = await caller_by_key(house, place, scopes)

    assert await wrong_answers(house, caller) == []


PEOPLE = [
    pytest.param(
        *one,
        marks=pytest.mark.slow
        if one == ("home", "admin", "session")
        else pytest.mark.long,
    )
    for one in product(("home", "other"), POWER, ("session", "token"))
]


@pytest.mark.parametrize(("place", "role", "way"), PEOPLE)
async def test_a_person_gives_at_most_what_they_have(
    house: House, place: Place, role: str, way: str
) -> None:
    caller = await caller_in_person(house, place, role, way)

    assert await wrong_answers(house, caller) == []


async def wrong_answers(house: House, caller: Caller) -> list[str]:
    """Try everything; return what was let through or refused against the rule."""
    tries = [(attempt, role) for attempt in ABOUT_SOMEBODY for role in POWER]
    tries += [(attempt, "viewer") for attempt in ABOUT_NOBODY]
    found = []
    for attempt, role in tries:
        target = await a_target(house, caller.place, role)
        before = await state_of(house, target)
        status = await send(house, caller, attempt, target)
        after = await state_of(house, target)
        needed = attempt.gives(role, caller.place) | {attempt.asks}
        is_right = (
            status in {200, 201, 204}
            if needed <= caller.powers
            else status == 403 and before == after
        )
        if not is_right:
            found.append(f"{attempt.operation} on {role}: {status}, {sorted(needed)}")
    return found


async def send(house: House, caller: Caller, attempt: Attempt, target: Target) -> int:
    named = {"user": target.user, "key": target.key, "tenant": target.tenant}
    body = attempt.body(target)
    answer = await house.send(
        attempt.method,
        attempt.path.format(**named),
        headers=caller.headers,
        **({} if body is None else {"json": body}),
    )
    return answer.status_code


async def a_target(house: House, place: Place, role: str) -> Target:
    tenant = house.home if place == "home" else house.other
    async with house.engine.begin() as connection:
        user = await add_user(
            connection, MACHINE, tenant,
            email=f"{uuid4().hex}@example.com", role=Role(role), password_hash=HASHED,
        )  # fmt: skip
        _, key = await add_key(
            connection, MACHINE, tenant,
            name="k", role=Role(role), made_by=user.id,
            scopes=[Permission(one) for one in sorted(POWER[role])],
        )  # fmt: skip
        await open_session(connection, user, LASTS, Opener())
    return Target(user.id, key.id, role, place, tenant)


async def state_of(house: House, target: Target) -> Any:
    """Everything that an attempt could have changed, as text."""
    return await house.run(
        "SELECT (SELECT u::text FROM users u WHERE id = :user),"
        " (SELECT revoked_at::text FROM api_keys WHERE id = :key),"
        " (SELECT count(*) FROM login_sessions WHERE user_id = :user),"
        " (SELECT count(*) FROM users), (SELECT count(*) FROM api_keys),"
        " (SELECT string_agg(t::text, ',' ORDER BY id) FROM tenants t)",
        user=target.user,
        key=target.key,
    )


async def caller_by_key(house: House, place: Place, scopes: tuple[str, ...]) -> Caller:
    tenant = house.home if place == "home" else house.other
    maker = await a_person(house.engine, tenant, Role.ADMIN)
    async with house.engine.begin() as connection:
        key, _ = await add_key(
            connection, MACHINE, tenant,
            name="c", role=Role.ADMIN, made_by=maker.id,
            scopes=[Permission(scope) for scope in scopes],
        )  # fmt: skip
    implied = {"metrics"} if "operate" in scopes else set()
    powers = powers_of("admin", place) & (set(scopes) | implied)
    return Caller(place, powers, {"X-API-Key": key.secret})


async def caller_in_person(house: House, place: Place, role: str, way: str) -> Caller:
    tenant = house.home if place == "home" else house.other
    person = await a_person(house.engine, tenant, Role(role))
    powers = powers_of(role, place)
    if way == "token":
        bearer = {
            "Authorization": f"Bearer {a_token(person.id, tenant_id=str(tenant))}"
        }
        return Caller(place, powers, bearer)
    async with house.engine.begin() as connection:
        row = (await connection.execute(select(User).where(User.id == person.id))).one()
        cookie = await open_session(connection, row, LASTS, Opener())
    headers = {
        "Cookie": f"scrapersky_session={cookie}",
        "X-CSRF-Token": csrf_token(cookie),
    }
    return Caller(place, powers, headers)


async def test_a_read_only_key_logged_its_maker_out(house: House) -> None:
    maker = await a_person(house.engine, house.home, Role.ADMIN)
    async with house.engine.begin() as connection:
        key, _ = await add_key(
            connection, MACHINE, house.home,
            name="r", role=Role.ADMIN, made_by=maker.id, scopes=[Permission.READ],
        )  # fmt: skip

    answer = await house.send("DELETE", "/sessions", headers={"X-API-Key": key.secret})

    assert answer.status_code == 403


async def test_a_demoted_admin_promoted_themselves_with_a_request_under_way(
    house: House,
) -> None:
    person = await a_person(house.engine, house.other, Role.ADMIN)
    caller = {
        "Authorization": f"Bearer {a_token(person.id, tenant_id=str(house.other))}"
    }
    path = f"/users/{person.id}"
    assert (await house.get(path, headers=caller)).status_code == 200

    # By another process, of which this one has not heard yet.
    await house.run("UPDATE users SET role = 'viewer' WHERE id = :id", id=person.id)
    answers = [
        await house.send("PATCH", path, headers=caller, json={"role": "admin"}),
        await house.send("PATCH", path, headers=caller, json={"name": "Still here"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403]


async def test_an_invitation_was_good_for_a_higher_role_that_came_after_it(
    house: House,
) -> None:
    caller = await caller_by_key(house, "home", ("administer", "read"))
    target = await a_target(house, "home", "viewer")
    path = f"/users/{target.user}"
    invited = await house.send("POST", f"{path}/invitation", headers=caller.headers)
    operator = await caller_in_person(house, "home", "admin", "token")
    raised = await house.send(
        "PATCH", path, headers=operator.headers, json={"role": "admin"}
    )

    body = {"token": invited.json()["token"], "password": "a long and quiet river"}
    accepted = await house.send("POST", "/session/invitation", json=body)

    assert (invited.status_code, raised.status_code) == (201, 200)
    assert accepted.status_code == 403
