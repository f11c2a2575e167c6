"""Nothing starts with secrets that keep nothing or settings that let anyone in."""

import pytest

from scrapersky.api.auth.secret import refuse_unsafe
from scrapersky.configuration import load_settings
from scrapersky.errors import ConfigurationError
from tests.api.gateway.rig import SECRET

TOKENS = {"JWT_SECRET": SECRET, "JWT_AUDIENCE": "a", "JWT_ISSUER": "i"}


def check(**given: str) -> None:
    refuse_unsafe(load_settings(given, dotenv=None).settings)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({**TOKENS, "JWT_SECRET": "too-little"}, "shorter than 32 bytes"),
        ({**TOKENS, "JWT_SECRET": "a" * 31}, "shorter than 32 bytes"),
        ({**TOKENS, "JWT_SECRET": "ab" * 32}, "repeats a few characters"),
        ({**TOKENS, "JWT_SECRET": "changeme" + SECRET}, "words from examples"),
        (
            {
                **TOKENS,
                "JWT_SECRET": "super-secret-jwt-token-with-at-least-32-characters",
            },
            "words from examples",
        ),
        ({**TOKENS, "GOOGLE_MAPS_API_KEY": SECRET}, "are the same"),
        ({**TOKENS, "JWT_AUDIENCE": ""}, "JWT_AUDIENCE is missing"),
        ({**TOKENS, "JWT_ISSUER": ""}, "JWT_ISSUER is missing"),
        ({**TOKENS, "JWT_ALGORITHMS": "none"}, "names none"),
        ({**TOKENS, "JWT_ALGORITHMS": "HS256,HS1"}, "names HS1"),
        ({**TOKENS, "JWT_ALGORITHMS": "RS256"}, "leaves HS256 out"),
        (
            {
                "JWT_JWKS_URL": "http://keys.example/jwks",
                "JWT_AUDIENCE": "a",
                "JWT_ISSUER": "i",
                "ENVIRONMENT": "production",
            },
            "is not https",
        ),
        ({"CORS_ORIGINS": "*"}, "not one origin"),
        ({"CORS_ORIGINS": "null"}, "not one origin"),
        ({"CORS_ORIGINS": "https://*.example.com/x"}, "not one origin"),
        ({"CORS_ORIGINS": "app.example.com"}, "not one origin"),
        ({"TRUSTED_PROXIES": "0.0.0.0/0"}, "which is everyone"),
        ({"TRUSTED_PROXIES": "::/0"}, "which is everyone"),
        ({"TRUSTED_PROXIES": "proxy"}, "not an address or network"),
    ],
    ids=str,
)
def test_what_is_unsafe_is_named_and_not_repeated(
    given: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said) as refused:
        check(**given)

    secret = given.get("JWT_SECRET", "no secret here")
    assert secret not in str(refused.value)


def test_safe_settings_start() -> None:
    check(
        **TOKENS, CORS_ORIGINS="https://app.example.com", TRUSTED_PROXIES="10.0.0.0/8"
    )
    check(JWT_JWKS_URL="https://x/jwks", JWT_AUDIENCE="a", JWT_ISSUER="i")
    check()
