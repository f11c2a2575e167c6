"""How routes about records refuse, for the reference of the API."""

from typing import Any, Final

from scrapersky.api.problem import Problem

Refusals = dict[int | str, dict[str, Any]]

REFUSALS: Final[Refusals] = {
    401: {"model": Problem, "description": "Nobody we know"},
    403: {"model": Problem, "description": "Not allowed"},
    422: {"model": Problem, "description": "It does not fit"},
}
NOT_FOUND: Final[Refusals] = {
    404: {"model": Problem, "description": "There is no such record"}
}
CONFLICT: Final[Refusals] = {409: {"model": Problem, "description": "It cannot be so"}}
VERSIONS: Final[Refusals] = {
    412: {"model": Problem, "description": "The record has changed since"},
    428: {"model": Problem, "description": "If-Match is missing"},
}
