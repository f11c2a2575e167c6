"""Signatures by Standard Webhooks 1.0: ours against the library's verifier and the formula."""

import hashlib
import hmac
import time
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook, WebhookVerificationError

from scrapersky.webhooks.signature import (
    SigningSecret,
    dump_secrets,
    load_secrets,
    new_secret,
    rotate,
    sign_message,
)

SECRET = SigningSecret(bytes(range(24)), bytes(range(32)))
ID = "msg_0123456789abcdef"
NOW = datetime(2026, 11, 18, 12, 30, 15, 999_999, tzinfo=UTC)
BODIES = {
    "plain": b'{"type":"contact.created"}',
    "nothing": b"",
    "four bytes": '{"name":"Zoë 🏢 Łódź"}'.encode(),
    "spaces and lines": b'{ "a" :\r\n 1 }',
    "long": b"x" * 20_000,
}
LONDON_TO_BANGKOK = [timezone(timedelta(hours=hours)) for hours in (0, 7, -11)]


def formula(secret: SigningSecret, moment: str, body: bytes) -> str:
    """The specification, written down a second time."""
    content = ID.encode() + b"." + moment.encode() + b"." + body
    return "v1," + b64encode(hmac.digest(secret.key, content, hashlib.sha256)).decode()


@pytest.fixture
def at_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return NOW.astimezone(tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", Frozen)


@pytest.mark.usefixtures("at_that_time")
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("zone", LONDON_TO_BANGKOK, ids=str)
@pytest.mark.parametrize("size", [24, 32, 64])
def test_what_we_sign_the_library_verifies_in_every_time_zone(
    name: str, zone: timezone, size: int
) -> None:
    secret, body = SigningSecret(bytes(size), SECRET.seed), BODIES[name]
    headers = sign_message(ID, body, [secret], ["v1"], NOW.astimezone(zone))

    assert headers["webhook-timestamp"] == "1795005015"
    assert headers["webhook-signature"] == formula(secret, "1795005015", body)
    Webhook(secret.shared).verify(body, dict(headers), json_parse=False)


def test_the_machine_s_own_time_zone_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Bangkok")
    time.tzset()
    try:
        headers = sign_message(ID, b"{}", [SECRET], ["v1"], NOW)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert headers["webhook-signature"] == formula(SECRET, "1795005015", b"{}")


@pytest.mark.usefixtures("at_that_time")
def test_what_was_changed_on_the_way_is_not_verified() -> None:
    headers = dict(sign_message(ID, b'{"a":1}', [SECRET], ["v1"], NOW))
    verify = Webhook(SECRET.shared).verify
    late = dict(
        sign_message(ID, b'{"a":1}', [SECRET], ["v1"], NOW - timedelta(minutes=6))
    )

    for body, wrong in [
        (b'{"a":2}', headers),
        (b'{"a": 1}', headers),
        (b'{"a":1}', headers | {"webhook-id": "msg_other"}),
        (b'{"a":1}', headers | {"webhook-timestamp": "1795005016"}),
        (b'{"a":1}', late),
    ]:
        with pytest.raises(WebhookVerificationError):
            verify(body, wrong, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret().shared).verify(b'{"a":1}', headers, json_parse=False)


@pytest.mark.usefixtures("at_that_time")
def test_after_a_rotation_both_secrets_verify_until_the_old_one_ends() -> None:
    both = rotate([SECRET], NOW + timedelta(hours=1))
    new, old = both
    assert (old.key, new.key != old.key) == (SECRET.key, True)

    during = dict(sign_message(ID, b"{}", both, ["v1"], NOW))
    after = sign_message(ID, b"{}", both, ["v1"], NOW + timedelta(hours=1))

    for one in both:
        Webhook(one.shared).verify(b"{}", during)
    assert len(after["webhook-signature"].split()) == 1
    assert rotate(both, NOW)[1].key == new.key


@pytest.mark.usefixtures("at_that_time")
def test_v1a_is_verified_with_the_public_key_and_does_not_disturb_v1() -> None:
    headers = dict(sign_message(ID, b"{}", [SECRET], ["v1a", "v1"], NOW))
    Webhook(SECRET.shared).verify(b"{}", headers)
    first = headers["webhook-signature"].split()[0]
    scheme, _, signature = first.partition(",")
    public = Ed25519PublicKey.from_public_bytes(
        b64decode(SECRET.public.removeprefix("whpk_"))
    )
    content = f"{ID}.{headers['webhook-timestamp']}.".encode()

    assert scheme == "v1a"
    public.verify(b64decode(signature), content + b"{}")
    with pytest.raises(InvalidSignature):
        public.verify(b64decode(signature), content + b"{ }")


def test_secrets_are_long_enough_and_read_as_they_were_written() -> None:
    both = rotate([new_secret()], NOW)

    assert load_secrets(dump_secrets(both)) == both
    assert all(24 <= len(one.key) <= 64 for one in both)
    assert "key=" not in repr(both[0])
