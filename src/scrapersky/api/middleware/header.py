"""Headers that every answer carries, so that browsers and caches do no harm with it."""

from typing import Final

from starlette.datastructures import MutableHeaders

# Nothing but our own files: words from other people's pages can start nothing.
PAGE_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
API_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
EVERYWHERE: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
A_YEAR: Final = "max-age=31536000"


def harden(headers: MutableHeaders, path: str, *, is_secure: bool) -> None:
    """Add what is missing; a route may have said something narrower itself."""
    for name, value in EVERYWHERE.items():
        headers.setdefault(name, value)
    if is_secure:
        headers.setdefault("Strict-Transport-Security", A_YEAR)
    if path.startswith("/api/"):
        headers.setdefault("Content-Security-Policy", API_POLICY)
        # One tenant's answer must never be another's, in no cache on the way.
        headers.setdefault("Cache-Control", "no-store")
        headers.add_vary_header("Authorization, Cookie, X-API-Key, Origin")
    else:
        headers.setdefault("Content-Security-Policy", PAGE_POLICY)
