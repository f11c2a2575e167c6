"""Every statement the SDK sends. Each decision about an item is one statement.

Names and statuses are written into the text, quoted: PostgreSQL uses a partial index
only when it can see the status. Everything that comes from outside is a parameter.
"""
# ruff: noqa: S608 - built only from the quoted names in Queue

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from curation_sdk import crash_rule
from curation_sdk.queue import Queue, literal

INSERT_CLAIMS = """INSERT INTO curation.claim AS k
      (stage, item, fence, lease_until, claimed_at, tries, worker)
    SELECT $1, taken.item, token.fence, token.moment + make_interval(secs => $3),
      token.moment, 1, $2
    FROM taken CROSS JOIN token"""

NEVER_TEXT = "9999-01-01T00:00:00Z"
NEVER = f"TIMESTAMPTZ '{NEVER_TEXT}'"
"""When a held item is due; a real time, because not every client reads infinity."""

NAMED_STAGE = "(SELECT set_config('curation.stage', $1, true)) IS NOT NULL"
"""Always true; tells triggers of the rows' tables, until the commit, which stage writes."""

NOT_PAUSED = """(SELECT paused_at IS NULL OR paused_until <= clock_timestamp()
      FROM curation.stage WHERE name = $1)"""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of one stage.

    Claims take $1 stage, $2 worker, $3 lease in seconds. They return the columns asked
    for, the item and its fence; all but the first claims of an item add its history.
    Those of queued rows are written for a number of rows: as a parameter it would keep
    PostgreSQL from planning once.
    """

    claim: Callable[[int], str]
    claim_again: Callable[[int], str]
    claim_onward: Callable[[int], str] | None
    claim_shared: Callable[[int], str] | None
    claim_shared_again: Callable[[int], str] | None
    claim_due: str
    claim_due_slow: str
    claim_rescued: str
    claim_suspect: str
    done: str
    done_many: str
    settle: str
    tenants: str | None


def statements_of(queue: Queue, *, columns: str, keyed: bool) -> Statements:
    """Write the statements of a stage.

    `columns` are what a claim returns of the row (as `m.x, m.y`); `keyed` says that
    the claim index ends with the key, so that the cursor can distinguish equal times.
    """

    @cache
    def claim(limit: int) -> str:
        return take_first(queue, columns, claim_rows(queue, limit, keyed=keyed))

    @cache
    def claim_again(limit: int) -> str:
        return take_again(queue, columns, claim_rows(queue, limit, keyed=keyed))

    @cache
    def claim_onward(limit: int) -> str:
        rows = claim_rows(queue, limit, keyed=keyed, onward=True)
        return take_first(queue, columns, rows)

    @cache
    def claim_shared(limit: int) -> str:
        return take_first(queue, columns, shared_rows(queue, limit))

    @cache
    def claim_shared_again(limit: int) -> str:
        return take_again(queue, columns, shared_rows(queue, limit))

    return Statements(
        claim=claim,
        claim_again=claim_again,
        claim_onward=claim_onward if keyed and queue.has_cursor else None,
        claim_shared=claim_shared if queue.tenant else None,
        claim_shared_again=claim_shared_again if queue.tenant else None,
        claim_due=claim_waiting(
            queue,
            columns,
            f"{crash_rule.UNSUSPECTED} AND k.item <> ALL($5::text[])"
            " AND k.tries BETWEEN $6::int AND $7::int",
        ),
        claim_due_slow=claim_waiting(
            queue, columns, f"{crash_rule.UNSUSPECTED} AND k.item = ANY($5::text[])"
        ),
        claim_rescued=claim_waiting(queue, columns, crash_rule.rescued(queue)),
        claim_suspect=claim_waiting(queue, columns, crash_rule.suspect(queue)),
        done=settle_done(queue),
        done_many=settle_many(queue),
        settle=settle_any(queue),
        tenants=list_tenants(queue) if queue.tenant else None,
    )


def claimable_rows(
    queue: Queue,
    *,
    limit: int | str,
    conditions: Sequence[str] = (),
    keyed: bool = True,
    ordered: bool = True,
) -> str:
    """Select the places of queued rows in claim order, without locking them.

    `keyed` breaks ties by the key; `conditions` are further ones, joined by AND;
    `limit` is a number, or the parameter that holds it.
    """
    tie = f", m.{queue.key}" if keyed else ""
    order = f"ORDER BY {queue.order}{tie}" if ordered else ""
    queued = f"m.{queue.status} = {literal(queue.queued)}"
    return f"""SELECT m.ctid AS place
    FROM {queue.table} m
    WHERE {" AND ".join((queued, *conditions))}
    {order}
    LIMIT {limit}"""


def claim_rows(queue: Queue, limit: int, *, keyed: bool, onward: bool = False) -> str:
    """Select the rows to claim next and lock them, stepping over those of others."""
    beyond = (
        f"(m.{queue.order_by}, m.{queue.key})"
        f" > ($4::{queue.order_type}, $5::{queue.key_type})"
    )
    conditions = [*([beyond] if onward else []), NOT_PAUSED]
    rows = claimable_rows(queue, limit=limit, conditions=conditions, keyed=keyed)
    return f"{rows}\n    FOR NO KEY UPDATE SKIP LOCKED"


def shared_rows(queue: Queue, limit: int) -> str:
    """Select and lock an equal share of each tenant's; $4 tenants, $5 rows for each."""
    conditions = [f"m.{queue.tenant} = t.tenant", NOT_PAUSED]
    share = claimable_rows(queue, limit="$5", conditions=conditions, keyed=False)
    return f"""SELECT mine.place
    FROM unnest($4::{queue.tenant_type}[]) AS t(tenant)
    CROSS JOIN LATERAL (
    {share}
    FOR NO KEY UPDATE SKIP LOCKED
    ) mine
    LIMIT {limit}"""


def take_first(queue: Queue, columns: str, picked: str) -> str:
    """HighWaterMark the rows that `picked` locks and claim them, if none of them has a claim.

    A row that was queued again while it was in hand, or while it waited for its next
    try, has one: then a unique violation says that `take_again` is needed. To look for
    claims first, or to insert with ON CONFLICT, would make every claim slower.
    """
    return f"""{taken_rows(queue, columns, picked)}, held AS (
    {INSERT_CLAIMS}
  )
  SELECT {names_of(columns)}, taken.item, token.fence FROM taken CROSS JOIN token
  WHERE {NAMED_STAGE}"""


