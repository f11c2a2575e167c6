"""People, keys and tenants: who may make them, and what they are then good for."""

from dataclasses import dataclass
from uuid import uuid4

import pytest

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import add_key
from scrapersky.api.auth.identity import ROLES
from scrapersky.records.status import Role
from tests.api.gateway.rig import PASSWORD, House, Person, a_person

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def make_key(house: House, who: Person, **given: object) -> dict[str, str]:
    answer = await house.send("POST", "/api-keys", who, json={"name": "k", **given})
    assert answer.status_code == 201, answer.text
    made: dict[str, str] = answer.json()
    return made


async def test_a_key_is_shown_once_and_kept_as_a_hash(house: House) -> None:
    made = await make_key(house, house.admin)

    listed = await house.get("/api-keys", house.admin)
    kept = await house.scalar("SELECT string_agg(k::text, ' ') FROM api_keys k")

    assert made["secret"].startswith(made["prefix"])
    assert made["prefix"] in listed.text
    assert made["secret"] not in listed.text
    assert made["secret"].removeprefix(made["prefix"]) not in kept
    assert await house.with_token(made["secret"]) == 200


async def test_a_key_works_in_its_own_header_too(house: House) -> None:
    answer = await house.get("/session", headers={"X-API-Key": house.viewer.key})

    assert answer.json()["via"] == "key"


async def test_a_key_does_what_its_scopes_say_and_no_more(house: House) -> None:
    reads = await make_key(house, house.admin, role="admin", scopes=["read"])
    curates = await make_key(house, house.admin, role="curator", scopes=["curate"])

    assert await house.with_token(reads["secret"], "/stages") == 200
    assert await house.with_token(reads["secret"], "/users") == 403
    assert await house.with_token(curates["secret"], "/stages") == 403


async def test_nobody_makes_a_key_that_may_more_than_themselves(house: House) -> None:
    weak = await make_key(
        house, house.admin, role="admin", scopes=["read", "administer"]
    )
    headers = {"Authorization": f"Bearer {weak['secret']}"}

    answers = [
        await house.send("POST", "/api-keys", headers=headers, json=given)
        for given in (
            {"name": "x", "role": "admin"},
            {"name": "x", "role": "curator", "scopes": ["curate"]},
            {"name": "x", "role": "admin", "scopes": ["operate"]},
        )
    ]
    beyond = await house.send(
        "POST", "/api-keys", house.stranger,
        json={"name": "x", "role": "admin", "scopes": ["operate"]},
    )  # fmt: skip

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert beyond.status_code == 403


async def test_a_revoked_key_is_dead_at_once(house: House) -> None:
    made = await make_key(house, house.admin)
    assert await house.with_token(made["secret"]) == 200

    answer = await house.send("DELETE", f"/api-keys/{made['id']}", house.admin)

    assert answer.status_code == 204
    assert await house.with_token(made["secret"]) == 401


async def test_an_expired_key_is_dead(house: House) -> None:
    made = await make_key(house, house.admin, expires_in_days=1)
    assert await house.with_token(made["secret"]) == 200

    await house.run(
        "UPDATE api_keys SET expires_at = now() WHERE id = :id", id=made["id"]
    )
    house.fresh()

    assert await house.with_token(made["secret"]) == 401


@pytest.mark.parametrize("change", [lambda key: key[:-1] + "x", lambda key: key[:15]])
async def test_nearly_a_key_is_no_key(house: House, change: object) -> None:
    made = await make_key(house, house.admin)

    assert await house.with_token(change(made["secret"])) == 401  # type: ignore[operator]


async def test_the_last_use_of_a_key_is_known(house: House) -> None:
    made = await make_key(house, house.admin)
    await house.with_token(made["secret"])

    assert await house.scalar(
        "SELECT last_used_at IS NOT NULL FROM api_keys WHERE id = :id", id=made["id"]
    )


@pytest.mark.parametrize(
    ("role", "expected"),
    [(Role.VIEWER, [403, 403, 403]), (Role.CURATOR, [403, 403, 403])],
)
async def test_only_admins_look_after_people(
    house: House, role: Role, expected: list[int]
) -> None:
    person = {Role.VIEWER: house.viewer, Role.CURATOR: house.curator}[role]

    answers = [
        await house.get(path, person) for path in ("/users", "/api-keys", "/tenants")
    ]

    assert [answer.status_code for answer in answers] == expected


