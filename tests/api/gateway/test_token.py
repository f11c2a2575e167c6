"""Access tokens: only those signed for us, by whom we trust, for a short while."""

import asyncio
import hmac
import json
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from scrapersky.api.auth.authenticator import bind_subjects
from scrapersky.records.status import Role
from tests.api.gateway.rig import ISSUER, SECRET, House, a_person, a_token, claims

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True, slots=True)
class At:
    """A moment counted from the test, not from when the tests were collected."""

    seconds: int
    form: str = "number"

    def claim(self) -> Any:
        moment = int(time.time()) + self.seconds
        return {
            "number": moment,
            "text": str(moment),
            "list": [moment],
            "object": {"$date": moment},
        }[self.form]


def unsigned(
    header: dict[str, Any], body: dict[str, Any], signature: bytes = b""
) -> str:
    parts = (json.dumps(header).encode(), json.dumps(body).encode(), signature)
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


async def test_a_good_token_is_its_user(house: House) -> None:
    answer = await house.get(
        "/session", headers={"Authorization": f"Bearer {a_token(house.curator.id)}"}
    )

    assert answer.status_code == 200
    assert answer.json()["via"] == "token"
    assert answer.json()["role"] == "curator"
    assert answer.json()["tenant"]["id"] == str(house.home)


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "NONE"])
async def test_a_token_without_signature_is_refused(
    house: House, algorithm: str
) -> None:
    token = unsigned({"alg": algorithm, "typ": "JWT"}, claims(house.admin.id))

    assert await house.with_token(token) == 401
    assert await house.with_token(token.rstrip(".")) == 401


@pytest.mark.parametrize("form", [Encoding.PEM, Encoding.DER])
async def test_a_public_key_is_no_secret(house: House, form: Encoding) -> None:
    public = rsa.generate_private_key(65537, 2048).public_key()
    key = public.public_bytes(form, PublicFormat.SubjectPublicKeyInfo)
    head = {"alg": "HS256", "typ": "JWT"}
    signed = unsigned(head, claims(house.admin.id)).rpartition(".")[0]
    digest = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = digest.sign(signed.encode(), key)

    token = f"{signed}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    assert await house.with_token(token) == 401


@pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
async def test_an_algorithm_that_is_not_listed_is_refused(
    house: House, algorithm: str
) -> None:
    said = json.dumps(claims(house.admin.id)).encode()
    hashed = getattr(jwt.algorithms.HMACAlgorithm, f"SHA{algorithm[2:]}")
    head = json.dumps({"alg": algorithm, "typ": "JWT"}).encode()
    signed = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in (head, said))
    signature = jwt.algorithms.HMACAlgorithm(hashed).sign(signed, SECRET.encode())
    token = signed + b"." + urlsafe_b64encode(signature).rstrip(b"=")

    assert await house.with_token(token) == 401


@pytest.mark.parametrize(
    "algorithm", ["ES256K", "dir", "RSA-OAEP", "", 5, None, ["HS256"]]
)
async def test_a_strange_algorithm_is_refused(house: House, algorithm: Any) -> None:
    token = unsigned(
        {"alg": algorithm, "typ": "JWT"}, claims(house.admin.id), b"x" * 32
    )

    assert await house.with_token(token) == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": At(-1)},
        {"exp": At(-31)},
        {"exp": None},
        {"exp": 1e308},
        {"exp": At(600, "text")},
        {"exp": True},
        {"exp": -1},
        {"exp": At(600, "list")},
        {"exp": At(0, "object")},
        {"exp": At(3 * 3600)},
        {"exp": At(600), "iat": At(-7200)},
        {"exp": At(7200), "iat": None},
        {"nbf": At(120)},
        {"nbf": "soon"},
        {"iat": At(120)},
        {"iat": "then"},
        {"aud": None},
        {"aud": "authenticated-evil"},
        {"aud": "authenticate"},
        {"aud": ["other"]},
        {"aud": []},
        {"aud": {"authenticated": 1}},
        {"iss": None},
        {"iss": "https://issuer.example/auth/v1/evil"},
        {"iss": "https://issuer.example"},
        {"iss": ["https://issuer.example/auth/v1"]},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 256},
        {"purpose": "reset"},
        {"token_use": "refresh"},
        {"typ": "Refresh"},
        {"token_type": "refresh_token"},
        {"tenant_id": "not-a-uuid"},
    ],
    ids=str,
)
async def test_a_token_that_says_something_wrong_is_refused(
    house: House, changed: dict[str, Any]
) -> None:
    now = {k: v.claim() if isinstance(v, At) else v for k, v in changed.items()}
    said = claims(house.admin.id, **now)
    signed = jwt.api_jws.encode(json.dumps(said).encode(), SECRET, "HS256")

    assert await house.with_token(signed) == 401


async def test_a_list_of_audiences_may_name_us(house: House) -> None:
    token = a_token(house.admin.id, aud=["other", "authenticated"])

    assert await house.with_token(token) == 200


