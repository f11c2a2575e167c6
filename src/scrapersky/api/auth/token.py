"""Access tokens: one strict reading, the same answer to every flaw."""

import hashlib
import json
import math
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import jwt
import structlog

from scrapersky.api.auth.key_set import KeySet
from scrapersky.errors import NotAuthenticated

log = structlog.get_logger(__name__)

LONGEST_TOKEN: Final = 8_192
LONGEST_SUBJECT: Final = 255
MAX_SKEW: Final = timedelta(seconds=10)
"""How far the issuer's clock may be ahead of ours; an expiry gets no such grace."""
SYMMETRIC: Final = frozenset({"HS256"})
HEADER_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
PURPOSE_CLAIMS: Final = ("purpose", "token_use", "token_type", "typ", "use")
PURPOSES: Final = frozenset({"access", "access_token", "bearer", "jwt", "at+jwt"})


@dataclass(frozen=True, slots=True)
class TokenRules:
    """Which tokens are good here."""

    audience: str
    issuer: str
    algorithms: frozenset[str]
    longest_life: timedelta
    secret: bytes | None = None
    keys: KeySet | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """What a good token says."""

    subject: str
    tenant_id: UUID | None
    expires_at: datetime
    digest: bytes
    """Names the token in the list of revoked ones without being it."""


async def read_token(rules: TokenRules, text: str, now: datetime) -> Token:
    """Return what a token says, or raise NotAuthenticated whatever is wrong with it."""
    try:
        return await read(rules, text, now)
    except NotAuthenticated:
        raise
    # A token is the one text anybody may send us: what its readers raise on bad ones
    # is not worth a list that could miss one.
    except Exception as error:  # noqa: BLE001
        log.info("token.refused", why=type(error).__name__)
        raise refusal() from None


async def read(rules: TokenRules, text: str, now: datetime) -> Token:
    """Check a token in the order: form, key, signature, claims."""
    if len(text) > LONGEST_TOKEN:
        raise refusal()
    refuse_double_names(text)
    header = jwt.get_unverified_header(text)
    check_header(rules, header)
    algorithm = header["alg"]
    key = await key_for(rules, header)
    claims = jwt.decode(
        text,
        key,
        algorithms=[algorithm],
        # Times are checked below: the library takes texts for numbers.
        options={
            "require": ["exp", "aud", "iss", "sub"],
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
        },
        audience=rules.audience,
        issuer=rules.issuer,
    )
    expires_at = check_times(rules, claims, now)
    check_purpose(claims)
    return Token(
        subject=subject_of(claims),
        tenant_id=tenant_of(claims),
        expires_at=expires_at,
        digest=hashlib.sha256(text.encode()).digest(),
    )


def refuse_double_names(text: str) -> None:
    """Raise if a name stands twice: two readers of one token would read two meanings."""
    for part in text.split(".")[:2]:
        said = urlsafe_b64decode(part + "=" * (-len(part) % 4))
        json.loads(said, object_pairs_hook=without_double_names)


def without_double_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, if each name stands once."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise refusal()
    return made


def check_header(rules: TokenRules, header: Mapping[str, Any]) -> None:
    """Raise unless the header asks for nothing but one of our algorithms.

    Where to find keys (jku, x5u, jwk, x5c) is never read: that is our setting.
    """
    kind = str(header.get("typ", "JWT")).lower()
    if (
        header.get("alg") not in rules.algorithms
        or "crit" in header
        or "zip" in header
        or header.get("b64") is False
        or kind not in HEADER_TYPES
    ):
        raise refusal()


async def key_for(rules: TokenRules, header: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of any algorithm
    """Return the key for an algorithm; a secret never serves for a key pair's."""
    algorithm = header["alg"]
    if algorithm in SYMMETRIC:
        if rules.secret is None:
            raise refusal()
        return rules.secret
    if rules.keys is None:
        raise refusal()
    key = await rules.keys.find(header.get("kid"), algorithm)
    if key is None:
        raise refusal()
    return key


def check_times(
    rules: TokenRules, claims: Mapping[str, Any], now: datetime
) -> datetime:
    """Raise unless the token is good now, and not for too long; return its end."""
    moment = now.timestamp()
    expires = number(claims.get("exp"))
    if expires is None or expires <= moment:
        raise refusal("The access token has expired.")
    if is_of_the_future(claims, moment):
        raise refusal()
    issued = number(claims.get("iat"))
    lives = expires - (moment if issued is None else issued)
    if lives > rules.longest_life.total_seconds():
        raise refusal("The access token lives longer than this server accepts.")
    return datetime.fromtimestamp(expires, UTC)


def is_of_the_future(claims: Mapping[str, Any], moment: float) -> bool:
    """Say whether a token begins later than the clocks of two machines may differ."""
    begins = [number(claims[name]) for name in ("nbf", "iat") if name in claims]
    latest = moment + MAX_SKEW.total_seconds()
    return any(begin is None or begin > latest for begin in begins)


def number(value: object) -> float | None:
    """Return a moment as a number if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def check_purpose(claims: Mapping[str, Any]) -> None:
    """Raise if the token says it is for something else: a refresh, a reset."""
    for name in PURPOSE_CLAIMS:
        if name in claims and str(claims[name]).lower() not in PURPOSES:
            raise refusal()


def subject_of(claims: Mapping[str, Any]) -> str:
    """Return whom the token is about."""
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise refusal()
    return subject


def tenant_of(claims: Mapping[str, Any]) -> UUID | None:
    """Return the tenant the token names; the user's own must agree with it."""
    return UUID(str(claims["tenant_id"])) if "tenant_id" in claims else None


def refusal(
    why: str = "The access token is not valid on this server.",
) -> NotAuthenticated:
    """Say no; which of the checks failed is of use to attackers only."""
    return NotAuthenticated(why, hint="Get a new token, and send it again.")
