"""Every statement the engine sends. Each decision about an item is one statement.

Names and statuses are written into the text, quoted: PostgreSQL uses a partial index
only when it can see the status. Everything that comes from outside is a parameter.
"""
# ruff: noqa: S608 - built only from the quoted names in Queue

from dataclasses import dataclass

from scrapersky.engine.queue import Queue, literal

RESCUED_TOGETHER = 10
"""How many items of dead workers one worker tries again at once."""

LATELY = "5 minutes"
"""For how long the death of a worker makes other deaths less telling."""

BENEFIT_OF_DOUBT = 2
"""How many more deaths alone condemn an item while workers also die without it."""

INSERT_CLAIMS = """INSERT INTO curation.claim AS k
      (stage, item, fence, lease_until, claimed_at, tries, worker)
    SELECT $1, taken.item, token.fence, token.moment + make_interval(secs => $3),
      token.moment, 1, $2
    FROM taken CROSS JOIN token"""

NOT_PAUSED = """(SELECT paused_at IS NULL OR paused_until <= clock_timestamp()
      FROM curation.stage WHERE name = $1)"""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of one stage.

    Claims take $1 stage, $2 worker, $3 lease in seconds. They return the columns asked
    for, the item and its fence; all but the first claims of an item add its history.
    """

    claim: str
    claim_again: str
    claim_onward: str | None
    claim_shared: str | None
    claim_shared_again: str | None
    claim_due: str
    claim_rescued: str
    claim_suspect: str
    done: str
    done_each: str
    done_many: str
    settle: str
    tenants: str | None


def statements_of(queue: Queue, *, columns: str, batch: int, keyed: bool) -> Statements:
    """Write the statements of a stage.

    `columns` are what a claim returns of the row (as `m.x, m.y`); `keyed` says that
    the claim index ends with the key, so that the cursor can tell equal times apart.
    """
    rows = claim_rows(queue, batch, keyed=keyed)
    shared = shared_rows(queue, batch) if queue.tenant else None
    onward = None
    if keyed and not queue.priority and not queue.tenant:
        onward = claim_rows(queue, batch, keyed=keyed, onward=True)
    return Statements(
        claim=take_first(queue, columns, rows),
        claim_again=take_again(queue, columns, rows),
        claim_onward=take_first(queue, columns, onward) if onward else None,
        claim_shared=take_first(queue, columns, shared) if shared else None,
        claim_shared_again=take_again(queue, columns, shared) if shared else None,
        claim_due=claim_waiting(queue, columns, batch, "k.deaths = 0"),
        # After a first death the guilty one is among many: a few at a time. Whoever
        # would be quarantined by its next death is worked alone, so that nobody else
        # is blamed for it.
        claim_rescued=claim_waiting(
            queue,
            columns,
            RESCUED_TOGETHER,
            f"k.deaths > 0 AND k.deaths < {queue.max_deaths - 1}",
        ),
        claim_suspect=claim_waiting(
            queue, columns, 1, f"k.deaths > 0 AND k.deaths >= {queue.max_deaths - 1}"
        ),
        done=settle_done(queue, "SELECT count(*) FROM kept"),
        done_each=settle_done(queue, "SELECT item, fence FROM kept"),
        done_many=settle_many(queue),
        settle=settle_any(queue),
        tenants=list_tenants(queue) if queue.tenant else None,
    )


def next_rows(queue: Queue, batch: int, *, keyed: bool, onward: bool = False) -> str:
    """Select the rows to claim next, without locking them."""
    tie = f", m.{queue.key}" if keyed else ""
    beyond = (
        f"AND (m.{queue.order_by}, m.{queue.key})"
        f" > ($4::{queue.order_type}, $5::{queue.key_type})"
        if onward
        else ""
    )
    return f"""SELECT m.ctid AS place
    FROM {queue.table} m
    WHERE m.{queue.status} = {literal(queue.queued)} {beyond}
    ORDER BY {queue.order}{tie}
    LIMIT {batch}"""


def claim_rows(queue: Queue, batch: int, *, keyed: bool, onward: bool = False) -> str:
    """Select the rows to claim next and lock them, stepping over those of others."""
    rows = next_rows(queue, batch, keyed=keyed, onward=onward)
    rows = rows.replace("\n    ORDER BY", f"\n      AND {NOT_PAUSED}\n    ORDER BY")
    return f"{rows}\n    FOR NO KEY UPDATE SKIP LOCKED"


def shared_rows(queue: Queue, batch: int) -> str:
    """Select and lock an equal share of each tenant's; $4 tenants, $5 rows for each."""
    return f"""SELECT mine.place
    FROM unnest($4::{queue.tenant_type}[]) AS t(tenant)
    CROSS JOIN LATERAL (
      SELECT m.ctid AS place
      FROM {queue.table} m
      WHERE m.{queue.status} = {literal(queue.queued)} AND m.{queue.tenant} = t.tenant
        AND {NOT_PAUSED}
      ORDER BY {queue.order}
      LIMIT $5
      FOR NO KEY UPDATE SKIP LOCKED
    ) mine
    LIMIT {batch}"""


