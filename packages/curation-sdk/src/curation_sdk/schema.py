"""The SDK's own tables, in a schema of their own.

A claim names its item by its key as text, so any table with a single-column key can be a
queue without another column.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Table,
    Text,
    false,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

SCHEMA = "curation"

metadata = MetaData(schema=SCHEMA)
"""The SDK's tables, for the `target_metadata` of Alembic's autogenerate."""

# Bytewise, not a language's sort order: keys are only compared for equality.
Key = Text(collation="C")
Moment = DateTime(timezone=True)

fence = Sequence("fence", metadata=metadata, schema=SCHEMA)

version = Table(
    "version",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied_at", Moment, nullable=False, server_default=func.clock_timestamp()),
    comment="Which versions of these tables were applied, and when.",
)

stage = Table(
    "stage",
    metadata,
    Column("name", Key, primary_key=True),
    Column("queue", JSONB, nullable=False),
    Column("paused_at", Moment),
    Column("paused_until", Moment),
    Column("paused_why", Text),
    Column("seen_at", Moment, nullable=False, server_default=func.clock_timestamp()),
    comment="Which column each stage owns, and whether the stage is paused.",
)

claim = Table(
    "claim",
    metadata,
    Column("stage", Key, nullable=False),
    Column("item", Key, nullable=False),
    Column("fence", BigInteger, comment="Null while the item waits for its next try."),
    Column("lease_until", Moment),
    Column("due_at", Moment),
    Column("claimed_at", Moment),
    Column("tries", SmallInteger, nullable=False),
    Column("deaths", SmallInteger, nullable=False, server_default="0"),
    Column("worker", Text),
    Column(
        "alone",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="Its worker has nothing else in hand.",
    ),
    # The item first: with the stage first, the planner may prefer to read all claims
    # of a stage, and under an old snapshot that means every claim there ever was.
    PrimaryKeyConstraint("item", "stage"),
    comment="Items in hand (with a fence) or waiting for another try (without).",
    # Its storage parameters are in `migrations`: SQLAlchemy 2.0 knows none of a table.
)
Index(
    "claim_waiting",
    claim.c.stage,
    claim.c.deaths,
    claim.c.due_at,
    postgresql_where=claim.c.fence.is_(None),
)

attempt = Table(
    "attempt",
    metadata,
    Column("stage", Key, nullable=False),
    Column("item", Key, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("tries", SmallInteger, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("why", Text),
    Column("worker", Text),
    Column("claimed_at", Moment),
    Column("settled_at", Moment, nullable=False, server_default=func.clock_timestamp()),
    Column("due_at", Moment),
    Column(
        "traceback",
        Text,
        comment="Of an exception nobody foresaw; the end of it, if it was long.",
    ),
    comment="What became of every claim; purged by age.",
)
Index("attempt_item", attempt.c.item, attempt.c.stage)
# Rows arrive in the order of time, so a block range index is small and sufficient.
Index(
    "attempt_age",
    attempt.c.settled_at,
    postgresql_using="brin",
    postgresql_with={"pages_per_range": 32, "autosummarize": "on"},
)
# Crashes are rare among attempts, and are looked up by themselves.
Index(
    "attempt_rescued",
    attempt.c.settled_at,
    attempt.c.worker,
    postgresql_where=attempt.c.outcome == "rescued",
)

dead_letter = Table(
    "dead_letter",
    metadata,
    Column("stage", Key, nullable=False),
    Column("item", Key, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("why", Text),
    Column("tries", Integer, nullable=False),
    Column("deaths", Integer, nullable=False),
    Column("died_at", Moment, nullable=False, server_default=func.clock_timestamp()),
    PrimaryKeyConstraint("stage", "item"),
    comment="Items that need a human: replay or discard them.",
)
Index(
    "dead_letter_latest",
    dead_letter.c.stage,
    dead_letter.c.died_at,
    dead_letter.c.item,
)
