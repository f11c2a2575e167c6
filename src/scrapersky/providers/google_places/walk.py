"""How an area is covered although one query returns 60 places at most.

The walk asks a cell page by page. A cell that gives as many as the API ever gives is
saturated: it is cut into quarters, which are asked in turn, until every leaf gives
less, or is too small to cut. Where ids are free, the whole walk is first made with ids
only (the survey); then the price is known exactly, and only pages of leaves that hold
something new are paid for. Everything here is decided without a request being made.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from typing_extensions import override

from scrapersky.providers.area import Area, Box, area_from_json
from scrapersky.providers.cell import (
    Coverage,
    Leaf,
    box_of,
    first_cells,
    may_split,
    quarters,
)
from scrapersky.providers.source import Json, SearchState

SERVICE = "S"
"""The one query for businesses without premises; no cell of the map."""
PAGE_SIZE = 20
MAX_PAGES = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """When a cell is cut into quarters."""

    saturated_at: int = PAGE_SIZE * MAX_PAGES
    floor_m: float = 150.0
    limit: int | None = None


@dataclass(slots=True)
class OpenCell:
    """A cell some of whose pages have been read."""

    cell: str
    token: str | None = None
    count: int = 0
    unseen: int = 0
    pages: int = 0
    restarted: bool = False


@dataclass(slots=True)
class LeafCount:
    """What was found in a cell that is not cut further."""

    count: int
    unseen: int
    pages: int
    saturated: bool


@dataclass(slots=True)
class Walk(SearchState):
    """Where a walk over an area is."""

    surveys: bool
    phase: str = "locate"
    """locate, survey, collect, done."""
    area: Json | None = None
    pending: list[str] = field(default_factory=list)
    open: OpenCell | None = None
    leaves: dict[str, LeafCount] = field(default_factory=dict)
    requests: int = 0
    found: int = 0
    spent: str = "0"
    cut_by_limit: bool = False
    service_ids: list[str] = field(default_factory=list)
    """Ids of the service query that no cell has given yet, 60 at most."""

    @property
    def where(self) -> Area:
        """Return the area that is searched."""
        return area_from_json(self.area)

    @property
    def root(self) -> Box:
        """Return the box that all cells are quarters of."""
        return self.where.bounds

    @property
    def pages_left(self) -> int | None:
        """Return how many paid pages are still to be read, once that is known."""
        if self.phase == "done":
            return 0
        if self.phase != "collect" or not self.surveys:
            return None
        waiting = sum(self.leaves[cell].pages for cell in self.pending)
        if self.open is None:
            return waiting
        return waiting + max(self.leaves[self.open.cell].pages - self.open.pages, 1)

    @classmethod
    @override
    def from_values(cls, values: dict[str, Any]) -> Self:
        cell, leaves = values["open"], values["leaves"]
        values["open"] = None if cell is None else OpenCell(**cell)
        values["leaves"] = {name: LeafCount(**leaf) for name, leaf in leaves.items()}
        return cls(**values)


def enter(walk: Walk, area: Area, *, service_areas: bool) -> None:
    """Begin to walk an area."""
    walk.area = area.to_json()
    walk.phase = "survey" if walk.surveys else "collect"
    cells = list(reversed(first_cells(area, walk.root)))
    service = [SERVICE] if service_areas else []
    # Taken from the end. A survey asks for services first, so that what it then finds
    # on premises need not be paid twice; without one, they come when all else is done.
    walk.pending = cells + service if walk.surveys else service + cells


def next_cell(walk: Walk) -> OpenCell | None:
    """Return the cell to ask next, opened; None when the phase is over."""
    if walk.open is None and walk.pending:
        walk.open = OpenCell(walk.pending.pop())
    return walk.open


def take_page(
    walk: Walk,
    rules: Rules,
    ids: Sequence[str],
    new: Collection[str],
    token: str | None,
) -> None:
    """Count what a page brought, and decide what becomes of its cell."""
    cell = walk.open
    if cell is None:
        raise ValueError("no cell is open")
    cell.count += len(ids)
    if cell.cell == SERVICE and walk.phase == "survey":
        walk.service_ids += new
    else:
        cell.unseen += len(new)
        found = set(ids)
        walk.service_ids = [place for place in walk.service_ids if place not in found]
    cell.pages += 1
    cell.token = token
    if token is None or cell.pages >= MAX_PAGES:
        walk.open = None
        close(walk, rules, cell)


def close(walk: Walk, rules: Rules, cell: OpenCell) -> None:
    """Make a leaf of a cell that was read to its end, or cut it into quarters."""
    saturated = cell.count >= rules.saturated_at or cell.token is not None
    was_surveyed = walk.surveys and walk.phase == "collect"
    if was_surveyed:
        leaf = walk.leaves[cell.cell]
        leaf.saturated = leaf.saturated or saturated
        leaf.count = max(leaf.count, cell.count)
        return
    if saturated and cell.cell != SERVICE and is_wanted(walk, rules, cell):
        walk.pending += reversed(quarters(walk.where, walk.root, cell.cell))
        return
    walk.leaves[cell.cell] = LeafCount(cell.count, cell.unseen, cell.pages, saturated)
    if rules.limit is not None and count_accepted(walk) >= rules.limit and walk.pending:
        walk.pending = []
        walk.cut_by_limit = True


def is_wanted(walk: Walk, rules: Rules, cell: OpenCell) -> bool:
    """Say whether a saturated cell is worth cutting."""
    enough = (
        rules.limit is not None and count_accepted(walk) + cell.unseen >= rules.limit
    )
    if enough:
        walk.cut_by_limit = True
    return not enough and may_split(walk.root, cell.cell, rules.floor_m)


def count_accepted(walk: Walk) -> int:
    """Return how many places the leaves hold that the caller does not have."""
    return sum(leaf.unseen for leaf in walk.leaves.values())


def end_phase(walk: Walk) -> None:
    """Go from the survey to the paid pages, or to the end."""
    if walk.phase == "survey":
        walk.phase = "collect"
        if SERVICE in walk.leaves:
            walk.leaves[SERVICE].unseen = len(walk.service_ids)
        worthwhile = [cell for cell, leaf in walk.leaves.items() if leaf.unseen]
        # The service query goes last again, and the rest in the order of the walk.
        walk.pending = sorted(worthwhile, key=lambda cell: (cell != SERVICE, cell))
        walk.pending[1 if SERVICE in worthwhile else 0 :] = reversed(
            [cell for cell in walk.pending if cell != SERVICE]
        )
    if walk.phase == "collect" and not walk.pending and walk.open is None:
        walk.phase = "done"


def stop_at_limit(walk: Walk, rules: Rules) -> None:
    """End the walk once as many places were handed out as were asked for."""
    if rules.limit is None or walk.found < rules.limit:
        return
    walk.cut_by_limit = walk.cut_by_limit or bool(walk.pending or walk.open)
    walk.pending, walk.open, walk.phase = [], None, "done"


def coverage_of(walk: Walk, rules: Rules) -> Coverage:
    """Return the leaves with their counts, and whether anything may be missing."""
    leaves = tuple(
        Leaf(box_of(walk.root, cell), leaf.count, is_saturated=leaf.saturated)
        for cell, leaf in sorted(walk.leaves.items())
        if cell != SERVICE
    )
    full = sum(leaf.is_saturated for leaf in leaves)
    service = walk.leaves.get(SERVICE)
    if walk.cut_by_limit:
        return Coverage(leaves, why=f"stopped at the limit of {rules.limit} places")
    if full:
        why = f"{full} of {len(leaves)} cells are saturated at the smallest size"
        return Coverage(leaves, why=why)
    why = f"each of the {len(leaves)} cells gave fewer than {rules.saturated_at} places"
    is_partial = service is not None and service.saturated
    if is_partial:
        why += "; of businesses without premises there may be more"
    return Coverage(leaves, is_complete=True, why=why, lacks_service_areas=is_partial)


def spend(walk: Walk, amount: Decimal) -> None:
    """Count a request and its price."""
    walk.requests += 1
    walk.spent = str(Decimal(walk.spent) + amount)


def ids_not_held(ids: Sequence[str], *held: Collection[str]) -> list[str]:
    """Return the ids that are in none of the collections the caller holds."""
    return [
        place
        for place in dict.fromkeys(ids)
        if not any(place in known for known in held)
    ]
