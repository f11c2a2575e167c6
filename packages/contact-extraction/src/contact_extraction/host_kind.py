"""Judge by its host alone whether a "website" is the business's own or someone else's."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import Url, parse_url, registrable_domain
from contact_extraction.wordlist import load_words

CACHED_HOSTS: Final = 2_000
"""Hosts whose kind is asked again soon: one record names its website more than once."""


class HostKind(StrEnum):
    """Whom a host belongs to."""

    SOCIAL = "social"
    DIRECTORY = "directory"
    BOOKING = "booking"
    LINK_PAGE = "link_page"
    PARKING = "parking"
    BUILDER = "builder"
    """A site builder's shared host: the name before it is a business's own."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class HostMatch:
    """What a host is known as, and by which entry of our lists."""

    kind: HostKind
    entry: str


NOT_LISTED: Final = HostMatch(HostKind.OTHER, "")


def kind_of_url(url: str | Url) -> HostMatch:
    """Return what the host of a URL is known as; raise InvalidUrl if it is not a URL."""
    return kind_of_host((parse_url(url) if isinstance(url, str) else url).host)


@lru_cache(maxsize=CACHED_HOSTS)
def kind_of_host(host: str) -> HostMatch:
    """Return what a host, or a domain above it, is known as."""
    known = _known_hosts()
    name = host.lower().removeprefix("www.")
    labels = name.split(".")
    for at in range(len(labels) - 1):
        entry = ".".join(labels[at:])
        if entry in known:
            return _unless_own_page(HostMatch(known[entry], entry), name)
    domain = registrable_domain(name)
    entry = f"{domain.partition('.')[0]}.*" if domain else ""
    return HostMatch(known[entry], entry) if entry in known else NOT_LISTED


def site_name(url: str) -> str | None:
    """Return what names a business's own site: its domain, or its name on a builder.

    None for social networks, directories and the like, and for what is not a URL.
    """
    try:
        parsed = parse_url(url)
    except InvalidUrl:
        return None
    kind = kind_of_host(parsed.host).kind
    if kind is HostKind.BUILDER:
        return parsed.host.removeprefix("www.")
    return parsed.site if kind is HostKind.OTHER else None


def _unless_own_page(match: HostMatch, host: str) -> HostMatch:
    # The builder's own home page is not a customer's site.
    if match.kind is HostKind.BUILDER and host == match.entry and "." in host:
        is_shared_name = host != "sites.google.com"
        return NOT_LISTED if is_shared_name else match
    return match


# A host on several lists is the first of these: a builder's customer is not a directory.
_LISTS: Final = (
    (HostKind.BUILDER, "hosts_builder"),
    (HostKind.LINK_PAGE, "hosts_link_page"),
    (HostKind.BOOKING, "hosts_booking"),
    (HostKind.SOCIAL, "hosts_social"),
    (HostKind.DIRECTORY, "hosts_directory"),
    (HostKind.PARKING, "hosts_parking"),
)


@cache
def _known_hosts() -> dict[str, HostKind]:
    known: dict[str, HostKind] = {}
    for kind, name in _LISTS:
        for entry in load_words(name):
            known.setdefault(entry, kind)
    return known