def take_again(queue: Queue, columns: str, picked: str) -> str:
    """HighWaterMark and claim the rows that `picked` locks, also those that have a claim."""
    return f"""{taken_rows(queue, columns, picked)}, held AS (
    {INSERT_CLAIMS}
    ON CONFLICT (stage, item) DO UPDATE SET fence = excluded.fence,
      lease_until = excluded.lease_until, claimed_at = excluded.claimed_at,
      due_at = NULL, tries = k.tries + 1, worker = excluded.worker, alone = false
    RETURNING k.item, k.fence, k.tries, k.deaths
  )
  SELECT {names_of(columns)}, taken.item, token.fence,
    (SELECT jsonb_object_agg(item, ARRAY[tries, deaths])::text FROM held
      WHERE tries > 1 OR deaths > 0) AS history
  FROM taken CROSS JOIN token WHERE {NAMED_STAGE}"""


def taken_rows(queue: Queue, columns: str, picked: str) -> str:
    """Begin a claim: mark the rows that `picked` locks as being worked on."""
    # MATERIALIZED: a LIMIT in a sub-select that the planner may run again can claim
    # more than asked. By place (ctid), not by key: the rows are locked already, so
    # they stay where they are, and no estimate can turn this into a scan of the table.
    return f"""WITH picked AS MATERIALIZED (
    {picked}
  ), token AS MATERIALIZED (
    SELECT nextval('curation.fence') AS fence, clock_timestamp() AS moment
  ), taken AS (
    UPDATE {queue.table} m
    SET {queue.status} = {literal(queue.processing)}{cleared(queue)}
    WHERE m.ctid = ANY(ARRAY(SELECT place FROM picked))
      AND m.{queue.status} = {literal(queue.queued)}
    RETURNING m.{queue.key}::text AS item, {columns}
  )"""


def names_of(columns: str) -> str:
    """Return the neutral names of a select list."""
    return ", ".join(f"c{n}" for n in range(columns.count(" AS c")))


def claim_waiting(queue: Queue, columns: str, which: str) -> str:
    """Take items whose wait is over, at most $4; delete the claims of cancelled ones."""
    return f"""WITH due AS MATERIALIZED (
    SELECT k.item, k.tries, k.deaths FROM curation.claim k
    WHERE k.stage = $1 AND k.fence IS NULL AND {which}
      AND k.due_at <= clock_timestamp() AND {NOT_PAUSED}
    ORDER BY k.deaths, k.due_at LIMIT $4
    FOR UPDATE SKIP LOCKED
  ), token AS MATERIALIZED (
    SELECT nextval('curation.fence') AS fence, clock_timestamp() AS moment
  ), waiting AS MATERIALIZED (
    SELECT due.tries + 1 AS tries, due.deaths, due.item, {columns}
    FROM due JOIN {queue.table} m ON m.{queue.key} = due.item::{queue.key_type}
    WHERE m.{queue.status} = {literal(queue.processing)}
  ), held AS (
    UPDATE curation.claim k SET fence = token.fence, due_at = NULL,
      lease_until = token.moment + make_interval(secs => $3),
      claimed_at = token.moment, tries = k.tries + 1, worker = $2, alone = false
    FROM waiting CROSS JOIN token WHERE k.stage = $1 AND k.item = waiting.item
  ), gone AS (
    DELETE FROM curation.claim k USING due
    WHERE k.stage = $1 AND k.item = due.item
      AND NOT EXISTS (SELECT FROM waiting WHERE waiting.item = due.item)
  ){cleared_again(queue)}
  SELECT {names_of(columns)}, waiting.item, token.fence,
    (SELECT jsonb_object_agg(item, ARRAY[tries, deaths])::text FROM waiting) AS history
  FROM waiting CROSS JOIN token"""


def settle_done(queue: Queue) -> str:
    """Finish items without an error; $2 items, $3 their fences."""
    return f"""WITH mine AS (
    DELETE FROM curation.claim k USING unnest($2::text[], $3::bigint[]) AS s(item, fence)
    WHERE k.stage = $1 AND k.item = s.item AND k.fence = s.fence
    RETURNING k.item, k.fence, k.tries, k.worker, k.claimed_at
  ), kept AS (
    UPDATE {queue.table} m
    SET {queue.status} = {literal(queue.done)}{cleared(queue)}{touched(queue)}
    FROM mine WHERE m.{queue.key} = mine.item::{queue.key_type}
      AND m.{queue.status} = {literal(queue.processing)}
    RETURNING mine.item, mine.fence, mine.tries, mine.worker, mine.claimed_at
  ), logged AS (
    INSERT INTO curation.attempt
      (stage, item, fence, tries, outcome, worker, claimed_at, settled_at)
    SELECT $1, item, fence, tries, 'done', worker, claimed_at, clock_timestamp()
    FROM kept
  )
  SELECT item, fence FROM kept WHERE {NAMED_STAGE}"""


def settle_many(queue: Queue) -> str:
    """Finish many items without an error; $2 items, $3 the fences among them.

    Cheaper than `settle_done`, because it walks along each table's key once. But it
    accepts any of the fences for any of the items: the caller must know that none of
    the items is held under another one of them.
    """
    return f"""WITH mine AS (
    DELETE FROM curation.claim k
    WHERE k.stage = $1 AND k.item = ANY($2::text[]) AND k.fence = ANY($3::bigint[])
    RETURNING k.item, k.fence, k.tries, k.worker, k.claimed_at
  ), kept AS (
    UPDATE {queue.table} m
    SET {queue.status} = {literal(queue.done)}{cleared(queue)}{touched(queue)}
    WHERE m.{queue.key} = ANY(ARRAY(SELECT item::{queue.key_type} FROM mine))
      AND m.{queue.status} = {literal(queue.processing)}
    RETURNING m.{queue.key} AS key
  ), counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM kept) AS kept, (SELECT count(*) FROM mine) AS mine
  ), logged AS (
    INSERT INTO curation.attempt
      (stage, item, fence, tries, outcome, worker, claimed_at, settled_at)
    SELECT $1, item, fence, tries, 'done', worker, claimed_at, clock_timestamp()
    FROM mine WHERE (SELECT kept = mine FROM counted)
    UNION ALL
    SELECT $1, mine.item, fence, tries, 'done', worker, claimed_at, clock_timestamp()
    FROM mine JOIN kept ON kept.key::text = mine.item
    WHERE (SELECT kept < mine FROM counted)
  )
  SELECT kept FROM counted WHERE {NAMED_STAGE}"""


