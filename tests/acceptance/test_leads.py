"""The lead list as the whole pipeline makes it of the town."""

from pathlib import Path

import pytest

from contact_extraction.mailbox import strength
from scrapersky.db.connection import parse_target
from scrapersky.demo.services import town_services
from scrapersky.scheduler.app import work
from simulated_town.town import Town
from tests.acceptance.rig import a_desk, settings_for
from tests.acceptance.test_impostor import finish
from tests.conftest import TestDatabase

SIZE = 60
PERSONS = """SELECT split_part(x.email, '@', 1), x.name, x.email_type::text
  FROM companies c JOIN contacts x ON x.id = c.email_contact_id
  WHERE c.email_kind = 'person'"""
NOT_USED = """SELECT p.email, x.email, c.email_reason
  FROM companies c JOIN people p ON p.id = c.decision_maker_id
  JOIN contacts y ON y.domain_id = p.domain_id AND y.email = p.email
  JOIN contacts x ON x.id = c.email_contact_id
  WHERE x.email <> p.email AND coalesce(y.validation->>'verdict', 'none')
    NOT IN ('undeliverable', 'risky')"""


@pytest.mark.slow
async def test_a_role_mailbox_of_the_town_was_a_named_person_s_e_mail(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(tmp_path)})
    target = parse_target(database.url)
    async with (
        Town.open(size=SIZE, trouble=False) as town,
        a_desk(database.url) as desk,
        town_services(town.endpoint) as services,
        work(settings, target, services=services),
    ):
        await desk.search()
        await finish(desk)
        persons = await desk.rows(PERSONS)
        not_used = await desk.rows(NOT_USED)

    wrong = [row for row in persons if not strength(*row[:2]) or row[2] == "SERVICE"]
    assert persons
    assert wrong == []
    assert not_used == []
