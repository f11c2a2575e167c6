"""OpenID Connect: people come in through the provider that their team has already.

The authorization code flow with PKCE, and nothing else of it (OpenID Connect Core 1.0,
section 3.1; RFC 9700). Every answer of the provider is checked as if it came from anyone.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self
from urllib.parse import quote, urlencode

import jwt
import structlog

from scrapersky.api.auth.key_set import KeySet
from scrapersky.api.auth.token import (
    LONGEST_SUBJECT,
    LONGEST_TOKEN,
    is_of_the_future,
    number,
    refuse_double_names,
)
from scrapersky.errors import NotAuthenticated, ScraperSkyError
from scrapersky.kit.clock import Clock, utc_now
from scrapersky.kit.plain_text import plain_text
from scrapersky.providers.client import (
    ClientPolicy,
    ProviderAnswer,
    ProviderClient,
    ProviderRequest,
)
from scrapersky.records.status import Role
from scrapersky.settings import Settings

log = structlog.get_logger(__name__)

ALGORITHMS: Final = frozenset({"RS256", "PS256", "ES256", "EdDSA"})
"""Never a shared secret, never none."""
LOGIN_TIMEOUT: Final = timedelta(minutes=10)
"""How long a person may take at the provider."""
PROVIDER_MAX_AGE: Final = timedelta(hours=1)
OK: Final = 200
POLICY: Final = ClientPolicy(
    timeout=timedelta(seconds=10),
    connect_timeout=timedelta(seconds=3),
    max_bytes=262_144,
    tries=1,
)
MIGHT: Final = (Role.VIEWER, Role.CURATOR, Role.ADMIN)
"""From the least to the most."""


@dataclass(frozen=True, slots=True)
class Provider:
    """What a provider publishes about itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    posts_secret: bool
    """Whether it takes the client's secret in the form only, not as Basic."""
    names_itself: bool
    """Whether it says in its answer who answers (RFC 9207)."""


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A person on the way to the provider; comes back in a cookie that we have signed."""

    state: str
    nonce: str
    verifier: str
    back: str
    until: float

    @classmethod
    def begin(cls, back: str, now: datetime) -> Self:
        """Make up what nobody can guess."""
        return cls(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(32),
            back=safe_path(back),
            until=(now + LOGIN_TIMEOUT).timestamp(),
        )

    @property
    def challenge(self) -> str:
        """What the provider is shown of the verifier."""
        return unpadded(hashlib.sha256(self.verifier.encode()).digest())

    def sealed(self, secret: bytes) -> str:
        """Write it down so that only we can have written it."""
        said = unpadded(json.dumps(asdict(self)).encode())
        return f"{said}.{seal_of(said, secret)}"

    @classmethod
    def unsealed(cls, text: str, secret: bytes, now: datetime) -> Self | None:
        """Read it, if it is ours and not too old."""
        said, _, seal = text.partition(".")
        if not hmac.compare_digest(seal.encode(), seal_of(said, secret).encode()):
            return None
        found = cls(
            **json.loads(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4)))
        )
        return found if found.until > now.timestamp() else None


@dataclass(frozen=True, slots=True)
class ProviderUser:
    """Who came back, as the provider says."""

    issuer: str
    subject: str
    email: str | None
    is_verified: bool
    """Whether the provider has made sure that the address is theirs."""
    name: str | None
    groups: frozenset[str]


class OpenId:
    """Speaks with the one provider of this installation."""

    def __init__(self, settings: Settings, *, clock: Clock = utc_now) -> None:
        self.issuer = settings.oidc_issuer or ""
        self.name = settings.oidc_name
        self._id = settings.oidc_client_id or ""
        given = settings.oidc_client_secret
        self._secret = given.get_secret_value() if given else None
        self._scopes = settings.oidc_scopes
        self._group_claim = settings.oidc_group_claim
        self._roles = roles_by_group(settings.oidc_roles)
        self._default_role = settings.oidc_default_role
        self._agent = settings.user_agent
        self._clock = clock
        self._client = ProviderClient(
            "OpenID provider",
            user_agent=settings.user_agent,
            policy=POLICY,
            secrets=(self._secret or "",),
        )
        self._known: tuple[Provider, KeySet] | None = None
        self._read_at = datetime.min.replace(tzinfo=clock().tzinfo)

    async def close(self) -> None:
        """Close the connections to the provider."""
        await self._client.close()
        if self._known is not None:
            await self._known[1].close()

    @property
    def decides_roles(self) -> bool:
        """Whether the provider's groups say who may do what, and who may come in at all."""
        return bool(self._roles) or self._default_role is not None

    def role_of(self, guest: ProviderUser) -> Role | None:
        """Return the most that somebody's groups allow; None keeps them out."""
        found = [self._roles[group] for group in guest.groups if group in self._roles]
        return max(found, key=MIGHT.index) if found else self._default_role

    async def way_there(self, visit: LoginAttempt, redirect_uri: str) -> str:
        """Return the address to send a person's browser to."""
        provider, _ = await self._provider()
        asked = {
            "response_type": "code",
            "client_id": self._id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self._scopes),
            "state": visit.state,
            "nonce": visit.nonce,
            "code_challenge": visit.challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in provider.authorization_endpoint else "?"
        return f"{provider.authorization_endpoint}{joint}{urlencode(asked)}"

    async def welcome(
        self, visit: LoginAttempt, answer: Mapping[str, str], redirect_uri: str
    ) -> ProviderUser:
        """Return who came back with this answer, or raise NotAuthenticated."""
        provider, keys = await self._provider()
        if not hmac.compare_digest(
            answer.get("state", "").encode(), visit.state.encode()
        ):
            raise refusal("the answer is to another question")
        # A provider that names itself always does: without a name it is another's answer.
        named = answer.get("iss")
        if (provider.names_itself or named is not None) and named != self.issuer:
            raise refusal("another provider has answered")
        if "error" in answer or not answer.get("code"):
            raise refusal(f"the provider said {answer.get('error', 'nothing')[:80]!r}")
        tokens = await self._exchange(provider, answer["code"], visit, redirect_uri)
        claims = await self._read(str(tokens.get("id_token", "")), keys, visit.nonce)
        return await self._guest(provider, claims, tokens.get("access_token"))

    async def _provider(self) -> tuple[Provider, KeySet]:
        if self._known is not None and self._clock() - self._read_at < PROVIDER_MAX_AGE:
            return self._known
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            answer = await self._ask(
                ProviderRequest("GET", url, what="its configuration")
            )
            found = read_provider(answer.data, self.issuer)
        except ScraperSkyError:
            # What it said an hour ago is most likely still so.
            if self._known is None:
                raise
            return self._known
        before, self._read_at = self._known, self._clock()
        if before is None or before[0].jwks_uri != found.jwks_uri:
            self._known = found, KeySet(found.jwks_uri, user_agent=self._agent)
            if before is not None:
                await before[1].close()
        else:
            self._known = found, before[1]
        return self._known

    async def _exchange(
        self, provider: Provider, code: str, visit: LoginAttempt, redirect_uri: str
    ) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": visit.verifier,
        }
        headers = {"Accept": "application/json"}
        if self._secret is not None and not provider.posts_secret:
            # Each half is encoded by itself first (RFC 6749, section 2.3.1).
            pair = f"{quote(self._id, safe='')}:{quote(self._secret, safe='')}"
            headers["Authorization"] = (
                f"Basic {base64.b64encode(pair.encode()).decode()}"
            )
        else:
            form["client_id"] = self._id
            if self._secret is not None:
                form["client_secret"] = self._secret
        asked = ProviderRequest(
            "POST",
            provider.token_endpoint,
            what="the exchange of a code",
            headers=headers,
            form=form,
        )
        answer = await self._ask(asked)
        if not isinstance(answer.data, dict):
            raise refusal("the answer to the code is not an object")
        return answer.data

    async def _read(self, text: str, keys: KeySet, nonce: str) -> Mapping[str, Any]:
        try:
            claims = await self._decoded(text, keys)
            self._check(claims, nonce)
        except NotAuthenticated:
            raise
        except Exception as error:  # noqa: BLE001 - anyone may have sent it
            why = f"the ID token cannot be read: {type(error).__name__}"
            raise refusal(why) from None
        return claims

    async def _decoded(self, text: str, keys: KeySet) -> Mapping[str, Any]:
        if len(text) > LONGEST_TOKEN:
            raise refusal("the ID token is too long")
        refuse_double_names(text)
        header = jwt.get_unverified_header(text)
        algorithm = str(header.get("alg"))
        if algorithm not in ALGORITHMS or "crit" in header:
            raise refusal("the ID token is signed in a way that is not accepted")
        key = await keys.find(header.get("kid"), algorithm)
        if key is None:
            raise refusal("the ID token is signed with an unknown key")
        found: Mapping[str, Any] = jwt.decode(
            text,
            key,
            algorithms=[algorithm],
            # Times are checked below: the library takes texts for numbers.
            options={
                "require": ["exp", "iat", "aud", "iss", "sub"],
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
            },
            audience=self._id,
            issuer=self.issuer,
        )
        return found

    def _check(self, claims: Mapping[str, Any], nonce: str) -> None:
        now, expires = self._clock().timestamp(), number(claims.get("exp"))
        if expires is None or expires <= now or is_of_the_future(claims, now):
            raise refusal("the ID token is not of now")
        if not hmac.compare_digest(
            str(claims.get("nonce", "")).encode(), nonce.encode()
        ):
            raise refusal("the ID token is for another login")
        audience = claims["aud"]
        is_for_many = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if is_for_many else self._id) != self._id:
            raise refusal("the ID token was made for another program")
        if text_of(claims["sub"]) is None:
            raise refusal("the ID token is about nobody")

    async def _guest(
        self, provider: Provider, claims: Mapping[str, Any], access: object
    ) -> ProviderUser:
        said = dict(claims)
        wanted = {"email", *({self._group_claim} if self._roles else ())}
        if wanted - said.keys() and provider.userinfo_endpoint and access:
            asked = ProviderRequest(
                "GET",
                provider.userinfo_endpoint,
                what="facts about a person",
                headers={"Authorization": f"Bearer {access}"},
            )
            found = (await self._ask(asked)).data
            if not isinstance(found, dict) or found.get("sub") != claims["sub"]:
                raise refusal("the facts are about somebody else")
            said = {**found, **said}
        return ProviderUser(
            issuer=self.issuer,
            subject=claims["sub"],
            email=text_of(said.get("email")),
            is_verified=said.get("email_verified") is True,
            name=name_of(said.get("name")),
            groups=groups_of(said.get(self._group_claim)),
        )

    async def _ask(self, request: ProviderRequest) -> ProviderAnswer:
        answer = await self._client.ask(request)
        if answer.status == OK and answer.is_json:
            return answer
        said = answer.data.get("error") if isinstance(answer.data, dict) else None
        why = repr(str(said)[:80]) if said else ""
        raise refusal(f"{request.what} was answered with {answer.status} {why}")


