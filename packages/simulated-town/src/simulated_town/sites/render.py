"""From the owners of a domain to all that its server answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from simulated_town.business import Business, PageKind, SiteKind
from simulated_town.sites.dress import page_paths
from simulated_town.sites.own import break_up, encode, own_site
from simulated_town.sites.reply import HTML, Reply, Site
from simulated_town.sites.trouble import (
    ALONE,
    BROKEN,
    BUSY,
    SLOW_SECONDS,
    calendar_page,
)


def render_site(owners: Sequence[Business]) -> Site:
    """Write the site of a domain, whatever kind it is."""
    business = owners[0]
    origin = f"http://{business.host}"
    if alone := ALONE.get(business.kind):
        return alone(business, origin)
    return _with_habits(own_site(owners, origin), business)


def _with_habits(site: Site, business: Business) -> Site:
    """Add what makes an own site unlike others."""
    match business.kind:
        case SiteKind.OLD_CHARSET:
            return _mapped(site, lambda page: encode(page, business.locale.country))
        case SiteKind.BROKEN_HTML:
            return _mapped(site, break_up)
        case SiteKind.SOFT_404:
            return replace(site, missing=replace(site.missing, status=200))
        case SiteKind.SLOW:
            return _mapped(site, lambda page: replace(page, delay=SLOW_SECONDS))
        case SiteKind.BUSY:
            return replace(site, stumbles={"/": (BUSY,)})
        case SiteKind.FLAKY:
            contact = page_paths(business)[PageKind.CONTACT]
            return replace(site, stumbles={contact: (BROKEN,)})
        case SiteKind.CALENDAR:
            return replace(site, invent=calendar_page)
        case _:
            return site


def _mapped(site: Site, change: Callable[[Reply], Reply]) -> Site:
    replies = {
        path: change(reply) if reply.type == HTML and reply.body else reply
        for path, reply in site.replies.items()
    }
    return replace(site, replies=replies)
