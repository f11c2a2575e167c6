"""What the deployment files take from the code: settings, and the rules of Prometheus.

The settings of all stages and jobs stand in both compose files and in the values of the Helm
chart, between two marks, with their defaults.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson

from scrapersky.configuration import VARIABLES, Variable, setting_text
from scrapersky.scheduler.alert import RULES, AlertRule, PrometheusRule
from scrapersky.settings import SECTIONS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
SMALL_COMPOSE = ROOT / "compose.yaml"
COMPOSE = DEPLOY / "compose.yaml"
VALUES = DEPLOY / "helm" / "scrapersky" / "values.yaml"
PROMETHEUS_RULES = DEPLOY / "prometheus" / "rules.yml"
GUIDE = "docs/how-to/first-five-minutes.md"
BEGIN = "# The settings of every stage and job, with their defaults:"
END = "# So far."
USUAL = ("_INTERVAL_MINUTES", "_BATCH_SIZE", "_MAX_INSTANCES")
"""What most people change; the rest reaches the small installation through `.env`."""


def scheduler_variables() -> list[Variable]:
    """List the settings of every stage and every job."""
    return [found for found in VARIABLES.values() if found.path[:-1] in SECTIONS]


def usual_variables() -> list[Variable]:
    """List those of them that most people change."""
    return [found for found in scheduler_variables() if found.name.endswith(USUAL)]


def compose_lines(variables: list[Variable]) -> Iterator[str]:
    """Write them so that the environment of whoever starts it may change each."""
    for found in variables:
        yield f"  {found.name}: ${{{found.name}:-{setting_text(found.default)}}}"


def values_lines() -> Iterator[str]:
    """Write them as values that another file may change."""
    for found in scheduler_variables():
        yield f'  {found.name}: "{setting_text(found.default)}"'


def written(path: Path, lines: Iterator[str]) -> str:
    """Return what a file should be."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *lines, f"  {END}"]) + after


def prometheus_rules() -> str:
    """Write every alert that Prometheus can find."""
    lines = [
        f"# What should wake somebody; {GUIDE} says what to do about each.",
        "# Generated from src/scrapersky/scheduler/alert.py: ./check --regenerate.",
        "groups:",
        "  - name: scrapersky",
        "    rules:",
    ]
    for rule in RULES:
        if rule.prometheus is not None:
            lines += rule_lines(rule, rule.prometheus)
    return "\n".join(lines) + "\n"


def rule_lines(rule: AlertRule, found: PrometheusRule) -> Iterator[str]:
    """Write one of them."""
    subject = f"{{{{ $labels.{found.label} }}}}"
    figure = f"{{{{ $value | {found.figure} }}}}"
    yield f"      - alert: {found.name}"
    yield f"        expr: {quoted(found.expression)}"
    if found.hold is not None:
        yield f"        for: {found.hold}"
    yield f"        labels: {{ severity: {found.severity} }}"
    yield "        annotations:"
    summary = rule.summary.format(subject=subject, figure=figure)
    yield f"          summary: {quoted(summary)}"
    yield f"          description: {quoted(rule.advice.format(subject=subject))}"
    section = found.runbook or rule.name
    yield f"          runbook_url: {quoted(f'{GUIDE}#{section}')}"


def quoted(value: str) -> str:
    """Write a string as YAML reads it."""
    return orjson.dumps(value).decode()


FILES = {
    SMALL_COMPOSE: lambda: written(SMALL_COMPOSE, compose_lines(usual_variables())),
    COMPOSE: lambda: written(COMPOSE, compose_lines(scheduler_variables())),
    VALUES: lambda: written(VALUES, values_lines()),
    PROMETHEUS_RULES: prometheus_rules,
}
