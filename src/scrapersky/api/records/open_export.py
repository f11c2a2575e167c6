"""The exports that are being sent: whose, and how many at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Request

from scrapersky.api.auth.identity import Identity
from scrapersky.errors import TooManyExports
from scrapersky.export.turns import ExportTurns

MOST_EXPORTS_EACH: Final = 3
MOST_EXPORTS_OF_TENANT: Final = 6
MOST_EXPORTS: Final = 16
"""Each may keep 64 MiB waiting on disk (`export.buffer`): together one GiB."""
RETRY_AFTER: Final = timedelta(seconds=10)


@dataclass(frozen=True, eq=False, slots=True)
class OpenExport:
    """One export, from when it is let in until its client has it or has left."""

    exports: "OpenExports"
    tenant_id: UUID
    caller: str

    def close(self) -> None:
        """Make room for another; doing so twice does no harm."""
        self.exports.open.discard(self)


class OpenExports:
    """The exports of one process."""

    def __init__(self) -> None:
        self.turns = ExportTurns()
        self.open: set[OpenExport] = set()

    @contextmanager
    def begun(self, who: Identity) -> Iterator[OpenExport]:
        """Let one more in, or raise TooManyExports; it is closed if it cannot begin."""
        caller = f"{who.tenant_id} {who.user_id or who.credential or who.name}"
        self._refuse_too_many(who.tenant_id, caller)
        export = OpenExport(self, who.tenant_id, caller)
        self.open.add(export)
        try:
            yield export
        except BaseException:
            export.close()
            raise

    def _refuse_too_many(self, tenant_id: UUID, caller: str) -> None:
        if sum(one.caller == caller for one in self.open) >= MOST_EXPORTS_EACH:
            raise too_many(f"You have {MOST_EXPORTS_EACH} exports under way already.")
        theirs = sum(one.tenant_id == tenant_id for one in self.open)
        if theirs >= MOST_EXPORTS_OF_TENANT:
            raise too_many(
                f"Your workspace has {MOST_EXPORTS_OF_TENANT} exports under way already."
            )
        if len(self.open) >= MOST_EXPORTS:
            raise too_many("This server has as many exports under way as it can hold.")


def too_many(said: str) -> TooManyExports:
    """Refuse one more export."""
    return TooManyExports(
        said,
        hint="Wait until one has been downloaded, or stop one, and try again.",
        retry_after=RETRY_AFTER,
    )


async def open_exports(request: Request) -> OpenExports:
    """Hand a route the exports of the process."""
    exports: OpenExports = request.app.state.exports
    return exports


Exports = Annotated[OpenExports, Depends(open_exports)]