async def test_only_admins_could_make_a_column_of_their_own(house: House) -> None:
    column = {"name": "budget", "title": "Budget", "type": "number"}
    path = "/company-columns"

    made = await house.send("POST", path, house.curator, json=column)

    assert made.status_code == 201
    answers = [
        await house.send("POST", path, house.viewer, json={**column, "name": "other"}),
        await house.send("DELETE", f"{path}/{made.json()['id']}", house.curator),
    ]
    assert [answer.status_code for answer in answers] == [403, 403]
    gone = await house.send("DELETE", f"{path}/{made.json()['id']}", house.admin)
    assert gone.status_code == 204


async def test_an_admin_of_another_tenant_is_no_operator(house: House) -> None:
    answers = [
        await house.get("/tenants", house.stranger),
        await house.send("POST", "/tenants", house.stranger, json={"name": "Mine"}),
        await house.send(
            "PATCH", f"/tenants/{house.home}", house.stranger, json={"suspended": True}
        ),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]


async def test_the_key_of_a_demoted_admin_kept_their_rights(house: House) -> None:
    operator = await an_operator(house)
    person = await a_person(house.engine, house.home, Role.ADMIN)
    before = await house.get("/users", person)

    await house.send("PATCH", f"/users/{person.id}", operator, json={"role": "viewer"})
    session = await house.get("/session", person)
    after = await house.get("/users", person)
    await house.send("PATCH", f"/users/{person.id}", operator, json={"role": "admin"})
    again = await house.get("/users", person)

    statuses = (before.status_code, after.status_code, again.status_code)
    assert statuses == (200, 403, 200)
    assert (session.json()["role"], session.json()["permissions"]) == (
        "viewer",
        ["read"],
    )


async def test_the_key_of_a_removed_person_worked_again(house: House) -> None:
    operator = await an_operator(house)
    person = await a_person(house.engine, house.home, Role.ADMIN)
    made = await make_key(house, person, role="admin")

    removed = await house.send("DELETE", f"/users/{person.id}", operator)
    answers = [
        await house.get("/session", person),
        await house.get("/session", headers={"X-API-Key": made["secret"]}),
    ]

    assert removed.status_code == 204
    assert [answer.status_code for answer in answers] == [401, 401]
    assert await house.scalar(
        "SELECT bool_and(revoked_at IS NOT NULL) FROM api_keys WHERE id = :id",
        id=made["id"],
    )


async def test_a_key_ends_with_who_made_it_also_when_sql_removes_them(
    house: House,
) -> None:
    person = await a_person(house.engine, house.home, Role.ADMIN)

    await house.run("DELETE FROM users WHERE id = :id", id=person.id)
    house.fresh()

    assert (await house.get("/session", person)).status_code == 401


async def test_a_key_that_the_machine_made_needs_nobody(house: House) -> None:
    async with house.engine.begin() as connection:
        key, _ = await add_key(
            connection,
            MACHINE,
            house.home,
            name="k",
            role=Role.ADMIN,
            scopes=sorted(ROLES[Role.ADMIN]),
            made_by=None,
        )

    answer = await house.get("/session", headers={"X-API-Key": key.secret})

    assert answer.json()["role"] == "admin"


async def test_the_last_admin_stays(house: House) -> None:
    tenant = await house.scalar(
        "INSERT INTO tenants (name, slug) VALUES ('L', :slug) RETURNING id",
        slug=uuid4().hex,
    )
    last = await a_person(house.engine, tenant, Role.ADMIN)

    answers = [
        await house.send("DELETE", f"/users/{last.id}", last),
        await house.send("PATCH", f"/users/{last.id}", last, json={"role": "viewer"}),
        await house.send("PATCH", f"/users/{last.id}", last, json={"disabled": True}),
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 409]


async def test_people_are_made_changed_and_removed(house: House) -> None:
    email = f"{uuid4().hex}@Example.COM"
    made = await house.send("POST", "/users", house.admin, json={"email": email})
    again = await house.send("POST", "/users", house.admin, json={"email": email})
    path = f"/users/{made.json()['id']}"

    changed = await house.send("PATCH", path, house.admin, json={"role": "curator"})
    removed = await house.send("DELETE", path, house.admin)

    assert (made.status_code, again.status_code) == (201, 409)
    assert made.json()["email"] == email.lower()
    assert changed.json()["role"] == "curator"
    assert removed.status_code == 204
    assert (await house.get(path, house.admin)).status_code == 404
    assert "password" not in made.text


