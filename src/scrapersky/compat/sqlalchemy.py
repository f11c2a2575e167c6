"""What we use of SQLAlchemy that it does not document."""

from typing import Any

from sqlalchemy import ColumnElement, Executable, FromClause, Select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.util import ClauseAdapter
from sqlalchemy.sql.visitors import InternalTraversal
from sqlalchemy.types import TypeEngine


class Explain(Executable, ClauseElement):
    """The plan of a query as JSON; its values stay parameters, and its text is cached."""

    inherit_cache = True
    type: TypeEngine[Any] = JSON()
    _traverse_internals = [("query", InternalTraversal.dp_clauseelement)]  # noqa: RUF012

    # What a result of a cached statement gets its columns from: there are none of ours.
    _all_selected_columns = ()

    def __init__(self, query: Select[Any]) -> None:
        self.query = query


@compiles(Explain, "postgresql")
def write_explain(element: Explain, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    """Write the statement."""
    return f"EXPLAIN (FORMAT JSON) {compiler.process(element.query, **options)}"


def moved_to(source: FromClause, clause: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return a clause about the columns of a table as one about those of a subquery."""
    moved: ColumnElement[bool] = ClauseAdapter(source).traverse(clause)
    return moved
