"""The one URL parser of the product: check, connect, store and compare agree.

It follows the WHATWG URL standard for http and https where attackers and sloppy
pages meet (backslashes, missing slashes, numeric hosts, Unicode hosts), and is
stricter where we may be: no fragment, no user name, no control characters, at most
2,048 characters. A parsed `Url` is always in normal form, so equal means same.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from urllib.parse import unquote_to_bytes

import idna
from publicsuffixlist import PublicSuffixList

from contact_extraction.errors import InvalidUrl, UnsupportedScheme

MAX_LENGTH = 2048
MAX_INPUT = 16 * MAX_LENGTH
MAX_HOST = 253
MAX_LABEL = 63
MAX_PORT = 65535
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Url:
    """An http(s) URL in normal form, without user name and fragment."""

    scheme: str
    host: str
    """Lower-case ASCII name, or an IP address without brackets."""
    port: int
    path: str = "/"
    query: str | None = None

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"

    @property
    def authority(self) -> str:
        """Return host and port as they stand in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == DEFAULT_PORTS[self.scheme]:
            return host
        return f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port: what robots.txt and cookies belong to."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """Return path and query as they stand in a request line."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """Return the address if the host is one, else None."""
        return _literal(self.host)

    @property
    def site(self) -> str:
        """Return the registrable domain, or the host where there is none."""
        return registrable_domain(self.host) or self.host


def parse_url(text: str, base: Url | None = None) -> Url:
    """Parse what a person, page or header wrote; raise InvalidUrl if it is not a URL.

    With a `base` the text may be relative, as in a link or a Location header.
    """
    if (fast := _PLAIN.fullmatch(text)) and len(text) <= MAX_LENGTH:
        scheme, host, path, query = fast.groups()
        if not _DOTS.search(path or ""):
            port = DEFAULT_PORTS[scheme]
            return Url(scheme, canonical_host(host), port, path or "/", query or None)
    return _bounded(_parse(_clean(text), base), text)


def canonical(url: Url) -> Url:
    """Return the URL without tracking parameters and session ids.

    Two addresses that differ only in these name the same page.
    """
    path = _ASP_SESSION.sub("/", _PATH_SESSION.sub("", url.path)) or "/"
    if url.query is None:
        return url if path == url.path else _moved(url, path, None)
    kept = [pair for pair in url.query.split("&") if pair and not _is_noise(pair)]
    return _moved(url, path, "&".join(kept) or None)


def _moved(url: Url, path: str, query: str | None) -> Url:
    """Give another page of the same host; `dataclasses.replace` takes three times as long."""
    return Url(url.scheme, url.host, url.port, path, query)


def canonical_url(text: str, base: Url | None = None) -> str:
    """Parse a URL and return its canonical text; raise InvalidUrl if it is none."""
    return str(canonical(parse_url(text, base)))


@lru_cache(maxsize=8192)
def canonical_host(host: str) -> str:
    """Return the ASCII form of a host name or address; raise InvalidUrl if it is none.

    Numbers in any notation that a C library takes for an IPv4 address become one.
    """
    if host.startswith("["):
        return _ipv6(host)
    name = _ascii_name(host)
    if _ends_in_number(name):
        return _ipv4(name)
    _check_labels(name)
    return name


@lru_cache(maxsize=8192)
def registrable_domain(host: str) -> str | None:
    """Return the domain someone could register by the Public Suffix List.

    Returns None for an address, a single label and a public suffix itself.
    """
    if _literal(host) is not None:
        return None
    found = _suffix_list().privatesuffix(host)
    return found if isinstance(found, str) else None


def is_tracking_parameter(name: str) -> bool:
    """Say whether a query parameter only informs a site where a visitor came from."""
    low = name.lower()
    return low in _TRACKING or low.startswith(_TRACKING_PREFIXES)


# An absolute URL with nothing to repair: the way of nearly every link.
_PLAIN = re.compile(
    r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)+)"
    r"(/[A-Za-z0-9/._~!$&()*+,;=:@-]*)?(?:\?([A-Za-z0-9/._~!$&()*+,;=:@-]*))?"
)
_DOTS = re.compile(r"/\.{1,2}(?:/|$)")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_AUTHORITY_END = re.compile(r"[/\\?#]")
_FORBIDDEN_HOST = re.compile(r"[^a-z0-9._-]")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)
_PATH_UNSAFE = re.compile(r"""[^A-Za-z0-9/._~!$&'()*+,;=:@%|\[\]-]""")
_QUERY_UNSAFE = re.compile(r"""[^A-Za-z0-9/._~!$&()*+,;=:@%?|\[\]\\{}^`-]""")

_TRACKING = frozenset(
    [
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "gad_source",
        "gad_campaignid",
        "fbclid",
        "msclkid",
        "yclid",
        "twclid",
        "ttclid",
        "li_fat_id",
        "igshid",
        "igsh",
        "mc_cid",
        "mc_eid",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "__hssc",
        "__hstc",
        "__hsfp",
        "hsctatracking",
        "mkt_tok",
        "vero_id",
        "vero_conv",
        "wickedid",
        "srsltid",
        "epik",
        "s_cid",
        "ml_subscriber",
        "ml_subscriber_hash",
        "oly_anon_id",
        "oly_enc_id",
        "rb_clickid",
        "_openstat",
        "ysclid",
        "_branch_match_id",
    ]
)
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "matomo_", "piwik_")
_SESSION = frozenset(
    [
        "sid",
        "sessionid",
        "session_id",
        "sess",
        "jsessionid",
        "phpsessid",
        "cfid",
        "cftoken",
        "zenid",
        "oscsid",
        "xtcsid",
        "aspsessionid",
        "sessid",
        "session",
    ]
)
_SHORT_NUMBER = re.compile(r"[0-9]{0,5}")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_ASP_SESSION = re.compile(r"/\([SAF]\([A-Za-z0-9]+\)\)/", re.IGNORECASE)
_BLANK = "".join(map(chr, range(0x21)))


