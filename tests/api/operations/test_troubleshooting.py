"""The guide by symptom: each of its calls is made to a running server.

Its commands of our own are run by `tests/cli/test_pipeline.py`.
"""

import shlex

import pytest

from tests.api.operations.rig import Served
from tests.how_to.guide import commands_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMANDS = commands_of("find-what-is-wrong.md")
CALLS = [command for command in COMMANDS if command.startswith("curl ")]
OWN = [command for command in COMMANDS if command.startswith("scrapersky ")]


async def test_every_command_of_the_guide_is_one_we_can_run() -> None:
    assert len(CALLS) >= 10
    assert sorted([*CALLS, *OWN]) == sorted(COMMANDS)


@pytest.mark.slow
async def test_every_call_of_the_guide_is_answered(clean: Served) -> None:
    page = await clean.add_page(page_processing_status="Error")
    await clean.run(
        "INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why)"
        " VALUES ('page_curation', :item, 7, 1, 'gave_up', '404')",
        item=str(page),
    )
    await clean.run(
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)"
        " VALUES ('page_curation', :item, 7, 'gave_up', '404', 1, 0)",
        item=str(page),
    )
    answers = {}
    for command in CALLS:
        words = shlex.split(command.replace("$RECORD", str(page)))[1:]
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        path = next(word for word in words if word.startswith("$API"))
        answers[command] = await clean.call(method, path.removeprefix("$API"))

    story = answers["curl $API/dead-letters/page_curation:$RECORD"]
    assert [a["correlation_id"] for a in story["attempts"]] == [f"7-{page}"]
    events = answers["curl $API/pages/$RECORD/history"]["events"]
    assert events[0]["details"]["correlation_id"] == f"7-{page}"