def read_provider(document: object, issuer: str) -> Provider:
    """Read what a provider publishes; it must be who we think it is."""
    found = document if isinstance(document, dict) else {}
    # Exactly, as the specification asks: or one provider could speak for another.
    if found.get("issuer") != issuer:
        raise refusal("it calls itself by another name than OIDC_ISSUER")
    named = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    addresses = {name: found.get(name) for name in named}
    for name, value in addresses.items():
        if not isinstance(value, str) or not value.startswith(("https://", "http://")):
            raise refusal(f"it publishes no {name}")
        if issuer.startswith("https://") and not value.startswith("https://"):
            raise refusal(f"its {name} is not https")
    methods = found.get(
        "token_endpoint_auth_methods_supported", ["client_secret_basic"]
    )
    about = found.get("userinfo_endpoint")
    return Provider(
        issuer=issuer,
        **{name: str(value) for name, value in addresses.items()},
        userinfo_endpoint=about if isinstance(about, str) else None,
        posts_secret="client_secret_basic" not in methods,
        names_itself=found.get("authorization_response_iss_parameter_supported")
        is True,
    )


def roles_by_group(pairs: tuple[str, ...]) -> dict[str, Role]:
    """Read `group=role` pairs; the settings have been checked before."""
    split = (pair.rpartition("=") for pair in pairs)
    return {group.strip(): Role(role.strip()) for group, _, role in split}