def settle_any(queue: Queue) -> str:
    """Carry out any settlements.

    $2 to $10 are arrays: items, fences, outcomes, statuses, reasons, errors, seconds to
    wait (null: finished), attempts to give back, and tracebacks.
    """
    error = (
        f", {queue.error} = CASE WHEN mine.refund = 0 THEN left(mine.error, 1024)"
        f" ELSE m.{queue.error} END"
        if queue.error
        else ""
    )
    return f"""WITH mine AS MATERIALIZED (
    SELECT k.item, k.fence, k.tries, k.deaths, k.worker, k.claimed_at,
      s.outcome, s.status, s.why, s.error, s.wait, s.refund, s.traceback
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::float8[], $9::int[], $10::text[])
      AS s(item, fence, outcome, status, why, error, wait, refund, traceback)
    JOIN curation.claim k ON k.stage = $1 AND k.item = s.item AND k.fence = s.fence
    FOR UPDATE OF k
  ), kept AS (
    UPDATE {queue.table} m
    SET {queue.status} = mine.status::{queue.status_type}{error}{touched(queue)}
    FROM mine WHERE m.{queue.key} = mine.item::{queue.key_type}
      AND m.{queue.status} = {literal(queue.processing)}
    RETURNING mine.*
  ), waiting AS (
    UPDATE curation.claim k SET fence = NULL, lease_until = NULL, worker = NULL,
      due_at = clock_timestamp() + make_interval(secs => kept.wait),
      tries = k.tries - kept.refund,
      deaths = CASE WHEN kept.refund = 0 THEN 0 ELSE k.deaths END
    FROM kept WHERE k.stage = $1 AND k.item = kept.item AND kept.wait IS NOT NULL
  ), finished AS (
    DELETE FROM curation.claim k USING mine
    WHERE k.stage = $1 AND k.item = mine.item AND (mine.wait IS NULL
      OR NOT EXISTS (SELECT FROM kept WHERE kept.item = mine.item))
  ), buried AS (
    INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
    SELECT $1, item, fence, outcome, why, tries, deaths FROM kept
    WHERE outcome IN ('gave_up', 'exhausted')
    ON CONFLICT (stage, item) DO UPDATE SET fence = excluded.fence,
      kind = excluded.kind, why = excluded.why, tries = excluded.tries,
      deaths = excluded.deaths, died_at = clock_timestamp()
  ), logged AS (
    INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, worker,
      claimed_at, settled_at, due_at, traceback)
    SELECT $1, item, fence, tries, outcome, why, worker, claimed_at,
      clock_timestamp(), clock_timestamp() + make_interval(secs => wait), traceback
    FROM kept
  )
  SELECT item, fence FROM kept WHERE {NAMED_STAGE}"""


LOCK = """SELECT pg_advisory_xact_lock(hashtextextended(k, 0))
  FROM unnest($1::text[]) AS k"""
"""Wait for who settles under the same locks."""


def list_tenants(queue: Queue) -> str:
    """List the tenants that have rows queued, by hopping through the index."""
    waiting = f"{queue.table} m WHERE m.{queue.status} = {literal(queue.queued)}"
    return f"""WITH RECURSIVE tenant AS (
    (SELECT m.{queue.tenant} AS id FROM {waiting} ORDER BY m.{queue.tenant} LIMIT 1)
    UNION ALL
    SELECT (SELECT m.{queue.tenant} FROM {waiting} AND m.{queue.tenant} > tenant.id
      ORDER BY m.{queue.tenant} LIMIT 1)
    FROM tenant WHERE tenant.id IS NOT NULL
  )
  SELECT id FROM tenant WHERE id IS NOT NULL"""


def reap(queue: Queue) -> str:
    """Take expired claims from dead workers.

    $1 stage, $2 most crashes, $3 items and $4 fences to take (null: every expired one).
    Which items are to blame for the crash is the rule of `crash_rule`.
    """
    error = f", {queue.error} = left(verdict.why, 1024)" if queue.error else ""
    return f"""WITH expired AS MATERIALIZED (
    SELECT k.item, k.fence, k.tries, k.worker, k.claimed_at, k.alone,
      {crash_rule.CRASHES} AS crashes
    FROM curation.claim k
    WHERE k.stage = $1 AND k.fence IS NOT NULL AND k.lease_until < clock_timestamp()
      AND ($3::text[] IS NULL
        OR (k.item, k.fence) IN (SELECT * FROM unnest($3::text[], $4::bigint[])))
    ORDER BY k.item LIMIT 10000
    FOR UPDATE SKIP LOCKED
  ), lately AS MATERIALIZED (
    {crash_rule.CRASHED_LATELY}
  ), judged AS MATERIALIZED (
    SELECT *, {crash_rule.IS_POISON} AS poison FROM expired
  ), verdict AS MATERIALIZED (
    SELECT *, CASE WHEN poison
      THEN 'its worker crashed ' || crashes || ' times while working on it'
      ELSE 'its worker vanished' END AS why
    FROM judged
  ), kept AS (
    UPDATE {queue.table} m SET {queue.status} = CASE WHEN verdict.poison
      THEN {literal(queue.failed)}::{queue.status_type}
      ELSE {literal(queue.processing)}::{queue.status_type} END{error}
    FROM verdict WHERE m.{queue.key} = verdict.item::{queue.key_type}
      AND m.{queue.status} = {literal(queue.processing)}
    RETURNING verdict.*
  ), waiting AS (
    UPDATE curation.claim k SET fence = NULL, lease_until = NULL, worker = NULL,
      due_at = clock_timestamp(), tries = k.tries - 1, deaths = kept.crashes,
      alone = false
    FROM kept WHERE k.stage = $1 AND k.item = kept.item AND NOT kept.poison
  ), finished AS (
    DELETE FROM curation.claim k USING verdict
    WHERE k.stage = $1 AND k.item = verdict.item AND (verdict.poison
      OR NOT EXISTS (SELECT FROM kept WHERE kept.item = verdict.item))
  ), buried AS (
    INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
    SELECT $1, item, fence, 'quarantined', why, tries, crashes FROM kept WHERE poison
    ON CONFLICT (stage, item) DO UPDATE SET fence = excluded.fence,
      kind = excluded.kind, why = excluded.why, tries = excluded.tries,
      deaths = excluded.deaths, died_at = clock_timestamp()
  ), logged AS (
    INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, worker,
      claimed_at, settled_at)
    SELECT $1, verdict.item, verdict.fence, verdict.tries,
      CASE WHEN kept.item IS NULL THEN 'discarded' WHEN kept.poison THEN 'quarantined'
        ELSE 'rescued' END,
      verdict.why, verdict.worker, verdict.claimed_at, clock_timestamp()
    FROM verdict LEFT JOIN kept ON kept.item = verdict.item
  )
  SELECT item, fence, poison, worker, crashes FROM kept"""