@pytest.mark.parametrize(
    "extra",
    [
        {"crit": ["exp"], "exp": 1},
        {"crit": ["b64"], "b64": False},
        {"crit": []},
        {"typ": "refresh+jwt"},
        {"typ": "reset"},
        {"zip": "DEF"},
    ],
    ids=str,
)
async def test_a_header_that_asks_for_more_is_refused(
    house: House, extra: dict[str, Any]
) -> None:
    head = {"alg": "HS256", "typ": "JWT", **extra}
    signed = jwt.api_jws.encode(
        json.dumps(claims(house.admin.id)).encode(), SECRET, "HS256"
    )
    forged = resigned(signed, head)

    assert await house.with_token(forged) == 401


def resigned(token: str, head: dict[str, Any]) -> str:
    body = token.split(".")[1]
    first = urlsafe_b64encode(json.dumps(head).encode()).rstrip(b"=").decode()
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = algorithm.sign(f"{first}.{body}".encode(), SECRET.encode())
    return f"{first}.{body}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def test_where_a_token_says_its_key_is_nobody_looks(house: House) -> None:
    asked: list[bytes] = []

    async def listen(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        asked.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    own = rsa.generate_private_key(65537, 2048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(own.public_key()))
    place = f"http://127.0.0.1:{port}/keys"

    for extra in ({"jku": place}, {"x5u": place}, {"jwk": jwk}, {"x5c": ["MIIB"]}):
        token = a_token(house.admin.id, key=own, algorithm="RS256", headers=extra)
        assert await house.with_token(token) == 401
    server.close()
    await server.wait_closed()

    assert asked == []


async def test_an_elliptic_key_of_the_callers_own_is_refused(house: House) -> None:
    own = ec.generate_private_key(ec.SECP256R1())

    assert (
        await house.with_token(a_token(house.admin.id, key=own, algorithm="ES256"))
        == 401
    )


async def test_an_edited_claim_breaks_the_signature(house: House) -> None:
    head, _, signature = a_token(house.viewer.id).split(".")
    edited = claims(house.admin.id, role="admin", tenant_id=str(house.other))
    body = urlsafe_b64encode(json.dumps(edited).encode()).rstrip(b"=").decode()

    assert await house.with_token(f"{head}.{body}.{signature}") == 401


async def test_a_role_in_the_token_gives_nothing(house: House) -> None:
    token = a_token(house.viewer.id, role="admin", is_admin=True)

    assert await house.with_token(token) == 200
    assert await house.with_token(token, "/users") == 403


async def test_a_tenant_in_the_token_must_be_the_users_own(house: House) -> None:
    mine = a_token(house.admin.id, tenant_id=str(house.home))
    theirs = a_token(house.admin.id, tenant_id=str(house.other))

    assert await house.with_token(mine) == 200
    assert await house.with_token(theirs) == 401


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE users SET disabled_at = now() WHERE id = :id",
        "DELETE FROM users WHERE id = :id",
        (
            "UPDATE tenants SET suspended_at = now() WHERE id = "
            "(SELECT tenant_id FROM users WHERE id = :id)"
        ),
    ],
)
async def test_who_is_shut_out_is_out_within_a_minute(
    house: House, statement: str
) -> None:
    tenant = await house.scalar(
        "INSERT INTO tenants (name, slug) VALUES ('T', gen_random_uuid()::text) "
        "RETURNING id"
    )
    person = await a_person(house.engine, tenant, Role.ADMIN)
    token = a_token(person.id)
    assert await house.with_token(token) == 200
    assert await house.with_token(person.key) == 200

    await house.run(statement, id=person.id)
    house.app.state.authenticator._known._clock = lambda: time.monotonic() + 60
    try:
        assert await house.with_token(token) == 401
        if "DELETE" not in statement:
            assert await house.with_token(person.key) == 401
    finally:
        house.app.state.authenticator._known._clock = time.monotonic


async def test_a_token_can_be_revoked_by_its_owner(house: House) -> None:
    token = a_token(house.curator.id, jti="once")
    other = a_token(house.curator.id, jti="other")
    bearer = {"Authorization": f"Bearer {token}"}

    assert (await house.send("DELETE", "/session", headers=bearer)).status_code == 204

    assert await house.with_token(token) == 401
    assert await house.with_token(other) == 200


async def test_a_registered_subject_is_its_user(house: House) -> None:
    path = f"/users/{house.viewer.id}"
    await house.send("PATCH", path, house.admin, json={"subject": "auth0|42"})

    assert await house.with_token(a_token("auth0|42")) == 200
    assert await house.with_token(a_token("auth0|4")) == 401


