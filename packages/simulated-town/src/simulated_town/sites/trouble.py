"""Sites that are not what they seem, do not answer well, or mean harm."""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from simulated_town.business import (
    Business,
    Disguise,
    Mailbox,
    PageKind,
    SiteKind,
)
from simulated_town.sites.own import own_site
from simulated_town.sites.reply import HTML, Conduct, Reply, Site, html, redirect

BOMB_SIZE: Final = 64 * 1024 * 1024
GZIP_WINDOW: Final = 31
SLOW_SECONDS: Final = 1.0
METADATA_URL: Final = "http://169.254.169.254/latest/meta-data/"
NOT_FOUND: Final = html("<!DOCTYPE html><title>404</title><h1>Not found</h1>", 404)
BROKEN: Final = html("<!DOCTYPE html><title>500</title><h1>Server Error</h1>", 500)
BUSY: Final = Reply(b"slow down", status=429, headers=(("Retry-After", "2"),))
_CALENDAR: Final = re.compile(r"/calendar/(\d{4})/(\d{1,2})/")


def _sale_page(title: str, text: str) -> Site:
    page = html(
        f'<!DOCTYPE html><html lang="en"><head><title>{title}</title></head><body>'
        f"<h1>{title}</h1><p>{text}</p></body></html>"
    )
    return Site({"/": page, "/robots.txt": NOT_FOUND}, page)


def parked(business: Business, _origin: str) -> Site:
    """Write a name that only shows advertisements."""
    return _sale_page(
        f"{business.domain} is parked",
        f"This domain is parked free of charge. {business.domain} was registered "
        "recently. Related searches: insurance, travel, loans.",
    )


def for_sale(business: Business, _origin: str) -> Site:
    """Write a name that its owner wants to sell."""
    return _sale_page(
        f"{business.domain} is for sale",
        f"The domain {business.domain} is for sale. Buy this domain now, or make an "
        "offer to its owner.",
    )


def other_brand(business: Business, origin: str) -> Site:
    """Write a name that sends everyone to another business."""
    home = origin.replace(business.host or "", business.other_brand or "")
    away = redirect(f"{home}/")
    return Site({"/robots.txt": NOT_FOUND}, away)


def server_error(_business: Business, _origin: str) -> Site:
    """Write a server that has been broken for a long time."""
    return Site({"/robots.txt": NOT_FOUND}, BROKEN)


def gzip_bomb(_business: Business, _origin: str) -> Site:
    """Write a small answer that unpacks into more than a machine has room for."""
    bomb = Reply(packed_zeros(), HTML, headers=(("Content-Encoding", "gzip"),))
    return Site({"/": bomb, "/robots.txt": NOT_FOUND}, bomb)


def endless(_business: Business, _origin: str) -> Site:
    """Write a page that never ends."""
    page = Reply(
        b'<p>and then <a href="/more">more</a></p>\n' * 200, conduct=Conduct.ENDLESS
    )
    return Site({"/robots.txt": NOT_FOUND}, page)


def redirect_loop(_business: Business, _origin: str) -> Site:
    """Two addresses that point to each other."""
    replies = {
        "/": redirect("/welcome", 302),
        "/welcome": redirect("/", 302),
        "/robots.txt": NOT_FOUND,
    }
    return Site(replies, NOT_FOUND)


def private_redirect(_business: Business, _origin: str) -> Site:
    """Write a site that wants us to read a machine's secrets for it."""
    return Site({"/robots.txt": NOT_FOUND}, redirect(METADATA_URL, 302))


def robots_error(business: Business, origin: str) -> Site:
    """Write a site whose rules cannot be read: so nothing of it may be."""
    forbidden = Mailbox(business.decoys[-1], PageKind.CONTACT, Disguise.MAILTO)
    site = own_site([replace(business, mailboxes=(forbidden,))], origin)
    robots = html("<h1>503 Service Unavailable</h1>", 503)
    return replace(site, replies={**site.replies, "/robots.txt": robots})


def hanging(_business: Business, _origin: str) -> Site:
    """Write a server that takes the call and says nothing."""
    silence = Reply(conduct=Conduct.SILENT)
    return Site({"/robots.txt": NOT_FOUND}, silence)


ALONE: Final[Mapping[SiteKind, Callable[[Business, str], Site]]] = {
    SiteKind.PARKED: parked,
    SiteKind.FOR_SALE: for_sale,
    SiteKind.OTHER_BRAND: other_brand,
    SiteKind.SERVER_ERROR: server_error,
    SiteKind.GZIP_BOMB: gzip_bomb,
    SiteKind.ENDLESS: endless,
    SiteKind.REDIRECT_LOOP: redirect_loop,
    SiteKind.PRIVATE_REDIRECT: private_redirect,
    SiteKind.ROBOTS_ERROR: robots_error,
    SiteKind.HANGING: hanging,
}
"""Sites that are nothing else."""


def calendar_page(path: str) -> Reply | None:
    """Write any month, with a link to the next one."""
    found = _CALENDAR.fullmatch(path)
    if found is None:
        return None
    year, month = int(found[1]), int(found[2])
    after = f"/calendar/{year + month // 12}/{month % 12 + 1}/"
    return html(
        f"<!DOCTYPE html><title>{year}-{month}</title><h1>{year}-{month}</h1>"
        f'<p>Nothing planned.</p><a href="{after}" rel="next">&raquo;</a>'
    )


@cache
def packed_zeros() -> bytes:
    """Pack zeros so tightly that a megabyte becomes a kilobyte."""
    packer = zlib.compressobj(1, wbits=GZIP_WINDOW)
    zeros = bytes(1024 * 1024)
    parts = [packer.compress(zeros) for _ in range(BOMB_SIZE // len(zeros))]
    return b"".join([*parts, packer.flush()])