def requeue_orphans(queue: Queue) -> str:
    """Queue rows that are processing although no claim says so; $1 stage, $2 why.

    $3 is for how many seconds they must have been so, unchanged; 0 takes all. A row that
    is seen for the first time leaves a line in its history that names its version, so
    that any change to the row in between begins the time anew, whoever made it. Claims
    under another name of the same column count as well, until an hour after they ended:
    a stage may have been renamed.
    """
    return f"""WITH orphan AS MATERIALIZED (
    SELECT m.ctid AS place, m.{queue.key}::text AS item,
      $2 || ' (row version ' || m.xmin::text || ')' AS seen
    FROM {queue.table} m
    WHERE m.{queue.status} = {literal(queue.processing)} AND NOT EXISTS (
      SELECT FROM curation.claim k WHERE k.item = m.{queue.key}::text
        AND (k.stage = $1 OR (
          coalesce(k.lease_until, k.due_at) > clock_timestamp() - interval '1 hour'
          AND k.stage = ANY(ARRAY(SELECT s.name FROM curation.stage s
            WHERE s.queue->>'table' = {literal(queue.table)}
              AND s.queue->>'status' = {literal(queue.status)})))))
    FOR NO KEY UPDATE OF m SKIP LOCKED
  ), dated AS MATERIALIZED (
    SELECT orphan.*, (SELECT min(a.settled_at) FROM curation.attempt a
      WHERE a.item = orphan.item AND a.stage = $1 AND a.outcome = 'unclaimed'
        AND a.why = orphan.seen) AS since
    FROM orphan
  ), freed AS (
    UPDATE {queue.table} m SET {queue.status} = {literal(queue.queued)}
    WHERE m.ctid = ANY(ARRAY(SELECT place FROM dated WHERE $3::float8 = 0
        OR since <= clock_timestamp() - make_interval(secs => $3)))
      AND m.{queue.status} = {literal(queue.processing)}
    RETURNING m.{queue.key}::text AS item
  ), logged AS (
    INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, settled_at)
    SELECT $1, item, nextval('curation.fence'), 0, 'requeued', $2, clock_timestamp()
    FROM freed
    UNION ALL
    SELECT $1, item, nextval('curation.fence'), 0, 'unclaimed', seen, clock_timestamp()
    FROM dated WHERE since IS NULL AND $3 > 0
  )
  SELECT item, true FROM freed
  UNION ALL
  SELECT item, false FROM dated WHERE since IS NULL AND $3 > 0"""


# Of all processes, one looks within $2 seconds. With the stage's queue, because that is
# what older versions write anew when they start: then somebody looks once more.
ORPHANS_DUE = """UPDATE curation.stage
  SET queue = queue || jsonb_build_object('orphans_sought_at', clock_timestamp())
  WHERE name = $1 AND (queue->>'orphans_sought_at')::timestamptz
    BETWEEN clock_timestamp() - make_interval(secs => $2) AND clock_timestamp()
    IS NOT TRUE
  RETURNING name"""


def cast_statuses(queues: Iterable[Queue]) -> str:
    """Ask for each status of some stages as its column's type, and for the tables."""
    asked = []
    for queue in queues:
        statuses = (queue.queued, queue.processing, queue.done, queue.failed)
        casts = ", ".join(f"{literal(s)}::{queue.status_type}" for s in statuses)
        asked.append(f"EXISTS (SELECT {casts} FROM {queue.table} LIMIT 0)")
    return f"SELECT {', '.join(asked)}"


def a_claim(queue: Queue, *, keyed: bool, ordered: bool) -> str:
    """Write how a row is found to be claimed; of some tenant, if the queue has tenants."""
    of_tenant = f"m.{queue.tenant} = (SELECT NULL::{queue.tenant_type})"
    conditions = [of_tenant] if queue.tenant else []
    return claimable_rows(
        queue, limit=1, conditions=conditions, keyed=keyed, ordered=ordered
    )


def explain(claims: Iterable[str]) -> str:
    """Ask how rows of some queues would be claimed."""
    return "EXPLAIN (FORMAT JSON) " + " UNION ALL ".join(f"({c})" for c in claims)


def create_index(queue: Queue) -> str:
    """Write the CREATE INDEX that a queue's claims need."""
    ordered = ", ".join(queue.order_terms)
    columns = [
        *([queue.tenant] if queue.tenant else []),
        *([f"{queue.priority} DESC NULLS LAST"] if queue.priority else []),
        *([ordered] if ordered != queue.key else []),
        queue.key,
    ]
    return (
        f"CREATE INDEX CONCURRENTLY ON {queue.table} ({', '.join(columns)})"
        f" WHERE {queue.status} = {literal(queue.queued)};"
    )


def depth(queue: Queue, *, at_most: int | None = None) -> str:
    """Count the items queued, or stop counting at a limit."""
    limit = "" if at_most is None else f"LIMIT {int(at_most)}"
    return f"""SELECT count(*) FROM (SELECT FROM {queue.table} m
  WHERE m.{queue.status} = {literal(queue.queued)} {limit}) waiting"""


def room(queue: Queue, mark: int) -> str:
    """Return how many items may still be claimed by the stages that fill a queue; $1 those.

    What they have in hand counts as queued here already.
    """
    return f"""SELECT {int(mark)} - (SELECT count(*) FROM curation.claim k
    WHERE k.stage = ANY($1::text[]) AND k.fence IS NOT NULL) - ({depth(queue, at_most=mark)})"""


