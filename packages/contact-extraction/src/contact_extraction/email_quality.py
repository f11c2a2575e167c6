"""Say what an e-mail address is worth without asking any server."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import email_validator
from publicsuffixlist import PublicSuffixList

from contact_extraction import wordlist
from contact_extraction.email_type import EmailType
from contact_extraction.urls import registrable_domain


@dataclass(frozen=True, slots=True)
class EmailQuality:
    """What the address alone shows; whether it accepts mail is asked elsewhere."""

    is_valid: bool
    is_role: bool
    is_free: bool
    is_disposable: bool
    is_same_domain: bool | None
    """None when the page's own domain is not known."""

    @property
    def type(self) -> EmailType:
        """Give the kind of address."""
        if not self.is_valid:
            return EmailType.UNKNOWN
        if self.is_role:
            return EmailType.SERVICE
        if self.is_free or self.is_disposable:
            return EmailType.FREE
        return EmailType.CORPORATE


def judge_email(address: str, site: str | None = None) -> EmailQuality:
    """Judge an address; `site` is the host or registrable domain of the page."""
    local, _, domain = address.lower().rpartition("@")
    return EmailQuality(
        is_valid=is_valid_syntax(address),
        is_role=is_role(local),
        is_free=is_listed(domain, "free_mail"),
        is_disposable=is_listed(domain, "disposable_mail"),
        is_same_domain=_is_same_domain(domain, site) if site else None,
    )


def is_valid_syntax(address: str) -> bool:
    """Say whether an address is well formed and its domain could exist."""
    local, _, domain = address.rpartition("@")
    # The validator takes longest over the domain, which most addresses of a page share.
    if len(address) <= MAX_ADDRESS and _PLAIN_LOCAL.fullmatch(local):
        return _passes(f"a@{domain}") and is_mail_host(domain)
    return _passes(address) and is_mail_host(domain)


MAX_ADDRESS: Final = 254
_PLAIN_LOCAL: Final = re.compile(
    r"[a-z0-9]++(?:[._+-][a-z0-9]++)*+", re.IGNORECASE | re.ASCII
)


@lru_cache(maxsize=4096)
def _passes(address: str) -> bool:
    try:
        email_validator.validate_email(address, check_deliverability=False)
    except email_validator.EmailNotValidError:
        return False
    return True


def is_role(local: str) -> bool:
    """Say whether the part before the @ names a function, not a person."""
    roles = wordlist.load("role_mail")
    stem = local.split("+", maxsplit=1)[0].strip("0123456789._-")
    if stem in roles:
        return True
    parts = [p for p in stem.replace("-", ".").replace("_", ".").split(".") if p]
    return len(parts) > 1 and (parts[0] in roles or parts[-1] in roles)


def is_listed(domain: str, name: str) -> bool:
    """Say whether a domain, or one it is under, is in a list."""
    listed = wordlist.load(name)
    while "." in domain:
        if domain in listed:
            return True
        domain = domain.partition(".")[2]
    return False


@lru_cache(maxsize=8192)
def is_public_name(host: str) -> bool:
    """Say whether a host name ends in a suffix people can register under."""
    if "." not in host or host.replace(".", "").isdigit():
        return False
    return _known_suffixes().privatesuffix(host.lower()) is not None


@lru_cache(maxsize=8192)
def is_mail_host(host: str) -> bool:
    """Say whether a host can receive mail for people.

    Some suffixes under which people register are mail domains of their own: the notaries
    of France write from notaires.fr. Categories such as co.uk are not.
    """
    if is_public_name(host):
        return True
    first, dot, _ = host.lower().partition(".")
    if not dot or first in _CATEGORIES or first.isdigit():
        return False
    return _known_suffixes().publicsuffix(host.lower()) == host.lower()


_CATEGORIES = frozenset(("ac", "co", "com", "edu", "gob", "gov", "mil", "net", "org"))


@cache
def _known_suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)


def _is_same_domain(domain: str, site: str) -> bool:
    own = registrable_domain(site.lower()) or site.lower()
    return (registrable_domain(domain) or domain) == own
