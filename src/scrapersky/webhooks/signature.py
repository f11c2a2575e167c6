"""Sign messages by Standard Webhooks 1.0: the bytes that are sent, with a shared or a private key.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SYMMETRIC: Final = "v1"
ASYMMETRIC: Final = "v1a"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - not a secret
PUBLIC_PREFIX: Final = "whpk_"
SECRET_BYTES: Final = 32
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, repr=False)
class SigningSecret:
    """What the messages of an endpoint are signed with."""

    key: bytes
    """Shared with whoever receives them."""
    seed: bytes
    """Of the private key, which only we have."""
    until: datetime | None = None
    """When it ends, if a newer one has taken its place."""

    @property
    def shared(self) -> str:
        """Return the shared key as its receiver is given it, once."""
        return SECRET_PREFIX + b64encode(self.key).decode()

    @property
    def public(self) -> str:
        """Return the public key, which anyone may see."""
        key = Ed25519PrivateKey.from_private_bytes(self.seed).public_key()
        return PUBLIC_PREFIX + b64encode(key.public_bytes_raw()).decode()

    def sign(self, content: bytes, scheme: str) -> str:
        """Sign in one of the two ways."""
        if scheme == SYMMETRIC:
            signature = hmac.digest(self.key, content, hashlib.sha256)
        else:
            signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(content)
        return f"{scheme},{b64encode(signature).decode()}"


def new_secret() -> SigningSecret:
    """Make what the messages of an endpoint are signed with."""
    return SigningSecret(
        secrets.token_bytes(SECRET_BYTES), secrets.token_bytes(SECRET_BYTES)
    )


def sign_message(
    message_id: str,
    body: bytes,
    given: Iterable[SigningSecret],
    schemes: Sequence[str],
    now: datetime,
) -> Mapping[str, str]:
    """Return the headers of a message that is sent now, signed with all that are alive."""
    # Not `timestamp()` of a moment without a zone: it would be the local one.
    moment = str((now - EPOCH) // timedelta(seconds=1))
    content = b".".join((message_id.encode(), moment.encode(), body))
    alive = [one for one in given if one.until is None or one.until > now]
    signatures = [one.sign(content, scheme) for scheme in schemes for one in alive]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": moment,
        "webhook-signature": " ".join(signatures),
    }


def dump_secrets(given: Iterable[SigningSecret]) -> bytes:
    """Write secrets as they are encrypted."""
    return orjson.dumps(
        [
            {
                "key": b64encode(one.key).decode(),
                "seed": b64encode(one.seed).decode(),
                "until": one.until,
            }
            for one in given
        ]
    )


def load_secrets(written: bytes) -> tuple[SigningSecret, ...]:
    """Read what `dump_secrets` wrote."""
    return tuple(
        SigningSecret(
            b64decode(one["key"]),
            b64decode(one["seed"]),
            datetime.fromisoformat(one["until"]) if one["until"] else None,
        )
        for one in orjson.loads(written)
    )


def rotate(
    given: Iterable[SigningSecret], until: datetime
) -> tuple[SigningSecret, ...]:
    """Make a new secret; the one before it holds until then, older ones no more."""
    newest, *_ = given
    return (new_secret(), SigningSecret(newest.key, newest.seed, until))