def take_first(queue: Queue, columns: str, picked: str) -> str:
    """Mark the rows that `picked` locks and claim them, if none of them has a claim.

    A row that was queued again while it was in hand, or while it waited for its next
    try, has one: then a unique violation says that `take_again` is needed. To look for
    claims first, or to insert with a conflict in mind, would cost every item.
    """
    return f"""{taken_rows(queue, columns, picked)}, held AS (
    {INSERT_CLAIMS}
  )
  SELECT {names_of(columns)}, taken.item, token.fence FROM taken CROSS JOIN token"""


def take_again(queue: Queue, columns: str, picked: str) -> str:
    """Mark and claim the rows that `picked` locks, also those that have a claim."""
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
  FROM taken CROSS JOIN token"""


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
    UPDATE {queue.table} m SET {queue.status} = {literal(queue.processing)}
    WHERE m.ctid = ANY(ARRAY(SELECT place FROM picked))
      AND m.{queue.status} = {literal(queue.queued)}
    RETURNING m.{queue.key}::text AS item, {columns}
  )"""


def names_of(columns: str) -> str:
    """Return the neutral names of a select list."""
    return ", ".join(f"c{n}" for n in range(columns.count(" AS c")))


def claim_waiting(queue: Queue, columns: str, batch: int, which: str) -> str:
    """Take items whose wait is over; forget those that someone cancelled meanwhile."""
    return f"""WITH due AS MATERIALIZED (
    SELECT k.item, k.tries, k.deaths FROM curation.claim k
    WHERE k.stage = $1 AND k.fence IS NULL AND {which}
      AND k.due_at <= clock_timestamp() AND {NOT_PAUSED}
    ORDER BY k.deaths, k.due_at LIMIT {batch}
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
  )
  SELECT {names_of(columns)}, waiting.item, token.fence,
    (SELECT jsonb_object_agg(item, ARRAY[tries, deaths])::text FROM waiting) AS history
  FROM waiting CROSS JOIN token"""


