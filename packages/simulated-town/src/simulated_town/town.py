"""The town, open for visitors."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass, replace
from typing import Final

from simulated_town.addresses import ARCHIVE_HOST, LOOPBACK, town_addresses
from simulated_town.business import SiteKind
from simulated_town.evolution import Evolution, PlantedType, evolve
from simulated_town.log import TownLog
from simulated_town.nameserver import running_nameserver
from simulated_town.plan import TownPlan, plan_town
from simulated_town.register import JSON, Register
from simulated_town.server import (
    AskTown,
    FindSite,
    StreamedReply,
    TownRequest,
    TownServer,
)
from simulated_town.sites.render import render_site
from simulated_town.sites.reply import TEXT, XML, Reply, Site
from simulated_town.sites.sitemap import big_url_set
from simulated_town.sites.trouble import BROKEN
from simulated_town.truth import Truth, truth_of

DEFAULT_SIZE: Final = 300
VISITS: Final = "/visits"


@dataclass(frozen=True, slots=True, kw_only=True)
class TownEndpoint:
    """All that another process needs to visit a town or to know its truth."""

    port: int
    dns_port: int
    """Where, on loopback, the town's DNS says who takes mail."""
    size: int = DEFAULT_SIZE
    seed: int = 1
    trouble: bool = True
    impostors: bool = False
    lies: bool = False

    @property
    def plan(self) -> TownPlan:
        """The town that is visited."""
        return plan_town(
            self.size,
            seed=self.seed,
            trouble=self.trouble,
            impostors=self.impostors,
            lies=self.lies,
        )

    @property
    def truth(self) -> Truth:
        """What is true in it."""
        return truth_of(self.plan)

    @property
    def addresses(self) -> Mapping[str, str]:
        """The address of every site."""
        return town_addresses(self.plan)

    @property
    def url(self) -> str:
        """Where its server is, for `curl -x` and for the source of places."""
        return f"http://{LOOPBACK}:{self.port}"


@dataclass(frozen=True, slots=True)
class Town:
    """A running town: how to visit it, what is true in it, and who came."""

    endpoint: TownEndpoint
    plan: TownPlan
    truth: Truth
    addresses: Mapping[str, str]
    log: TownLog
    evolution: Evolution | None = None
    """What is planted, in a town that can change."""
    server: TownServer | None = None

    def change(self) -> None:
        """Let everything happen that is planted; from now on the town is as it is after."""
        if self.evolution is None or self.server is None:
            raise RuntimeError(NOTHING_PLANTED)
        self.server.renew(*answers_of(self.server, self.evolution, is_after=True))

    @staticmethod
    @asynccontextmanager
    async def open(
        *,
        size: int = DEFAULT_SIZE,
        seed: int = 1,
        trouble: bool = True,
        impostors: bool = False,
        lies: bool = False,
        archive: int = 0,
        port: int = 0,
        changing: bool = False,
    ) -> AsyncIterator["Town"]:
        """Build a town and serve it on loopback until the block ends.

        `archive` is how many URLs the sitemap of the town's archive names; 0 leaves
        the archive out. Without `trouble` no site makes its readers wait. `impostors`
        are websites that pass for businesses which have none. With `lies` the register
        is wrong about every second business. A town that is `changing` becomes another
        one when it is told to.
        """
        plan = plan_town(
            size, seed=seed, trouble=trouble, impostors=impostors, lies=lies
        )
        addresses = town_addresses(plan)
        evolution = evolve(plan) if changing else None
        made = town_server(plan, archive)
        if evolution is not None:
            made.renew(*answers_of(made, evolution, is_after=False))
        async with (
            made.running(port) as server,
            running_nameserver(plan, addresses) as dns_port,
        ):
            endpoint = TownEndpoint(
                port=server.port,
                dns_port=dns_port,
                size=size,
                seed=seed,
                trouble=trouble,
                impostors=impostors,
                lies=lies,
            )
            yield Town(
                *(endpoint, plan, truth_of(plan), addresses, server.log),
                evolution=evolution,
                server=server,
            )


def town_server(plan: TownPlan, archive: int) -> TownServer:
    """Make the server of a town; it does not run yet."""
    register = Register(plan)

    def ask_town(ask: TownRequest) -> Reply | StreamedReply | None:
        if ask.host == LOOPBACK and ask.path == VISITS:
            return visits_answer(server.log)
        if ask.host == LOOPBACK:
            return register.answer(ask.path, ask.query)
        if ask.host == ARCHIVE_HOST:
            return archive_answer(ask.path, archive)
        return None

    server = TownServer(lambda host: find_site(plan, host), ask_town)
    return server


NOTHING_PLANTED: Final = "Nothing is planted: open the town with `changing=True`."


def answers_of(
    server: TownServer, evolution: Evolution, *, is_after: bool
) -> tuple[FindSite, AskTown]:
    """Return how a town answers before what is planted has happened, or after."""
    plan = evolution.after if is_after else evolution.before
    missing = PlantedType.DELISTED if is_after else PlantedType.OPENED
    closed = evolution.numbers(PlantedType.CLOSED) if is_after else frozenset()
    register = Register(plan, hidden=evolution.numbers(missing), closed=closed)
    silent = evolution.silent if is_after else frozenset()

    def find(host: str) -> tuple[str, Site | str] | None:
        found = find_site(plan, host)
        if found is None:
            return None
        domain, site = found
        if isinstance(site, str):
            return found
        if domain in silent:
            return domain, Site({}, BROKEN)
        return domain, replace(site, is_restless=domain in evolution.restless)

    def ask(asked: TownRequest) -> Reply | None:
        if asked.host != LOOPBACK:
            return None
        if asked.path == VISITS:
            return visits_answer(server.log)
        return register.answer(asked.path, asked.query)

    return find, ask


def visits_answer(log: TownLog) -> Reply:
    """Answer who was visited how, for those in other processes."""
    return Reply(json.dumps([astuple(r) for r in log.records()]).encode(), JSON)


def find_site(plan: TownPlan, host: str) -> tuple[str, Site | str] | None:
    """Return a host's domain and its site, or the host the site lives at."""
    domain = host.removeprefix("www.")
    owners = plan.owners.get(domain)
    if not owners or owners[0].kind is SiteKind.NO_SUCH_NAME:
        return None
    home = owners[0].host
    if home is not None and host != home:
        return domain, home
    return domain, render_site(owners)


def archive_answer(path: str, urls: int) -> Reply | StreamedReply | None:
    """Answer for the archive: a sitemap of any length, written while it is sent."""
    if not urls:
        return None
    origin = f"http://{ARCHIVE_HOST}"
    match path:
        case "/robots.txt":
            text = f"User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n"
            return Reply(text.encode(), TEXT)
        case "/sitemap.xml":
            return StreamedReply(big_url_set(origin, urls), XML)
        case _:
            return Reply(b"<!DOCTYPE html><title>Town archive</title><h1>Archive</h1>")
