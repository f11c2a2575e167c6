"""What comes in is bounded while it arrives, and JSON means one thing."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from extraction_tests.pace import takes_at_most
from scrapersky.api.middleware import body as bodies
from scrapersky.errors import NotStorable
from tests.api.gateway.rig import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}


async def post(house: House, content: object, **headers: str) -> int:
    sent = {
        **JSON,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    answer = await house.send(
        "POST", "/users", house.admin, headers=sent, content=content
    )
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"[" * 200_000, 400),
        (b'{"a":' * 3_000 + b"1" + b"}" * 3_000, 400),
        (b'{"email": "a@b.c", "email": "c@d.e"}', 400),
        (json.dumps({f"k{n}": n for n in range(2_000)}).encode(), 400),
        (b'{"email": NaN}', 422),
        (b'{"email": Infinity}', 422),
        (b'{"email": 1e400}', 422),
        (b'{"email": ' + b"9" * 5_000 + b"}", 422),
        (b'{"email": "\\ud800@b.c"}', 422),
        (b'{"email": "a\\u0000@b.c"}', 422),
        (b'{"email": "\xff@b.c"}', 422),
        (b'{"email": "\xc0\x80@b.c"}', 422),
        ('{"email": "a@b.c"}'.encode("utf-16"), 422),
        (b'{"email": "a@b.c"', 422),
        (b"'email'", 422),
        (b"null", 422),
        (b"[]", 422),
        (b'"x"', 422),
        (b"{}", 422),
        (b'{"email": {"$ne": null}}', 422),
        (b'{"email": ["a@b.c"]}', 422),
        (b'{"email": true}', 422),
        (b'{"email": "a b@c.d"}', 422),
        (b'{"email": "a@b.c\\r\\nX-Evil: 1"}', 422),
        (b'{"email": "a@b.c", "name": "\\u202e"}', 422),
        (b'{"email": "' + b"x" * 900_000 + b'@b.c"}', 422),
        (b'{"\\ud83d\\ude00": 1, "email": 3}', 422),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_bad_json_is_refused(house: House, content: bytes, status: int) -> None:
    with takes_at_most(1):
        assert await post(house, content) == status


async def test_the_character_nul_is_refused_and_its_escape_is_not() -> None:
    with pytest.raises(NotStorable):
        bodies.refuse_ambiguous(b'"\\\\\\u0000"')

    bodies.refuse_ambiguous(b'"\\\\u0000"')


@pytest.mark.parametrize(
    "piece", [b"\\ud83d\\ude00", b"\\\\", b"\\\\u0000", b"\\ud800"]
)
async def test_a_megabyte_of_escapes_held_the_process_up(piece: bytes) -> None:
    body = b'"' + piece * (bodies.USUAL_BODY_BYTES // len(piece) - 1) + b'"'
    taken = []
    for _ in range(3):
        began = time.thread_time()
        with suppress(NotStorable):
            bodies.refuse_ambiguous(body)
        taken.append(time.thread_time() - began)

    assert min(taken) < 0.05


async def test_a_large_body_is_refused_by_what_it_says(house: House) -> None:
    said = await house.send(
        "POST", "/users", house.admin,
        headers={**JSON, "Content-Length": "100000000"}, content=b"{}",
    )  # fmt: skip

    assert said.status_code == 413


@pytest.mark.parametrize("length", ["-1", "+5", "1e3", "0x10", "९", "9" * 5000])
async def test_a_strange_length_is_refused(house: House, length: str) -> None:
    headers = [
        *house.admin.headers.items(),
        *JSON.items(),
        ("Content-Length", length.encode()),
    ]
    answer = await house.client.post(
        "/api/v3/users",
        headers=headers,  # type: ignore[arg-type]
        content=b"{}",
    )

    assert answer.status_code in {400, 413}


async def test_a_body_without_end_is_refused_while_it_comes(house: House) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 65_536
            yield b" " * 65_536

    assert await post(house, endless()) == 413
    assert sent < 2 * bodies.USUAL_BODY_BYTES


async def test_a_body_that_drips_is_refused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_SECONDS", 0.2)

    async def dripping() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    assert await post(house, dripping()) == 408


@pytest.mark.parametrize(
    "encoding", ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x"]
)
async def test_a_compressed_body_is_refused(house: House, encoding: str) -> None:
    assert await post(house, b"\x1f\x8b" * 10, Content_Encoding=encoding) == 415


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "multipart/form-data; boundary=" + "\t" * 5_000,
        "application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded; " + "a=b; " * 1_000,
        "text/plain",
        "text/html",
        "",
        "application/jsonx",
    ],
    ids=lambda value: value[:40],
)
async def test_other_kinds_of_body_are_refused(house: House, kind: str) -> None:
    with takes_at_most(0.5):
        assert await post(house, b"\r\n" * 100_000, Content_Type=kind) == 415


async def test_an_address_without_end_is_refused(house: House) -> None:
    answers = [
        await house.get("/users?" + "a=b&" * 10_000, house.admin),
        await house.get("/users/" + "a" * 5_000, house.admin),
        await house.get(
            "/users?" + "&".join(f"a{n}=1" for n in range(300)), house.admin
        ),
        await house.get("/users?x=%00", house.admin),
        await house.get("/users?x=%ff", house.admin),
        await house.get("/users/%00", house.admin),
    ]

    codes = [answer.status_code for answer in answers]
    assert codes == [414, 414, 422, 422, 422, 422]


async def test_headers_without_end_are_refused(house: House) -> None:
    many = {f"X-{n}": "1" for n in range(150)}

    assert (await house.get("/users", house.admin, headers=many)).status_code == 400


async def test_wrong_input_is_named_shortly_and_not_repeated(house: House) -> None:
    given = {"email": "a@b.c", **{f"<script>{n}": "<img>" for n in range(500)}}

    answer = await house.send("POST", "/users", house.admin, json=given)

    assert answer.status_code == 422
    assert len(answer.json()["errors"]) <= 20
    assert "<img>" not in answer.text