def settle_done(queue: Queue, answer: str) -> str:
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
  {answer}"""


def settle_many(queue: Queue) -> str:
    """Finish many items without an error; $2 items, $3 the fences among them.

    Cheaper than `settle_done`, because it walks along each table's key once. But any
    of the fences is good for any of the items: whoever calls must know that none of
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
  SELECT kept FROM counted"""


def settle_any(queue: Queue) -> str:
    """Carry out any verdicts: arrays of items, fences, outcomes, statuses, reasons,
    seconds to wait (null: finished), and tries to give back.
    """  # noqa: D205 - one sentence, two lines
    error = (
        f", {queue.error} = CASE WHEN mine.spare = 0 THEN left(mine.error, 1024)"
        f" ELSE m.{queue.error} END"
        if queue.error
        else ""
    )
    return f"""WITH mine AS MATERIALIZED (
    SELECT k.item, k.fence, k.tries, k.deaths, k.worker, k.claimed_at,
      s.outcome, s.status, s.why, s.error, s.wait, s.spare
    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::float8[], $9::int[]) AS s(item, fence, outcome, status, why, error, wait, spare)
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
      tries = k.tries - kept.spare,
      deaths = CASE WHEN kept.spare = 0 THEN 0 ELSE k.deaths END
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
      claimed_at, settled_at, due_at)
    SELECT $1, mine.item, mine.fence, mine.tries,
      CASE WHEN kept.item IS NULL THEN 'discarded' ELSE mine.outcome END, mine.why,
      mine.worker, mine.claimed_at, clock_timestamp(),
      clock_timestamp() + make_interval(secs => kept.wait)
    FROM mine LEFT JOIN kept ON kept.item = mine.item
  )
  SELECT item, fence FROM kept"""


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

    $1 stage, $2 most deaths, $3 items and $4 fences to take (null: every expired one).
    Deaths in company make an item a suspect and no more; from there on `deaths` counts
    those it died alone. They condemn it at once if no other worker died lately with
    something else in hand. If one did, workers are dying of something that is not this
    item, and it takes more deaths to blame it.
    """
    error = f", {queue.error} = left(verdict.why, 1024)" if queue.error else ""
    return f"""WITH expired AS MATERIALIZED (
    SELECT k.item, k.fence, k.tries, k.worker, k.claimed_at, k.alone,
      CASE WHEN k.alone THEN k.deaths + 1
        ELSE greatest(k.deaths, least(k.deaths + 1, greatest($2::int - 1, 1)))
        END AS deaths
    FROM curation.claim k
    WHERE k.stage = $1 AND k.fence IS NOT NULL AND k.lease_until < clock_timestamp()
      AND ($3::text[] IS NULL
        OR (k.item, k.fence) IN (SELECT * FROM unnest($3::text[], $4::bigint[])))
    ORDER BY k.item LIMIT 10000
    FOR UPDATE SKIP LOCKED
  ), lately AS MATERIALIZED (
    SELECT DISTINCT worker FROM curation.attempt
    WHERE outcome = 'rescued'
      AND settled_at > statement_timestamp() - interval '{LATELY}'
  ), judged AS MATERIALIZED (
    SELECT *, alone AND deaths >= $2::int AND (
      deaths >= $2::int + {BENEFIT_OF_DOUBT} OR NOT EXISTS ({OTHER_DEATHS})) AS poison
    FROM expired
  ), verdict AS MATERIALIZED (
    SELECT *, CASE WHEN poison
      THEN 'its worker died ' || deaths || ' times while working on it'
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
      due_at = clock_timestamp(), tries = k.tries - 1, deaths = kept.deaths,
      alone = false
    FROM kept WHERE k.stage = $1 AND k.item = kept.item AND NOT kept.poison
  ), finished AS (
    DELETE FROM curation.claim k USING verdict
    WHERE k.stage = $1 AND k.item = verdict.item AND (verdict.poison
      OR NOT EXISTS (SELECT FROM kept WHERE kept.item = verdict.item))
  ), buried AS (
    INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
    SELECT $1, item, fence, 'quarantined', why, tries, deaths FROM kept WHERE poison
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
  SELECT item, fence, poison, worker, deaths FROM kept"""


def requeue_orphans(queue: Queue) -> str:
    """Queue rows that are processing although no claim says so; $1 stage."""
    return f"""UPDATE {queue.table} m SET {queue.status} = {literal(queue.queued)}
  WHERE m.{queue.status} = {literal(queue.processing)} AND NOT EXISTS (
    SELECT FROM curation.claim k WHERE k.stage = $1 AND k.item = m.{queue.key}::text)
  RETURNING m.{queue.key}::text AS item"""


def cleared(queue: Queue) -> str:
    """Clear the error, if the stage keeps one."""
    return f", {queue.error} = NULL" if queue.error else ""


