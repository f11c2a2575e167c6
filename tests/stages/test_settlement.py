"""What is done once for all that settles together is done in one order."""

from typing import Any

import pytest

from curation_sdk import Transaction
from scrapersky.pipeline import naming, rule_run, site, visit
from scrapersky.pipeline.settlement import SETTLE_STEPS, SettleStep
from scrapersky.stages import wf4_domain_metadata
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STEPS: dict[str, SettleStep[Any]] = {
    step.name: step
    for module in (naming, rule_run, site, visit, wf4_domain_metadata)
    for step in vars(module).values()
    if isinstance(step, SettleStep)
}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record which steps run, in their order."""
    recorded: list[str] = []

    def watch(step: SettleStep[Any]) -> None:
        act = step.act

        async def watched(transaction: Transaction, values: list[Any]) -> None:
            recorded.append(step.name)
            await act(transaction, values)

        monkeypatch.setattr(step, "act", watched)

    for step in STEPS.values():
        watch(step)
    return recorded


async def test_the_order_of_steps_was_that_in_which_they_happened_to_be_queued(
    line: Line, ran: list[str]
) -> None:
    line.web.page("a.bv/contact", "<a href='mailto:info@a.bv'>info@a.bv</a>")
    await line.add_page("http://a.bv/contact", choice={"promised": 0.9})

    await line.work("page_curation")

    assert ran == [step for step in SETTLE_STEPS if step != "store_unreachable"]


async def test_rules_chose_among_sitemaps_before_the_pages_of_the_site_were_stored(
    line: Line, ran: list[str]
) -> None:
    line.web.page("a.bv/", "<a href='/contact'>Contact</a>")
    line.web.sitemap("a.bv/sitemap.xml", "http://a.bv/contact")
    await line.add_domain(sitemap_analysis_status="queued")

    await line.work("sitemap_submission")

    assert ran.index("settle_sites") < ran.index("run_rules")


async def test_a_step_that_nobody_declares_had_a_place_in_the_order() -> None:
    assert set(STEPS) == set(SETTLE_STEPS)
