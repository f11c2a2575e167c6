"""A status column that a stage works off: the record has it, the stage claims it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import InstrumentedAttribute

from curation_sdk import queue_index

Attribute = InstrumentedAttribute[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkQueue:
    """A status column, what its statuses mean to a stage, and where a failure is kept."""

    column: Attribute
    error: Attribute
    queued: StrEnum
    processing: StrEnum
    done: StrEnum
    failed: StrEnum
    priority: Attribute | None = None

    @property
    def record(self) -> Any:  # noqa: ANN401 - one of the record classes
        """Return the class whose rows are queued."""
        return self.column.class_

    @property
    def busy(self) -> tuple[StrEnum, StrEnum, StrEnum]:
        """Return the statuses of rows that a stage has, or has had."""
        return (self.queued, self.processing, self.done)


def work_queue(
    column: Attribute,
    *,
    error: Attribute,
    queued: StrEnum,
    processing: StrEnum,
    done: StrEnum,
    failed: StrEnum,
    priority: Attribute | None = None,
) -> WorkQueue:
    """Make a status column a queue, with an index of what waits and one of what is in work."""
    queue = WorkQueue(
        column=column,
        error=error,
        queued=queued,
        processing=processing,
        done=done,
        failed=failed,
        priority=priority,
    )
    queue_index(column, queued, tenant=queue.record.tenant_id, priority=priority)
    status = column.property.columns[0]
    # Rows in work that nobody has claimed are looked for every minute, among millions.
    Index(
        f"{status.table.name}_{status.name}_in_work",
        queue.record.id.property.columns[0],
        postgresql_where=status == processing,
    )
    return queue
