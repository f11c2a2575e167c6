"""Stages with something large in hand when they are stopped: handed back, done once."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from typing_extensions import override

from tests.stopping.rig import House

pytestmark = pytest.mark.slow

PLACES = 6_000
URLS = 50_000


# A run that was killed at the pace interval counts as running for two minutes.
@pytest.mark.parametrize(
    ("pace", "how"),
    [("eager", "stopped"), ("eager", "killed"), ("interval", "stopped")],
)
def test_a_place_file_was_read_to_its_end_before_the_stop_was_heard(
    house: House, pace: str, how: str
) -> None:
    imports = house.home / "imports"
    imports.mkdir()
    lines = (f"{n},Business {n}\n" for n in range(PLACES))
    (imports / "many.csv").write_text("id,name\n" + "".join(lines))
    house.run(
        """INSERT INTO place_searches (tenant_id, business_type, source, params)
          SELECT id, '', 'file', '{"file": "many.csv"}' FROM tenants"""
    )
    at_pace = {
        "SCHEDULER_PACE": pace,
        "PLACE_SEARCH_SCHEDULER_INTERVAL_MINUTES": "0.05",
    }
    some = f"SELECT count(*) BETWEEN 1 AND {PLACES - 1} FROM places_staging"
    with (
        house.slowly("places_staging", "INSERT", each=3),
        house.serving("worker", **at_pace) as worker,
    ):
        house.wait_for(some)
        if how == "stopped":
            worker.stop(f"a place file at the pace {pace}")
        else:
            worker.kill()
        assert house.ask(some)
    with house.serving("worker", **at_pace):
        house.wait_for("SELECT bool_and(status = 'Completed') FROM place_searches")

    assert house.ask("SELECT count(*) FROM places_staging") == PLACES


class Sitemap(BaseHTTPRequestHandler):
    """Serves one large sitemap, and lets everything be read."""

    def do_GET(self) -> None:
        if self.path != "/sitemap.xml":
            self.send_error(404)
            return
        place = f"http://{self.headers['Host']}"
        urls = "".join(f"<url><loc>{place}/{n}</loc></url>" for n in range(URLS))
        namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
        body = f'<urlset xmlns="{namespace}">{urls}</urlset>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def a_site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Sitemap) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield "http://{}:{}".format(*server.server_address[:2])
        finally:
            server.shutdown()
            thread.join()


def test_a_sitemap_of_50_000_urls_held_up_the_stop(house: House) -> None:
    with a_site() as place:
        port = place.rpartition(":")[2]
        house.run(
            f"""WITH d AS (INSERT INTO domains (tenant_id, domain, home_url, status)
              SELECT id, '127.0.0.1', '{place}/', 'completed' FROM tenants
              RETURNING id, tenant_id)
            INSERT INTO sitemap_files (tenant_id, domain_id, url, found_by,
              deep_scrape_curation_status, sitemap_import_status)
            SELECT tenant_id, id, '{place}/sitemap.xml', 'submitted', 'Selected',
              'Queued' FROM d"""
        )
        reach = {
            "CRAWLER_ALLOWED_NETWORKS": "127.0.0.0/8",
            "CRAWLER_ALLOWED_PORTS": port,
        }
        with (
            house.slowly("pages", "INSERT"),
            house.serving("worker", **reach) as worker,
        ):
            house.wait_for(
                """SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active'
                AND query ~* '^copy .*pages'"""
            )
            worker.stop(f"a sitemap of {URLS:,} URLs")
            assert house.ask("SELECT count(*) FROM pages") in {0, URLS}
        with house.serving("worker", **reach):
            house.wait_for(
                "SELECT bool_and(sitemap_import_status = 'Complete') FROM sitemap_files"
            )

    assert house.ask("SELECT count(*) FROM pages") == URLS


def test_up_waited_for_one_part_after_the_other(house: House) -> None:
    """The API and the workers beside it stop at the same time."""
    house.run(
        """INSERT INTO hosts (key, starts_at, next_at, updated_at)
          SELECT n || '.example', at, at, at FROM generate_series(1, 12000) AS n,
            CAST(clock_timestamp() - interval '400 days' AS timestamptz) AS at"""
    )
    often = {"PURGE_SCHEDULER_INTERVAL_MINUTES": "0.05"}
    some = "SELECT count(*) BETWEEN 1 AND 11999 FROM hosts"
    with (
        house.slowly("hosts", "DELETE"),
        house.serving("up", "--workers", "1", **often) as up,
    ):
        house.wait_for(some)
        up.stop("purging in a worker beside it")
        assert house.ask(some)
    assert house.ask("SELECT count(*) FROM processes") == 0