def groups_of(value: object) -> frozenset[str]:
    """Read a claim that names groups: a list, or one name."""
    if isinstance(value, str):
        return frozenset({value})
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in value if isinstance(one, str))


def text_of(value: object) -> str | None:
    """Return a text if it is one that we would keep: short, with nothing hidden in it."""
    is_text = isinstance(value, str) and 0 < len(value) <= LONGEST_SUBJECT
    return str(value) if is_text and str(value).isprintable() else None


def name_of(value: object) -> str | None:
    """Return a name without what nobody sees; somebody's name keeps nobody out."""
    shown = " ".join(plain_text(value).split()) if isinstance(value, str) else ""
    return text_of(shown)


def safe_path(path: str) -> str:
    """Return a path of ours to go back to, and never an address elsewhere."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_ours and path.isprintable() and "\\" not in path else "/"


def unpadded(data: bytes) -> str:
    """Write bytes as base64 for addresses."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def seal_of(said: str, secret: bytes) -> str:
    """Sign a text of ours."""
    return unpadded(hmac.digest(secret, b"visit " + said.encode(), "sha256"))


def refusal(why: str) -> NotAuthenticated:
    """Say no to the person; the log says why to who looks after this."""
    log.warning("openid.refused", why=why)
    return NotAuthenticated(
        "The login through the provider failed.",
        hint="Try again; if it fails again, an operator finds the reason in the log.",
    )
