"""Ask PostgreSQL how it would run a query, without running it."""

from typing import Any

from sqlalchemy import Executable, Select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.types import TypeEngine


class Explain(Executable, ClauseElement):
    """The plan of a query as JSON; its values stay parameters."""

    inherit_cache = False
    type: TypeEngine[Any] = JSON()

    def __init__(self, query: Select[Any]) -> None:
        self.query = query


@compiles(Explain, "postgresql")
def write_explain(element: Explain, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    """Write the statement."""
    return f"EXPLAIN (FORMAT JSON) {compiler.process(element.query, **options)}"
