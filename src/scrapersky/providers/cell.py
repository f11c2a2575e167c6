"""Cells of a map, quartered where they hold more than a source will return.

A cell is named by its path from the root: "" is the whole, "03" the north-east
quarter of the south-west quarter. The name is all a search needs to remember.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from scrapersky.providers.area import Area, Box

MAX_WIDTH_DEGREES = 180.0
"""Degrees of longitude that one rectangle of a request may span."""
MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Leaf:
    """A cell that was not split further, and how many places were found in it."""

    box: Box
    count: int
    is_saturated: bool = False
    """It holds as many as the source returns at most, so there may be more."""

    def to_json(self) -> dict[str, Any]:
        """Return the leaf as JSON-able values."""
        box = self.box.to_json()
        return {**box, "count": self.count, "saturated": self.is_saturated}


@dataclass(frozen=True, slots=True)
class Coverage:
    """The proof of how completely an area was searched: every leaf and its count."""

    leaves: tuple[Leaf, ...]
    _: KW_ONLY
    is_complete: bool = False
    why: str
    """Why the search is complete, or what is missing."""
    lacks_service_areas: bool = False
    """The one query for businesses without premises gave all it can: there may be
    more. They have no location, so no smaller area can be asked for them."""

    @property
    def saturated(self) -> tuple[Leaf, ...]:
        """Return the leaves in which there may be more than was found."""
        return tuple(leaf for leaf in self.leaves if leaf.is_saturated)

    def to_json(self) -> dict[str, Any]:
        """Return the proof as JSON-able values."""
        return {
            "complete": self.is_complete,
            "why": self.why,
            "lacks_service_areas": self.lacks_service_areas,
            "leaves": [leaf.to_json() for leaf in self.leaves],
        }


def box_of(root: Box, cell: str) -> Box:
    """Return the box of a cell."""
    box = root
    for digit in cell:
        box = box.quarter(int(digit))
    return box


def quarters(area: Area, root: Box, cell: str) -> list[str]:
    """Return the quarters of a cell in which a part of the area lies."""
    return [
        quarter
        for quarter in (f"{cell}{digit}" for digit in range(4))
        if area.touches(box_of(root, quarter))
    ]


def first_cells(area: Area, root: Box) -> list[str]:
    """Return the cells to start with: the whole, or parts no wider than allowed."""
    if root.width <= MAX_WIDTH_DEGREES:
        return [""]
    return quarters(area, root, "")


def may_split(root: Box, cell: str, floor_m: float) -> bool:
    """Say whether the quarters of a cell would still be as large as the floor."""
    box = box_of(root, cell)
    is_large = max(box.width_m, box.height_m) / 2 >= floor_m
    return is_large and len(cell) < MAX_DEPTH
