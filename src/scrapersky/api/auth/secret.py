"""Refuse to start with secrets that keep nothing, or settings that let anyone in."""

from collections.abc import Iterator
from ipaddress import ip_network
from urllib.parse import urlsplit

from pydantic import SecretStr

from scrapersky.api.auth.local import is_loopback
from scrapersky.errors import ConfigurationError
from scrapersky.settings import Settings

SHORTEST_SECRET = 32
FEWEST_CHARACTERS = 10
"""Different characters that a secret must have: a hash in hex has more."""
GIVEN_AWAY = (
    "change", "secret", "password", "example", "default", "supabase", "your-", "your_",
    "jwt", "test", "token", "1234567890", "abcdefgh",
)  # fmt: skip
SYMMETRIC = "HS256"
ALGORITHMS = ("HS256", "RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")


def refuse_unsafe(settings: Settings) -> None:
    """Raise ConfigurationError naming every setting that is not safe to start with."""
    problems = [
        *weak_secret("JWT_SECRET", settings.jwt_secret),
        *loose_tokens(settings),
        *loose_provider(settings),
        *loose_origins(settings.cors_origins),
        *wrong_networks(settings.trusted_proxies),
    ]
    if problems:
        raise ConfigurationError(
            "\n".join(problems),
            hint="docs/how-to/let-people-in.md shows safe settings; a secret is made "
            'with: python -c "import secrets; print(secrets.token_urlsafe(48))"',
        )


def weak_secret(name: str, secret: SecretStr | None) -> Iterator[str]:
    """Find what makes a secret guessable, without repeating it."""
    if secret is None:
        return
    value = secret.get_secret_value()
    if len(value.encode()) < SHORTEST_SECRET:
        yield f"{name} is shorter than {SHORTEST_SECRET} bytes."
    elif len(set(value)) < FEWEST_CHARACTERS:
        yield f"{name} repeats a few characters."
    elif any(word in value.lower() for word in GIVEN_AWAY):
        yield f"{name} is made of words from examples."


def loose_tokens(settings: Settings) -> Iterator[str]:
    """Find token settings that would let in what was not meant for us."""
    unknown = sorted(set(settings.jwt_algorithms) - set(ALGORITHMS))
    if unknown:
        yield (
            f"JWT_ALGORITHMS names {', '.join(unknown)}; known are "
            f"{', '.join(ALGORITHMS)}."
        )
    if settings.jwt_secret is None and settings.jwt_jwks_url is None:
        return
    if not settings.jwt_audience:
        yield "JWT_AUDIENCE is missing: tokens meant for others would be accepted."
    if not settings.jwt_issuer:
        yield "JWT_ISSUER is missing: tokens of any issuer would be accepted."
    if settings.jwt_secret is not None and SYMMETRIC not in settings.jwt_algorithms:
        yield "JWT_SECRET is set, but JWT_ALGORITHMS leaves HS256 out."
    url = settings.jwt_jwks_url
    if url and url.startswith("http://") and settings.environment.is_deployed:
        yield "JWT_JWKS_URL is not https: anyone on the way could hand out keys."


def loose_provider(settings: Settings) -> Iterator[str]:
    """Find settings of the OpenID provider that would let in whom nobody vouches for."""
    issuer = settings.oidc_issuer
    if issuer is None:
        if settings.oidc_client_id or settings.oidc_roles:
            yield "OIDC_ISSUER is missing: nobody can log in through no provider."
        return
    if not settings.oidc_client_id:
        yield "OIDC_CLIENT_ID is missing: logins meant for others would be accepted."
    if "openid" not in settings.oidc_scopes:
        yield "OIDC_SCOPES leaves openid out: the provider would not say who somebody is."
    if issuer.startswith("http://") and settings.environment.is_deployed:
        yield "OIDC_ISSUER is not https: anyone on the way could log in as anyone."
    is_laptop = is_loopback(settings.host) and not settings.environment.is_deployed
    if not (settings.oidc_public_url or settings.trusted_hosts or is_laptop):
        yield (
            "OIDC_PUBLIC_URL is missing, and TRUSTED_HOSTS too: people would be sent "
            "back to whatever name a request was sent to."
        )


def loose_origins(origins: tuple[str, ...]) -> Iterator[str]:
    """Find origins that are not origins, or everyone's."""
    for origin in origins:
        parts = urlsplit(origin)
        is_origin = parts.scheme in {"http", "https"} and parts.netloc
        if not is_origin or f"{parts.scheme}://{parts.netloc}" != origin:
            yield (
                f"CORS_ORIGINS holds '{origin}', which is not one origin such as "
                "https://app.example.com."
            )


def wrong_networks(networks: tuple[str, ...]) -> Iterator[str]:
    """Find proxies that are not addresses, or everyone."""
    for network in networks:
        try:
            found = ip_network(network, strict=False)
        except ValueError:
            yield f"TRUSTED_PROXIES holds '{network}', which is not an address or network."
        else:
            if found.prefixlen == 0:
                yield f"TRUSTED_PROXIES holds '{network}', which is everyone."
