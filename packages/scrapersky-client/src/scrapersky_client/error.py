"""What can go wrong, in the server's own words."""

from typing import Any


class ClientError(Exception):
    """The base of every error that this package raises."""


class ServerUnreachable(ClientError):
    """No answer came, however often it was asked."""


class ApiError(ClientError):
    """The server refused a request; `str()` says why and what to do."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        said = str(problem.get("detail") or f"The server answered {status}.")
        hint = problem.get("hint")
        super().__init__(f"{said} {hint}" if hint else said)
        self.status = status
        self.kind = str(problem.get("type", "")).rpartition("/")[2]
        """The last part of the problem's type, as `not-found`."""
        self.problem = problem
        """The whole problem, by RFC 9457."""


class StartOver(ApiError):
    """The cursor of a change feed is too old: read everything anew, and go on from `now`."""