def lock_stages(names: Sequence[str]) -> str:
    """Let no other worker count and claim within the limits of these stages meanwhile."""
    listed = ", ".join(map(literal, names))
    return f"""SELECT FROM curation.stage WHERE name IN ({listed})
  ORDER BY name FOR NO KEY UPDATE"""


def oldest(queue: Queue) -> str:
    """Return the smallest value of the column that orders the queue."""
    return f"""SELECT min(m.{queue.order_by}) FROM {queue.table} m
  WHERE m.{queue.status} = {literal(queue.queued)}"""


def status_of(queue: Queue) -> str:
    """Return the status of one row; $1 its key as text."""
    return f"""SELECT m.{queue.status}::text FROM {queue.table} m
  WHERE m.{queue.key}::text = $1::text AND m.{queue.key} = $1::text::{queue.key_type}"""


def status_as_set(queue: Queue) -> str:
    """Return status and error of a row as its transaction sees them; $1 its key as text."""
    error = f"m.{queue.error}::text" if queue.error else "NULL"
    return f"""SELECT m.{queue.status}::text, {error} FROM {queue.table} m
  WHERE m.{queue.key} = $1::text::{queue.key_type}"""


def mark_processing(queue: Queue) -> str:
    """HighWaterMark a queued row as being worked on; $1 its key as text."""
    return f"""UPDATE {queue.table} SET {queue.status} = {literal(queue.processing)}
  WHERE {queue.key} = $1::text::{queue.key_type}
    AND {queue.status} = {literal(queue.queued)}"""


def hold_queued(queue: Queue) -> str:
    """Keep queued rows from being claimed; $1 stage, $2 items."""
    return f"""WITH taken AS (
    UPDATE {queue.table} m SET {queue.status} = {literal(queue.processing)}
    WHERE m.{queue.key} = ANY($2::text[]::{queue.key_type}[])
      AND m.{queue.status} = {literal(queue.queued)}
    RETURNING m.{queue.key}::text AS item
  )
  INSERT INTO curation.claim AS k (stage, item, due_at, tries)
  SELECT $1, item, {NEVER}, 0 FROM taken
  ON CONFLICT (stage, item) DO UPDATE SET due_at = excluded.due_at
    WHERE k.fence IS NULL"""


def withdraw(queue: Queue) -> str:
    """Fail items that are not in work; $1 stage, $2 items, $3 why."""
    error = f", {queue.error} = left($3, 1024)" if queue.error else ""
    return f"""WITH waiting AS (
    DELETE FROM curation.claim k
    WHERE k.stage = $1 AND k.item = ANY($2::text[]) AND k.fence IS NULL
    RETURNING k.item
  )
  UPDATE {queue.table} m SET {queue.status} = {literal(queue.failed)}{error}
  WHERE m.{queue.key} = ANY($2::text[]::{queue.key_type}[]) AND $3::text IS NOT NULL
    AND (m.{queue.status} = {literal(queue.queued)} OR (
      m.{queue.status} = {literal(queue.processing)}
      AND m.{queue.key}::text IN (SELECT item FROM waiting)))"""


def cancel(queue: Queue) -> str:
    """Fail items whatever they are doing; $1 stage, $2 items, $3 why.

    Without its claim, a worker that has one in hand can settle it no more.
    """
    error = f", {queue.error} = left($3, 1024)" if queue.error else ""
    return f"""WITH cancelled AS (
    UPDATE {queue.table} m SET {queue.status} = {literal(queue.failed)}{error}
    WHERE m.{queue.key} = ANY($2::text[]::{queue.key_type}[])
      AND m.{queue.status} IN ({literal(queue.queued)}, {literal(queue.processing)})
    RETURNING m.{queue.key}::text AS item
  ), ended AS (
    DELETE FROM curation.claim k USING cancelled
    WHERE k.stage = $1 AND k.item = cancelled.item
    RETURNING k.item, k.fence, k.tries, k.worker, k.claimed_at
  )
  INSERT INTO curation.attempt
    (stage, item, fence, tries, outcome, why, worker, claimed_at, settled_at)
  SELECT $1, cancelled.item, coalesce(ended.fence, nextval('curation.fence')),
    coalesce(ended.tries, 0), 'cancelled', $3::text, ended.worker, ended.claimed_at,
    clock_timestamp()
  FROM cancelled LEFT JOIN ended USING (item)"""


def dead_letters(queue: Queue) -> str:
    """List dead letters whose row is still failed; $1 stage, $2 item or null, $3 limit."""
    # A row that was queued again by plain SQL has left the failed status.
    return f"""SELECT d.stage, d.item, d.kind, d.why, d.tries, d.deaths, d.died_at
  FROM curation.dead_letter d
  JOIN {queue.table} m ON m.{queue.key} = d.item::{queue.key_type}
  WHERE d.stage = $1 AND m.{queue.status} = {literal(queue.failed)}
    AND ($2::text IS NULL OR d.item = $2)
  ORDER BY d.died_at DESC LIMIT $3"""


def replay(queue: Queue) -> str:
    """Queue dead items again; $1 stage, $2 items (null: all)."""
    return remove_dead_letters(
        "replayed",
        f"""UPDATE {queue.table} m
    SET {queue.status} = {literal(queue.queued)}{cleared(queue)}
    FROM removed WHERE m.{queue.key} = removed.item::{queue.key_type}
      AND m.{queue.status} = {literal(queue.failed)} RETURNING removed.item""",
    )


def discard() -> str:
    """Forget dead letters, the rows keep their status; $1 stage, $2 items (null: all)."""
    return remove_dead_letters("discarded", "SELECT item FROM removed")


def remove_dead_letters(outcome: str, change: str) -> str:
    """Remove dead letters, carry out `change`, and record it in their history."""
    return f"""WITH removed AS (
    DELETE FROM curation.dead_letter
    WHERE stage = $1 AND ($2::text[] IS NULL OR item = ANY($2::text[]))
    RETURNING item, fence, tries
  ), changed AS (
    {change}
  )
  INSERT INTO curation.attempt (stage, item, fence, tries, outcome)
  SELECT $1, item, fence, tries, {literal(outcome)} FROM removed
  WHERE item IN (SELECT item FROM changed)"""