def _clean(text: str) -> str:
    if len(text) > MAX_INPUT:
        raise InvalidUrl(text, f"is {len(text):,} characters long")
    text = text.strip(_BLANK)
    text = text.replace("\t", "").replace("\r", "").replace("\n", "")
    if _CONTROL.search(text):
        raise InvalidUrl(text, "holds control characters")
    return text.partition("#")[0]


def _bounded(url: Url, text: str) -> Url:
    if len(url.target) + len(url.origin) > MAX_LENGTH:
        raise InvalidUrl(text, f"is longer than {MAX_LENGTH:,} characters")
    return url


def _parse(text: str, base: Url | None) -> Url:
    if (found := _SCHEME.match(text)) is None:
        if base is None:
            raise InvalidUrl(text, "has no scheme")
        return _relative(text, base)
    scheme, rest = found[1].lower(), text[found.end() :]
    if scheme not in DEFAULT_PORTS:
        raise UnsupportedScheme(text, f"has the scheme {scheme[:20]!r}")
    slashes = len(rest) - len(rest.lstrip("/\\"))
    if base is not None and scheme == base.scheme and slashes < len("//"):
        return _relative(rest, base)
    return _absolute(scheme, rest[slashes:])


def _relative(text: str, base: Url) -> Url:
    flat = text.replace("\\", "/")
    if flat.startswith("//"):
        return _absolute(base.scheme, flat.lstrip("/"))
    if not text:
        return base
    if text.startswith("?"):
        return _moved(base, base.path, _query(text[1:]))
    path, _, query = text.partition("?")
    path = path.replace("\\", "/")
    if not path.startswith("/"):
        path = base.path.rpartition("/")[0] + "/" + path
    return _moved(base, _path(path), _query(query))


def _absolute(scheme: str, rest: str) -> Url:
    end = _AUTHORITY_END.search(rest)
    cut = end.start() if end else len(rest)
    authority, tail = rest[:cut].rpartition("@")[2], rest[cut:]
    host, port = _host_and_port(authority, scheme)
    path, _, query = tail.partition("?")
    path = _path(path.replace("\\", "/"))
    return Url(scheme, canonical_host(host), port, path, _query(query))


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    host, digits = authority, ""
    if authority.startswith("["):
        host, bracket, digits = authority.partition("]")
        host += bracket
        if digits and not digits.startswith(":"):
            raise InvalidUrl(authority, "has text after the address")
        digits = digits[1:]
    elif ":" in authority:
        host, _, digits = authority.rpartition(":")
    if not host:
        raise InvalidUrl(authority, "has no host")
    if not digits:
        return host, DEFAULT_PORTS[scheme]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > len("65535") * 2:
        raise InvalidUrl(authority, "has a port that is not a number")
    port = int(digits)
    if not 0 < port <= MAX_PORT:
        raise InvalidUrl(authority, f"has the port {port}")
    return host, port


