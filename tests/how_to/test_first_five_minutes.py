"""Every alert has a section that says what to do, and every command in it runs."""

import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from scrapersky.scheduler.alert import RULES
from tests.cli.rig import execute
from tests.conftest import TestDatabase
from tests.how_to.guide import PAGES, Shell, statements_of, steps_of
from tests.how_to.running import running

PAGE = "first-five-minutes.md"
ADDRESS = f"docs/how-to/{PAGE}#"
DEPLOYED = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yml"


def sections() -> dict[str, str]:
    """Return the sections of the page by their headings."""
    parts = re.split(r"^## ", (PAGES / PAGE).read_text(), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part for part in parts}


def deployed_rules() -> dict[str, str]:
    """Return where each alert of Prometheus sends whoever it wakes."""
    (group,) = yaml.safe_load(DEPLOYED.read_text())["groups"]
    return {
        rule["alert"]: rule["annotations"]["runbook_url"] for rule in group["rules"]
    }


def test_every_alert_of_the_product_has_a_section() -> None:
    assert {rule.name for rule in RULES if rule.find} <= sections().keys()


def test_every_alert_of_prometheus_leads_to_the_section_that_names_it() -> None:
    found = sections()

    assert len(deployed_rules()) > 15
    for name, address in deployed_rules().items():
        assert address.startswith(ADDRESS)
        assert f"`{name}`" in found[address.removeprefix(ADDRESS)]


def test_no_section_is_about_an_alert_that_there_is_not() -> None:
    known = {rule.name for rule in RULES if rule.find}
    deployed = deployed_rules()

    for heading, section in sections().items():
        named = set(re.findall(r"`(ScraperSky\w+)`", section))
        assert named <= deployed.keys()
        assert heading in known or named


@pytest.mark.parametrize("heading", sections())
def test_a_section_says_what_to_look_at_what_to_do_and_whom_to_wake(
    heading: str,
) -> None:
    section = sections()[heading]

    assert "```console" in section or "```sql" in section
    assert "**Do**" in section
    assert "**Wake " in section


@pytest.mark.slow
def test_every_command_of_the_page_runs_on_a_live_installation(
    home: Path, installed: TestDatabase, tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": installed.url, "SCRAPERSKY_DATA_DIR": home}
    typed = dict.fromkeys(step.command for step in steps_of(PAGE))
    asked = statements_of(PAGE)
    shell = Shell(tmp_path, **settings)
    with running("serve", settings) as api:
        shell.type(f"export API={api.address}/api/v3")
        for command in typed:
            shell.type(command)
        for statement in asked:
            execute(installed, statement)

    assert len(typed) > 8
    assert len(asked) == 3