async def test_a_squatted_subject_led_a_token_into_the_squatters_tenant(
    house: House,
) -> None:
    subject = f"auth0|{uuid4()}"
    squat = await house.send(
        "PATCH",
        f"/users/{house.stranger.id}",
        house.stranger,
        json={"subject": subject},
    )
    before = await house.with_token(a_token(subject))
    ours = await house.send(
        "PATCH", f"/users/{house.viewer.id}", house.admin, json={"subject": subject}
    )
    bearer = {"Authorization": f"Bearer {a_token(subject)}"}
    after = await house.get("/session", headers=bearer)
    named = a_token(subject, tenant_id=str(house.other))
    theirs = await house.get("/session", headers={"Authorization": f"Bearer {named}"})

    # What another tenant has written is not a conflict: that would say what they have.
    assert (squat.status_code, before, ours.status_code) == (200, 401, 200)
    assert after.json()["tenant"]["id"] == str(house.home)
    assert theirs.json()["tenant"]["id"] == str(house.other)


async def test_a_subject_of_another_issuer_is_nobody(house: House) -> None:
    subject = f"auth0|{uuid4()}"
    await house.run(
        "UPDATE users SET subject = :subject, issuer = 'https://old.example/'"
        " WHERE id = :id",
        subject=subject,
        id=house.viewer.id,
    )

    assert await house.with_token(a_token(subject)) == 401


async def test_a_subject_written_before_is_bound_to_the_issuer_at_the_start(
    house: House,
) -> None:
    subject = f"auth0|{uuid4()}"
    await house.run(
        "UPDATE users SET subject = :subject, issuer = NULL WHERE id = :id",
        subject=subject,
        id=house.viewer.id,
    )
    before = await house.with_token(a_token(subject))

    await bind_subjects(house.engine, ISSUER)

    assert (before, await house.with_token(a_token(subject))) == (401, 200)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ('{"alg": "HS256"}', '{%s, "sub": "%s", "sub": "%s"}'),
        ('{"alg": "HS256"}', '{%s, "sub": "%s", "x": {"a": 1, "a": 2}, "y": "%s"}'),
        ('{"alg": "none", "alg": "HS256"}', '{%s, "sub": "%s", "y": "%s"}'),
    ],
)
async def test_a_signed_token_with_a_name_twice_was_taken(
    house: House, header: str, said: str
) -> None:
    good = json.dumps({**claims("x"), "sub": None})[1:-1].replace(', "sub": null', "")
    good = good.replace('"sub": null, ', "")

    def signed(head: str, body: str) -> str:
        parts = [urlsafe_b64encode(one.encode()).rstrip(b"=") for one in (head, body)]
        mark = hmac.digest(SECRET.encode(), b".".join(parts), "sha256")
        return b".".join([*parts, urlsafe_b64encode(mark).rstrip(b"=")]).decode()

    me, other = house.viewer.id, house.admin.id
    once = signed('{"alg": "HS256"}', f'{{{good}, "sub": "{me}"}}')

    assert await house.with_token(once) == 200
    assert await house.with_token(signed(header, said % (good, me, other))) == 401


async def test_the_system_user_cannot_come_in(house: House) -> None:
    token = a_token("5c7a9e0a-0000-4000-8000-000000000001")

    assert await house.with_token(token) == 401


@pytest.mark.parametrize(
    "value",
    ["", "x", "a.b", "a.b.c", "a.b.c.d.e", "." * 100, "\x7f", "e30.e30.", "A" * 9000],
    ids=lambda value: value[:12],
)
async def test_rubbish_is_refused(house: House, value: str) -> None:
    assert await house.with_token(value) == 401


@pytest.mark.parametrize("scheme", ["Basic YTpi", "Digest x", "bearer", "Token x"])
async def test_other_schemes_are_refused(house: House, scheme: str) -> None:
    answer = await house.get("/session", headers={"Authorization": scheme})

    assert answer.status_code == 401


async def test_two_credentials_are_refused(house: House) -> None:
    answer = await house.client.get(
        "/api/v3/session",
        headers=[
            ("Authorization", f"Bearer {a_token(house.admin.id)}"),
            ("Authorization", f"Bearer {a_token(house.viewer.id)}"),
        ],
    )

    assert answer.status_code == 401


@pytest.mark.parametrize("name", ["access_token", "token", "api_key", "JWT"])
async def test_a_token_in_the_address_is_refused(house: House, name: str) -> None:
    token = a_token(house.admin.id)

    alone = await house.get("/session", params={name: token})
    beside = await house.get("/session", house.admin, params={name: token})

    assert (alone.status_code, beside.status_code) == (400, 400)
    assert token not in beside.text


async def test_calling_oneself_like_anothers_id_gains_nothing(house: House) -> None:
    await house.run(
        "UPDATE users SET subject = :victim, issuer = :issuer WHERE id = :id",
        victim=str(house.admin.id),
        issuer=ISSUER,
        id=house.stranger.id,
    )
    answer = await house.get(
        "/session", headers={"Authorization": f"Bearer {a_token(house.admin.id)}"}
    )

    assert answer.json()["tenant"]["id"] == str(house.home)
    assert answer.json()["email"] == house.admin.email
