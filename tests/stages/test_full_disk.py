"""A full disk: the stage whose rows do not fit says so, and the others go on."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.db.embedded import server_user
from scrapersky.records import Domain, SitemapFile
from tests.stages.rig import Line
from tests.stages.test_wf4_domain_metadata import HOME

pytestmark = pytest.mark.asyncio(loop_scope="session")
MANY = [f"http://a.bv/a-rather-long-address-of-a-page/number/{n}" for n in range(9000)]


@pytest.fixture
def small_disk(scratch: Path) -> Iterator[Path]:
    """Mount a disk of two megabytes that belongs to PostgreSQL."""
    place = scratch / "small-disk-of-pages"
    place.mkdir(exist_ok=True)
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False
    )
    if made.returncode:
        pytest.skip("no disk may be mounted here")
    user = server_user()
    os.chown(place, user.uid, user.gid)
    place.chmod(0o700)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


async def move_to(line: Line, disk: Path, table: str) -> None:
    """Keep a table on a disk of its own."""
    async with line.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        driver = (await alone.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        await driver.execute(f"ALTER TABLE {table} SET TABLESPACE small")


async def drop_small(line: Line) -> None:
    """Forget the disk, on which nothing is left."""
    async with line.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.exec_driver_sql("DROP TABLESPACE small")


@pytest.mark.slow
async def test_the_stage_that_finds_no_room_says_so_and_the_others_go_on(
    line_apart: Line, small_disk: Path
) -> None:
    line = line_apart
    await move_to(line, small_disk, "pages")
    line.web.sitemap("a.bv/sitemap.xml", *MANY)
    line.web.page("b.bv/", HOME)
    file = await line.add_sitemap("http://a.bv/sitemap.xml")
    other = await line.add_domain("b.bv")

    await line.work("sitemap_import")
    full = await line.row(SitemapFile, file)
    pages_then = await line.rows("SELECT count(*) FROM pages")
    await line.work("domain_metadata")
    subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)  # noqa: ASYNC221
    await line.work_again("sitemap_import")

    assert full.sitemap_import_status == "Processing"
    assert "space" in full.sitemap_import_error.lower()
    assert pages_then == [(0,)]
    assert (await line.row(Domain, other)).status == "completed"
    assert (await line.row(SitemapFile, file)).sitemap_import_status == "Complete"
    stored = "SELECT count(*) FROM pages WHERE sitemap_file_id IS NOT NULL"
    assert await line.rows(stored) == [(len(MANY),)]
    await line.run("DROP TABLE pages CASCADE")
    await drop_small(line)


@pytest.mark.slow
async def test_pages_whose_bytes_found_no_room_are_read_again_and_lose_nothing(
    line_apart: Line, small_disk: Path
) -> None:
    line = line_apart
    await move_to(line, small_disk, "page_contents")
    domain = await line.add_domain()
    luck = random.Random(1)
    for number in range(4):
        noise = luck.randbytes(700_000).hex()
        text = f"<h1>Contact</h1><p>info{number}@a.bv</p><!--{noise}-->"
        line.web.page(f"a.bv/contact{number}", f"<html>{text}</html>")
        await line.add_page(f"http://a.bv/contact{number}", domain)
    counts = "SELECT page_processing_status::text, count(*) FROM pages GROUP BY 1"

    await line.work("page_curation")
    then = dict(await line.rows(counts))
    kept = await line.rows("SELECT count(*) FROM page_contents")
    errors = await line.rows(
        "SELECT DISTINCT page_processing_error FROM pages"
        " WHERE page_processing_error IS NOT NULL"
    )
    subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)  # noqa: ASYNC221
    await line.work_again("page_curation")

    assert then.get("Complete", 0) == kept[0][0] < 4
    assert all("space" in row[0].lower() for row in errors)
    assert dict(await line.rows(counts)) == {"Complete": 4}
    assert await line.rows("SELECT count(*) FROM page_contents") == [(4,)]
    assert await line.rows("SELECT count(*) FROM contacts") == [(4,)]
    await line.run("DROP TABLE page_contents CASCADE")
    await drop_small(line)
