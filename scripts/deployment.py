"""Write the settings of all stages and jobs into the deployment files: -m scripts.deployment.

They stand in both compose files and in the values of the Helm chart, between two marks, with
their defaults; a test keeps them in step with the code.
"""

from collections.abc import Iterator
from pathlib import Path

from scrapersky.configuration import VARIABLES, Variable, shown
from scrapersky.settings import SECTIONS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
SMALL_COMPOSE = ROOT / "compose.yaml"
COMPOSE = DEPLOY / "compose.yaml"
VALUES = DEPLOY / "helm" / "scrapersky" / "values.yaml"
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
        yield f"  {found.name}: ${{{found.name}:-{shown(found.default)}}}"


def values_lines() -> Iterator[str]:
    """Write them as values that another file may change."""
    for found in scheduler_variables():
        yield f'  {found.name}: "{shown(found.default)}"'


def written(path: Path, lines: Iterator[str]) -> str:
    """Return what a file should be."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *lines, f"  {END}"]) + after


def files() -> tuple[tuple[Path, Iterator[str]], ...]:
    """Name every file, with the lines between its marks."""
    return (
        (SMALL_COMPOSE, compose_lines(usual_variables())),
        (COMPOSE, compose_lines(scheduler_variables())),
        (VALUES, values_lines()),
    )


def main() -> None:
    """Write all files."""
    for path, lines in files():
        path.write_text(written(path, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