def _ipv6(host: str) -> str:
    inner = host.removeprefix("[")
    if not inner.endswith("]"):
        raise InvalidUrl(host, "has an unclosed bracket")
    # A zone names one of our own links; the address itself decides what follows.
    address = inner.removesuffix("]").partition("%")[0]
    try:
        return IPv6Address(address).compressed
    except AddressValueError:
        raise InvalidUrl(host, "is not an IPv6 address") from None


def _ascii_name(host: str) -> str:
    if "%" in host:
        try:
            host = unquote_to_bytes(host).decode()
        except UnicodeDecodeError:
            raise InvalidUrl(host, "has a host that is not UTF-8") from None
    if len(host) > 4 * MAX_HOST:
        raise InvalidUrl(host, "has a host that is too long")
    try:
        name = host.lower() if host.isascii() else _mapped(host)
        if "xn--" in name:
            idna.decode(name)
    except (idna.IDNAError, UnicodeError) as error:
        raise InvalidUrl(host, f"has a host that is not a domain: {error}") from None
    return name.removesuffix(".")


def _mapped(host: str) -> str:
    """Apply the UTS 46 mapping first: it also turns other digits and dots into ours."""
    mapped = idna.uts46_remap(host, std3_rules=False, transitional=False)
    if mapped.isascii():
        return mapped.lower()
    return idna.encode(mapped).decode("ascii").lower()


def _check_labels(name: str) -> None:
    if not name or len(name) > MAX_HOST:
        raise InvalidUrl(name, "has a host that is empty or too long")
    if _FORBIDDEN_HOST.search(name):
        raise InvalidUrl(name, "is not a valid web address")
    for label in name.split("."):
        if not 0 < len(label) <= MAX_LABEL:
            raise InvalidUrl(name, "is not a valid web address")


def _ends_in_number(name: str) -> bool:
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def _ipv4(name: str) -> str:
    parts = name.split(".")
    if len(parts) > 4:  # noqa: PLR2004 - the four parts of an IPv4 address
        raise InvalidUrl(name, "is not an IPv4 address")
    numbers = [_ipv4_number(part, name) for part in parts]
    *high, low = numbers
    if max(high, default=0) >= 1 << 8 or low >= 256 ** (5 - len(numbers)):
        raise InvalidUrl(name, "is not an IPv4 address")
    value = low + sum(part << 8 * (3 - place) for place, part in enumerate(high))
    return str(IPv4Address(value))


def _ipv4_number(part: str, name: str) -> int:
    if not _NUMBER.fullmatch(part) or len(part) > MAX_LABEL:
        raise InvalidUrl(name, "is not an IPv4 address")
    try:
        if part.startswith("0x"):
            return int(part[2:] or "0", 16)
        return int(part, 8 if part.startswith("0") else 10)
    except ValueError:
        raise InvalidUrl(name, "is not an IPv4 address") from None


def _path(path: str) -> str:
    path = _normal_escapes(path, _PATH_UNSAFE)
    if "/." not in path:
        return path if path.startswith("/") else f"/{path}"
    kept: list[str] = []
    segments = path.removeprefix("/").split("/")
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str) -> str | None:
    return _normal_escapes(query, _QUERY_UNSAFE) or None


def _normal_escapes(text: str, unsafe: re.Pattern[str]) -> str:
    if "%" in text:
        text = _ESCAPE.sub(_normal_escape, _stray_percent(text))
        if "%00" in text:
            raise InvalidUrl(text, "holds an escaped NUL")
    return unsafe.sub(_escape, text)


def _stray_percent(text: str) -> str:
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)


def _normal_escape(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code in _UNRESERVED else f"%{code:02X}"


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _is_noise(pair: str) -> bool:
    name, _, value = pair.partition("=")
    low = name.lower()
    if is_tracking_parameter(low):
        return True
    # A short number is an id of something, not of a visit: ?sid=12 is a shop.
    return low in _SESSION and not _SHORT_NUMBER.fullmatch(value)


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    if not host or not (host[-1].isdigit() or ":" in host):
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None


@cache
def _suffix_list() -> PublicSuffixList:
    return PublicSuffixList()