def cleared(queue: Queue) -> str:
    """Clear the error, if the stage keeps one."""
    return f", {queue.error} = NULL" if queue.error else ""


def cleared_again(queue: Queue) -> str:
    """Clear the errors of rows in `waiting`, but of none that someone else has locked.

    To wait for a row with claims locked already could be a deadlock.
    """
    if not queue.error:
        return ""
    return f""", old_errors AS MATERIALIZED (
    SELECT m.ctid AS place FROM {queue.table} m
    WHERE m.{queue.key} = ANY(ARRAY(SELECT item::{queue.key_type} FROM waiting))
      AND m.{queue.error} IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED
  ), cleared AS (
    UPDATE {queue.table} m SET {queue.error} = NULL
    WHERE m.ctid = ANY(ARRAY(SELECT place FROM old_errors))
  )"""


def touched(queue: Queue) -> str:
    """Renew `updated_at`, if the model wants that."""
    return f", {queue.touched} = clock_timestamp()" if queue.touched else ""


# A clock set back would make a dead worker's lease outlive it: no lease may end
# later than the longest one that could be given out now. A claim that is locked is being
# settled or renewed: waiting for it, with others locked already, would be a deadlock,
# and a server whose clock was set back notices those only when the old time is reached.
CLAMP_LEASES = """UPDATE curation.claim k
  SET lease_until = clock_timestamp() + make_interval(secs => $2)
  FROM (SELECT stage, item FROM curation.claim
    WHERE stage = $1 AND fence IS NOT NULL
      AND lease_until > clock_timestamp() + make_interval(secs => 2 * $2)
    FOR NO KEY UPDATE SKIP LOCKED) AS late
  WHERE k.stage = late.stage AND k.item = late.item"""

EXPIRED = """SELECT item, fence, lease_until FROM curation.claim
  WHERE stage = $1 AND fence IS NOT NULL AND lease_until < clock_timestamp()"""

# Workers that hold something, over all stages.
HOLDERS = """SELECT DISTINCT worker FROM curation.claim
  WHERE fence IS NOT NULL AND worker IS NOT NULL"""

# A claim that is locked is being settled, or rescued by someone else.
END_LEASES = """UPDATE curation.claim k
  SET lease_until = clock_timestamp() - interval '1 millisecond'
  FROM (SELECT item, stage, fence FROM curation.claim
    WHERE stage = $1 AND fence IS NOT NULL AND worker = ANY($2::text[])
    FOR NO KEY UPDATE SKIP LOCKED) AS held
  WHERE k.stage = held.stage AND k.item = held.item
  RETURNING k.item, k.fence"""

# A claim that is locked is being settled: the reaper steps over it too, so it needs no
# heartbeat, and waiting for it would delay all other heartbeats. Returns the lost ones.
HEARTBEAT = """WITH s AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::float8[])
      AS s(stage, item, fence, lease)
  ), mine AS MATERIALIZED (
    SELECT k.stage, k.item, s.lease FROM s JOIN curation.claim k
      ON k.stage = s.stage AND k.item = s.item AND k.fence = s.fence
    FOR NO KEY UPDATE OF k SKIP LOCKED
  ), beaten AS (
    UPDATE curation.claim k
    SET lease_until = clock_timestamp() + make_interval(secs => mine.lease)
    FROM mine WHERE k.stage = mine.stage AND k.item = mine.item
  )
  SELECT s.stage, s.item, s.fence FROM s WHERE NOT EXISTS (
    SELECT FROM curation.claim k
    WHERE k.stage = s.stage AND k.item = s.item AND k.fence = s.fence)"""

# Which stages have items whose wait is over, and whether those never crashed a worker, or
# did; $1 stages. The time as a sub-select is one that an index can be asked for.
DUE = """SELECT * FROM (SELECT s.name,
    EXISTS (SELECT FROM curation.claim k WHERE k.stage = s.name AND k.fence IS NULL
      AND k.deaths = 0 AND k.due_at <= (SELECT clock_timestamp())) AS harmless,
    EXISTS (SELECT FROM curation.claim k WHERE k.stage = s.name AND k.fence IS NULL
      AND k.deaths > 0 AND k.due_at <= (SELECT clock_timestamp())) AS crashed
    FROM unnest($1::text[]) AS s(name)) AS due
  WHERE harmless OR crashed"""

SETTLED = """SELECT a.item, a.fence, a.outcome FROM curation.attempt a
  JOIN unnest($2::text[], $3::bigint[]) AS s(item, fence)
    ON a.item = s.item AND a.fence = s.fence
  WHERE a.stage = $1
    -- Not what others wrote about this claim: that it was rescued, or refused.
    AND a.outcome NOT IN ('rescued', 'quarantined', 'refused', 'discarded')"""

MINE = """SELECT item, fence, tries, deaths AS crashes FROM curation.claim
  WHERE stage = $1 AND worker = $2"""

REGISTER = """INSERT INTO curation.stage (name, queue)
  SELECT name, queue::jsonb FROM unnest($1::text[], $2::text[]) AS s(name, queue)
  ON CONFLICT (name) DO UPDATE SET queue = stage.queue || excluded.queue,
    seen_at = clock_timestamp()"""

# Of other tables than these, which exist, while claims on their rows do.
OTHER_TABLES = """SELECT name, known.queue->>'table' AS known
  FROM unnest($1::text[], $2::text[]) AS s(name, asked) JOIN curation.stage known USING (name)
  WHERE to_regclass(known.queue->>'table') <> to_regclass(asked)
    AND EXISTS (SELECT FROM curation.claim WHERE stage = name)"""

NOW = "SELECT clock_timestamp()"

PLAN_BY_INDEX_ONLY = "SELECT " + ", ".join(
    f"set_config('enable_{method}', 'off', true)"
    for method in ("seqscan", "bitmapscan", "sort", "incremental_sort")
)

PARTIAL_INDEXES = """SELECT count(*) FROM pg_index
  JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relname = ANY($1::text[]) AND indpred IS NOT NULL AND indisvalid"""

