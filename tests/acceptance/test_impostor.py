"""Websites that pass for companies of the town, through the whole pipeline."""

import asyncio
from pathlib import Path

import pytest

from scrapersky.companies.matching import match_companies
from scrapersky.curation.batch.submission import submit
from scrapersky.db.connection import parse_target
from scrapersky.demo.services import town_services
from scrapersky.scheduler.app import work
from sdk_tests.rig.waiting import HUNG
from simulated_town.impostor import Imitation
from simulated_town.register import place_id
from simulated_town.town import Town
from tests.acceptance.rig import Desk, a_desk, settings_for
from tests.conftest import TestDatabase

SIZE = 60
"""The smallest round number at which the town has victims for all kinds."""
VICTIMS = """SELECT p.source_place_id, c.id, c.domain_id, c.email_contact_id,
    c.decision_maker_id
  FROM places_staging p JOIN company_members m ON m.place_id = p.id
  JOIN companies c ON c.id = m.company_id"""
SITES = """SELECT d.domain, m.company_id, (SELECT count(*) FROM contacts x
    WHERE x.domain_id = d.id) FROM domains d JOIN company_members m ON m.domain_id = d.id"""
QUESTIONS = """SELECT l.company_id, r.company_id FROM company_pairs k
  JOIN company_members l ON l.id = k.left_id JOIN company_members r ON r.id = k.right_id
  WHERE k.verdict IS NULL"""


async def finish(desk: Desk) -> None:
    """Let all work end, and the companies be put together."""
    async with asyncio.timeout(HUNG):
        while await desk.open():  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.05)
    await match_companies(desk.engine)


@pytest.mark.slow
async def test_no_impostor_of_the_town_is_merged_and_all_that_resemble_are_questions(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_for({"SCRAPERSKY_DATA_DIR": str(tmp_path)})
    target = parse_target(database.url)
    async with (
        Town.open(size=SIZE, trouble=False, impostors=True) as town,
        a_desk(database.url) as desk,
    ):
        impostors = town.plan.impostors
        async with (
            town_services(town.endpoint) as services,
            work(settings, target, services=services),
        ):
            # They come first: whoever is there already is not the owner for that.
            names = [str(each.site.domain) for each in impostors]
            await submit(desk.engine, desk.actor, "domains", names)
            await finish(desk)
            await desk.search()
            await finish(desk)
        victims = {row[0]: row[1:] for row in await desk.rows(VICTIMS)}
        sites = {row[0]: row[1:] for row in await desk.rows(SITES)}
        asked = {frozenset(row) for row in await desk.rows(QUESTIONS)}
        compared = await desk.compare(town.endpoint)

    assert {each.imitation for each in impostors} == set(Imitation)
    merged, not_asked = [], []
    for each in impostors:
        company, *best = victims[place_id(each.victim)]
        owner, contacts = sites[str(each.site.domain)]
        assert contacts, "the impostor was not read at all"
        if owner == company or best != [None, None, None]:
            merged.append(each.imitation)
        if frozenset({owner, company}) not in asked:
            not_asked.append(each.imitation)
    assert merged == []
    assert not_asked == [Imitation.NAME_ALONE]
    assert [score.missed for score in compared.scores] == [(), ()]