@pytest.mark.parametrize(
    "twin",
    [
        "\uff41da@example.com",
        "\u0430da@example.com",
        "ada@example.com.",
        "ada\u200b@example.com",
        "ad\u00e0@example.com",
    ],
)
async def test_an_address_that_looks_like_anothers_was_let_in(
    house: House, twin: str
) -> None:
    answer = await house.send("POST", "/users", house.admin, json={"email": twin})

    assert answer.status_code == 422


async def test_a_person_whose_host_is_in_another_script_logs_in(house: House) -> None:
    name, password = uuid4().hex, "tall trees 4 miles"
    made = await house.send(
        "POST",
        "/users",
        house.admin,
        json={"email": f"{name}@b\u00fccher.example", "password": password},
    )
    written = {"email": f"{name}@B\u00dcCHER.example", "password": password}
    login = await house.send("POST", "/session", json=written)
    house.client.cookies.clear()

    assert made.json()["email"] == f"{name}@xn--bcher-kva.example"
    assert login.status_code == 201


async def test_everything_done_to_people_is_noted(house: House) -> None:
    email = f"{uuid4().hex}@example.com"

    made = await house.send(
        "POST",
        "/users",
        house.admin,
        json={"email": email, "password": "xyz abc 12345"},
    )

    noted = await house.run(
        "SELECT actor, action, details::text FROM audit_log WHERE subject = :subject",
        subject=f"users/{made.json()['id']}",
    )
    assert [row[1] for row in noted] == ["user.created"]
    assert "xyz abc" not in noted[0][2]


async def test_a_tenant_is_made_with_its_admin_and_its_rule(house: House) -> None:
    operator = await an_operator(house)
    slug = uuid4().hex[:12]
    admin = {"email": f"{slug}@example.com", "password": "tall trees 4 miles"}

    made = await house.send(
        "POST", "/tenants", operator, json={"name": "New", "slug": slug, "admin": admin}
    )
    login = await house.send("POST", "/session", json=admin)
    house.client.cookies.clear()

    assert made.status_code == 201, made.text
    assert login.json()["tenant"]["id"] == made.json()["id"]
    assert login.json()["role"] == "admin"
    assert not login.json()["is_operator"]
    rules = await house.scalar(
        "SELECT count(*) FROM selection_rules WHERE tenant_id = :id",
        id=made.json()["id"],
    )
    assert rules == 1


async def test_a_suspended_tenant_is_out_at_once(house: House) -> None:
    operator = await an_operator(house)
    tenant = await house.scalar(
        "INSERT INTO tenants (name, slug) VALUES ('S', :slug) RETURNING id",
        slug=uuid4().hex,
    )
    person = await a_person(house.engine, tenant, Role.ADMIN)
    assert (await house.get("/session", person)).status_code == 200

    await house.send("PATCH", f"/tenants/{tenant}", operator, json={"suspended": True})
    out = await house.get("/session", person)
    await house.send("PATCH", f"/tenants/{tenant}", operator, json={"suspended": False})
    back = await house.get("/session", person)
    own = await house.send(
        "PATCH", f"/tenants/{house.home}", operator, json={"suspended": True}
    )

    assert (out.status_code, back.status_code, own.status_code) == (401, 200, 409)


@dataclass(frozen=True, slots=True)
class Operator(Person):
    """A person with a cookie."""

    token: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": f"scrapersky_session={self.key}", "X-CSRF-Token": self.token}


async def an_operator(house: House) -> Operator:
    """Return the admin of the home tenant, who logged in rather than sent a key."""
    answer = await house.send(
        "POST", "/session", json={"email": house.admin.email, "password": PASSWORD}
    )
    house.client.cookies.clear()
    return Operator(
        id=house.admin.id,
        tenant=house.home,
        email=house.admin.email,
        role=Role.ADMIN,
        key=answer.cookies["scrapersky_session"],
        token=answer.json()["csrf_token"],
    )
