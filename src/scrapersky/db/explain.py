"""Ask PostgreSQL how it would run a query, without running it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.compat.sqlalchemy import Explain

INDEX_WALK_NODES = frozenset({"Limit", "Index Scan", "Index Only Scan", "Result"})


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a query with a limit would be run."""

    nodes: tuple[dict[str, Any], ...]

    @property
    def cost(self) -> float:
        """Return what it costs, where reading one page in order costs 1."""
        return float(self.nodes[0]["Total Cost"])

    @property
    def rows(self) -> int:
        """Return how many rows are expected without the limit."""
        below = self.nodes[0]["Plans"]
        (limited,) = [node for node in below if node["Parent Relationship"] == "Outer"]
        return int(limited["Plan Rows"])

    @property
    def sorts(self) -> bool:
        """Say whether rows are found first and sorted then."""
        return any(node["Node Type"] == "Sort" for node in self.nodes)

    @property
    def reads_matches_only(self) -> bool:
        """Say whether an index leads from match to match."""
        return all(
            node["Node Type"] in INDEX_WALK_NODES and "Filter" not in node
            for node in self.nodes
        )

    @property
    def is_by_status(self) -> bool:
        """Say whether the index of the times within a status is used."""
        return any(
            node.get("Index Name", "").endswith("_by_status") for node in self.nodes
        )


async def query_plan(connection: AsyncConnection, query: Select[Any]) -> QueryPlan:
    """Return how a query with a limit would be run."""
    (answer,) = await connection.scalar(Explain(query))
    return QueryPlan(tuple(nodes_of(answer["Plan"])))


def nodes_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a node of a plan and all below it."""
    yield node
    for below in node.get("Plans", ()):
        yield from nodes_of(below)