def touched(queue: Queue) -> str:
    """Renew `updated_at`, if the model wants that."""
    return f", {queue.touched} = clock_timestamp()" if queue.touched else ""


# A clock set back would make a dead worker's lease outlive it: no lease may end
# later than the longest one that could be given out now.
CLAMP_LEASES = """UPDATE curation.claim
  SET lease_until = clock_timestamp() + make_interval(secs => $2)
  WHERE stage = $1 AND fence IS NOT NULL
    AND lease_until > clock_timestamp() + make_interval(secs => 2 * $2)"""

# A worker that did not have this item in hand at any of its deaths. Those that died lately
# are looked up once, and only where an item is to be judged: by the statement's time, which
# an index can be asked for; to the second is exact enough.
OTHER_DEATHS = """SELECT FROM lately
      WHERE lately.worker <> expired.worker
        AND NOT EXISTS (SELECT FROM curation.attempt b
          WHERE b.item = expired.item AND b.stage = $1 AND b.outcome = 'rescued'
            AND b.worker = lately.worker)"""

EXPIRED = """SELECT item, fence, lease_until FROM curation.claim
  WHERE stage = $1 AND fence IS NOT NULL AND lease_until < clock_timestamp()"""

# A claim that is locked is being settled: the reaper steps over it too, so it needs no
# heartbeat, and waiting for it would stop the hearts of all others. Returns the lost.
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

# Which stages have items whose wait is over; $1 stages. The time as a sub-select is one
# that an index can be asked for.
DUE = """SELECT s.name FROM unnest($1::text[]) AS s(name)
  WHERE EXISTS (SELECT FROM curation.claim k WHERE k.stage = s.name
      AND k.fence IS NULL AND k.deaths = 0 AND k.due_at <= (SELECT clock_timestamp()))
    OR EXISTS (SELECT FROM curation.claim k WHERE k.stage = s.name
      AND k.fence IS NULL AND k.deaths > 0 AND k.due_at <= (SELECT clock_timestamp()))"""

SETTLED = """SELECT a.item, a.fence, a.outcome FROM curation.attempt a
  JOIN unnest($2::text[], $3::bigint[]) AS s(item, fence)
    ON a.item = s.item AND a.fence = s.fence
  WHERE a.stage = $1
    -- Not what others wrote about this claim: that it was rescued, or refused.
    AND a.outcome NOT IN ('rescued', 'quarantined', 'refused', 'discarded')"""

# From here on a death can be nobody else's fault.
ALONE = """UPDATE curation.claim SET alone = true
  WHERE stage = $1 AND item = $2 AND fence = $3 RETURNING item"""

MINE = "SELECT item, fence, tries, deaths FROM curation.claim WHERE stage = $1 AND worker = $2"

REGISTER = """INSERT INTO curation.stage (name, queue) VALUES ($1, $2::text::jsonb)
  ON CONFLICT (name) DO UPDATE SET queue = excluded.queue, seen_at = clock_timestamp()"""

STATES = """SELECT name, paused_at IS NOT NULL
    AND (paused_until IS NULL OR paused_until > clock_timestamp()) AS paused, paused_why
  FROM curation.stage WHERE name = ANY($1::text[])"""

PAUSE = """UPDATE curation.stage SET paused_at = clock_timestamp(), paused_why = $2,
    paused_until = clock_timestamp() + make_interval(secs => $3::float8)
  WHERE name = $1 RETURNING name"""

RESUME = """UPDATE curation.stage SET paused_at = NULL, paused_until = NULL, paused_why = NULL
  WHERE name = $1 RETURNING name"""

REFUSED = """INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, worker)
  SELECT $1, s.item, s.fence, s.tries, 'refused', 'its claim was lost before it settled', $5
  FROM unnest($2::text[], $3::bigint[], $4::int[]) AS s(item, fence, tries)"""

NOTIFY = "SELECT pg_notify('curation', name) FROM unnest($1::text[]) AS s(name)"
