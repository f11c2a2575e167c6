"""The application as `scrapersky up` runs it: the API, or the stages beside it."""

import json
import socket
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bench.mixed_world.hostile import Doors, MixedResolver
from contact_extraction.urls import Url
from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.api.worker_app import create_worker_app
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.worker_processes import lower_priority
from scrapersky.configuration import load_settings
from scrapersky.crawler import CrawlerPolicy
from scrapersky.db.connection import parse_target
from scrapersky.demo.services import TownResolver, town_policy
from scrapersky.observability.log import configure_logs
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.scheduler.app import serve_beside_workers
from scrapersky.scheduler.tools import ExternalServices
from simulated_town.town import TownEndpoint


def policy(endpoint: TownEndpoint, order: dict[str, Any]) -> CrawlerPolicy:
    """Visit the town and the hostile sites, and nothing else."""
    usual = town_policy(endpoint.port, host_delay=timedelta(seconds=order["delay"]))
    doors = Doors(
        http=usual.proxy.http,
        https=usual.proxy.https,
        hostile=Url("http", "127.0.0.1", order["hostile_port"]),
    )
    spans: dict[str, Any] = {
        name: timedelta(seconds=s) for name, s in order["limits"].items()
    }
    return replace(usual, proxy=doors, limits=replace(usual.limits, **spans))


def main() -> None:
    """Serve until killed; what to do is one object of JSON in the first argument."""
    order = json.loads(sys.argv[1])
    endpoint = TownEndpoint(
        port=order["port"],
        dns_port=order["dns_port"],
        size=order["size"],
        trouble=False,
    )
    services = ExternalServices(
        policy=policy(endpoint, order),
        resolver=MixedResolver(TownResolver(endpoint.addresses)),
        sources={},
        mail_servers=DnsMailServers(("127.0.0.1",), endpoint.dns_port),
    )
    settings = load_settings(order["environment"], dotenv=None).settings
    configure_logs("ERROR", "console")
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", order["api_port"]))
        listener.listen(1024)
        target = parse_target(order["url"])
        with without_collector():
            if order["is_worker"]:
                lower_priority()
                port = order["api_port"]
                app = create_worker_app(settings, target, port=port, services=services)
            else:
                app = create_app(
                    settings, target, services=services, process=serve_beside_workers
                )
        Server(app, grace=5).run(sockets=[listener])


if __name__ == "__main__":
    main()