# Partial indexes of the same rows as those named, in the order of the key.
PARTIAL_BY_KEY = """SELECT count(*) FROM pg_index i JOIN pg_index used
    ON used.indrelid = i.indrelid AND used.indpred IS NOT NULL
    AND pg_get_expr(used.indpred, used.indrelid) = pg_get_expr(i.indpred, i.indrelid)
  JOIN pg_class ON pg_class.oid = used.indexrelid
  WHERE relname = ANY($1::text[]) AND i.indisvalid
    AND pg_get_indexdef(i.indexrelid, 1, true) = $2"""

STATES = """SELECT name, paused_at IS NOT NULL
    AND (paused_until IS NULL OR paused_until > clock_timestamp()) AS paused, paused_why
  FROM curation.stage WHERE name = ANY($1::text[])"""

# Every claim is in hand, or has become an attempt; one that was lost while its worker went
# on left a refusal. As a sub-select the time is one that an index can be asked for.
CLAIMED_LATELY = """WITH minute AS MATERIALIZED (
    SELECT clock_timestamp() - interval '1 minute' AS past)
  SELECT (SELECT count(*) FROM curation.claim
    WHERE stage = $1 AND fence IS NOT NULL AND claimed_at > (SELECT past FROM minute))
  + (SELECT count(*) FROM curation.attempt
    WHERE stage = $1 AND settled_at > (SELECT past FROM minute)
      AND (claimed_at > (SELECT past FROM minute) OR outcome = 'refused'))"""

PAUSE = """UPDATE curation.stage SET paused_at = clock_timestamp(), paused_why = $2,
    paused_until = clock_timestamp() + make_interval(secs => $3::float8)
  WHERE name = $1 RETURNING name"""

RESUME = """UPDATE curation.stage SET paused_at = NULL, paused_until = NULL, paused_why = NULL
  WHERE name = $1 RETURNING name"""

REFUSED = """INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, worker)
  SELECT $1, s.item, s.fence, s.tries, 'refused',
    'its claim was lost, or its row changed, before it settled', $5
  FROM unnest($2::text[], $3::bigint[], $4::int[]) AS s(item, fence, tries)"""

PROBE = "SELECT 1"

COUNT_CLAIMS = """SELECT stage, count(*) FILTER (WHERE fence IS NOT NULL) AS working,
    count(*) FILTER (WHERE fence IS NULL) AS waiting
  FROM curation.claim GROUP BY stage"""

# A time that was missed stays due; another schedule may be due earlier.
REGISTER_PERIODIC = """INSERT INTO curation.claim AS k (stage, item, due_at, tries)
  VALUES ($1, $2, $3, 0)
  ON CONFLICT (stage, item) DO UPDATE SET due_at = least(k.due_at, excluded.due_at)"""

TAKE_PERIODIC = """UPDATE curation.claim SET fence = nextval('curation.fence'),
    lease_until = clock_timestamp() + make_interval(secs => $4),
    claimed_at = clock_timestamp(), worker = $3, tries = tries + 1
  WHERE stage = $1 AND item = $2 AND due_at <= clock_timestamp()
    AND (fence IS NULL OR lease_until < clock_timestamp())
  RETURNING fence, due_at, clock_timestamp()"""

FINISH_PERIODIC = """WITH mine AS (
    UPDATE curation.claim SET fence = NULL, lease_until = NULL, worker = NULL,
      due_at = $4, tries = 0
    WHERE stage = $1 AND item = $2 AND fence = $3
    RETURNING stage, item, claimed_at
  )
  INSERT INTO curation.attempt
    (stage, item, fence, tries, outcome, why, traceback, claimed_at, settled_at)
  SELECT stage, item, $3, 1, $5, $6, $7, claimed_at, clock_timestamp() FROM mine"""

NOTIFY = "SELECT pg_notify('curation', name) FROM unnest($1::text[]) AS s(name)"

HOLD_WAITING = f"""UPDATE curation.claim SET due_at = {NEVER}
  WHERE stage = $1 AND item = ANY($2::text[]) AND fence IS NULL AND due_at < {NEVER}"""

RELEASE = f"""UPDATE curation.claim SET due_at = clock_timestamp()
  WHERE stage = $1 AND item = ANY($2::text[]) AND fence IS NULL AND due_at = {NEVER}"""

# The row's status is set already; $4 is the outcome it stands for, $5 the reason, $6 the
# traceback.
CLOSE_CLAIM = """WITH mine AS (
    DELETE FROM curation.claim WHERE stage = $1 AND item = $2 AND fence = $3
    RETURNING stage, item, fence, tries, deaths, worker, claimed_at
  ), dead AS (
    INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
    SELECT stage, item, fence, $4, $5, tries, deaths FROM mine WHERE $4 = 'gave_up'
    ON CONFLICT (stage, item) DO UPDATE SET fence = excluded.fence,
      kind = excluded.kind, why = excluded.why, tries = excluded.tries,
      deaths = excluded.deaths, died_at = clock_timestamp()
  )
  INSERT INTO curation.attempt
    (stage, item, fence, tries, outcome, why, worker, claimed_at, settled_at, traceback)
  SELECT stage, item, fence, tries, $4, $5, worker, claimed_at, clock_timestamp(), $6
  FROM mine"""

FORGET = "DELETE FROM curation.claim WHERE stage = $1 AND item = $2"

WAITING_LONGER = """SELECT count(*) FROM curation.claim
  WHERE fence IS NULL AND due_at > clock_timestamp() + make_interval(secs => $1)"""

LOCK_CLAIM = """SELECT now() FROM curation.claim
  WHERE stage = $1 AND item = $2 AND fence = $3 FOR UPDATE"""

# Who waits for this process, and who is idle while it waits for them.
WAITS = """SELECT pid, xact_start, left(query, 200) AS query FROM pg_stat_activity
  WHERE CASE WHEN wait_event_type = 'Lock' THEN $1 = ANY(pg_blocking_pids(pid)) END
    OR state LIKE 'idle in transaction%' AND pid = ANY(pg_blocking_pids($1))"""

OPEN_TRANSACTIONS = """SELECT pid, xact_start FROM pg_stat_activity
  WHERE pid = ANY($1::integer[]) AND xact_start IS NOT NULL"""

TRANSACTION_BEGAN = "SELECT now()"

STAGES = """SELECT name, queue::text, paused_at, paused_until, paused_why,
    paused_at IS NOT NULL AND (paused_until IS NULL OR paused_until > clock_timestamp())
      AS paused
  FROM curation.stage ORDER BY name"""

SETTLED_SINCE = """SELECT count(*) FROM curation.attempt
  WHERE stage = $1 AND settled_at > statement_timestamp() - make_interval(secs => $2)
    AND outcome IN ('done', 'skipped', 'gave_up', 'exhausted', 'quarantined')"""

# For any age PostgreSQL expects a third of the table to be older, and may read all of it.
PLAN_ANEW = "SET LOCAL plan_cache_mode = force_custom_plan"

# The history of open dead letters and of items in hand is kept however old.
# Not clock_timestamp(): what may change from row to row cannot be looked up in an index.
PURGE = """DELETE FROM curation.attempt WHERE ctid = ANY(ARRAY(
    SELECT a.ctid FROM curation.attempt a
    WHERE a.settled_at < statement_timestamp() - make_interval(secs => $1)
      AND NOT EXISTS (SELECT FROM curation.dead_letter d
        WHERE d.stage = a.stage AND d.item = a.item)
      AND NOT EXISTS (SELECT FROM curation.claim k
        WHERE k.stage = a.stage AND k.item = a.item)
    LIMIT $2))"""

CLAIM_OF = """SELECT worker, lease_until, due_at, tries, deaths AS crashes FROM curation.claim
  WHERE stage = $1 AND item = $2"""

DEAD_LETTER_KIND = (
    "SELECT kind FROM curation.dead_letter WHERE stage = $1 AND item = $2"
)

ATTEMPTS = """SELECT fence, tries, outcome, why, worker, claimed_at, settled_at, due_at,
    traceback
  FROM curation.attempt WHERE stage = $1 AND item = $2 ORDER BY settled_at, fence"""


def settle_one(queue: Queue) -> str:
    """Finish one item if its row is still processing; $2 the item, $3 its fence.

    $4 is when the transaction began: another one than the function got is not committed.
    Otherwise nothing changes, and the claim is left for `CLOSE_CLAIM`.
    """
    return f"""WITH kept AS (
    UPDATE {queue.table} m
    SET {queue.status} = {literal(queue.done)}{cleared(queue)}{touched(queue)}
    FROM curation.claim k
    WHERE k.stage = $1 AND k.item = $2 AND k.fence = $3
      AND m.{queue.key} = $2::text::{queue.key_type}
      AND m.{queue.status} = {literal(queue.processing)} AND now() = $4
    RETURNING k.stage, k.item, k.fence, k.tries, k.worker, k.claimed_at
  ), finished AS (
    DELETE FROM curation.claim k USING kept
    WHERE k.stage = kept.stage AND k.item = kept.item
  ), logged AS (
    INSERT INTO curation.attempt
      (stage, item, fence, tries, outcome, worker, claimed_at, settled_at)
    SELECT stage, item, fence, tries, 'done', worker, claimed_at, clock_timestamp()
    FROM kept
  )
  SELECT item, fence FROM kept WHERE {NAMED_STAGE}"""


# What a worker needs on the SDK's own tables and the role does not have.
MISSING_PRIVILEGES = """WITH wanted(kind, name, privilege) AS (
    SELECT 'TABLE', name, unnest(string_to_array(privileges, ','))
    FROM (VALUES ('claim', 'SELECT,INSERT,UPDATE,DELETE'), ('attempt', 'SELECT,INSERT'),
      ('dead_letter', 'SELECT,INSERT,UPDATE'), ('stage', 'SELECT,INSERT,UPDATE'),
      ('version', 'SELECT')) AS t(name, privileges)
    UNION ALL VALUES ('SEQUENCE', 'fence', 'USAGE')
  )
  SELECT quote_ident(current_user) AS role, 'SCHEMA curation' AS what, 'USAGE' AS privilege
  FROM pg_namespace n
  WHERE nspname = 'curation' AND NOT has_schema_privilege(n.oid, 'USAGE')
  UNION ALL
  SELECT quote_ident(current_user), kind || ' curation.' || name, privilege
  FROM wanted JOIN pg_namespace n ON nspname = 'curation'
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = name
  WHERE NOT CASE kind WHEN 'TABLE' THEN has_table_privilege(c.oid, privilege)
    ELSE has_sequence_privilege(c.oid, privilege) END
  ORDER BY what, privilege"""

IS_READ_ONLY = "SELECT current_setting('transaction_read_only')::boolean"

# $1 tables, $2 for each the columns that settling changes.
TABLE_PRIVILEGES = """SELECT quote_ident(current_user) AS role,
    has_table_privilege(t.name::regclass, 'SELECT') AS can_select,
    c.can_update, c.unknown
  FROM unnest($1::text[]) WITH ORDINALITY AS t(name, place)
  CROSS JOIN LATERAL (
    SELECT bool_and(has_column_privilege(a.attrelid, a.attnum, 'UPDATE')) AS can_update,
      min(wanted) FILTER (WHERE a.attnum IS NULL) AS unknown
    FROM jsonb_array_elements_text($2::text::jsonb -> (t.place - 1)::int) AS wanted
    LEFT JOIN pg_attribute a ON a.attrelid = t.name::regclass AND a.attname = wanted
      AND NOT a.attisdropped) AS c
  ORDER BY t.place"""

# Whether all rows are in one table, and whether its key is unique; $1 tables, $2 keys.
ROWS_OF_TABLE = """SELECT c.relkind = 'r' AND NOT EXISTS (
      SELECT FROM pg_inherits WHERE inhparent = c.oid) AS is_one_table,
    EXISTS (SELECT FROM pg_index i
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid
        AND i.indpred IS NULL AND i.indnkeyatts = 1 AND a.attname = t.key) AS is_unique
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t(name, key, place)
  JOIN pg_class c ON c.oid = t.name::regclass ORDER BY t.place"""

# Held items wait for somebody to release them, not for a time; $2 items (null: all).
MAKE_DUE = f"""UPDATE curation.claim SET due_at = clock_timestamp()
  WHERE stage = $1 AND ($2::text[] IS NULL OR item = ANY($2::text[]))
    AND fence IS NULL AND due_at > clock_timestamp() AND due_at < {NEVER}"""

ADVANCE = f"""UPDATE curation.claim SET due_at = due_at - make_interval(secs => $2)
  WHERE stage = $1 AND fence IS NULL AND due_at < {NEVER}"""
