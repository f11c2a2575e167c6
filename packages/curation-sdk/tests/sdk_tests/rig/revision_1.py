"""A worker of protocol revision 1, frozen: its statements are never edited again.

It knows the tables as they were when the engine was first released. Whoever changes
the schema or the statements must let this worker run beside the new one, or write a
migration that refuses to start while such workers run.
"""

import time

import psycopg

CLAIM = """WITH picked AS MATERIALIZED (
    SELECT m.ctid AS place FROM {table} m WHERE m.status = 'queued'
    ORDER BY m.queued_at, m.id LIMIT 10 FOR NO KEY UPDATE SKIP LOCKED
  ), token AS MATERIALIZED (
    SELECT nextval('curation.fence') AS fence, clock_timestamp() AS moment
  ), taken AS (
    UPDATE {table} m SET status = 'working' FROM picked
    WHERE m.ctid = picked.place AND m.status = 'queued' RETURNING m.id
  ), held AS (
    INSERT INTO curation.claim AS k
      (stage, item, fence, lease_until, claimed_at, tries, worker)
    SELECT %(stage)s, taken.id::text, token.fence,
      token.moment + make_interval(secs => %(lease)s), token.moment, 1, 'revision 1'
    FROM taken CROSS JOIN token
    ON CONFLICT (stage, item) DO UPDATE SET fence = excluded.fence,
      lease_until = excluded.lease_until, claimed_at = excluded.claimed_at,
      due_at = NULL, tries = k.tries + 1, worker = excluded.worker
    RETURNING k.item::bigint, k.fence
  )
  SELECT * FROM held"""

SETTLE = """WITH mine AS (
    DELETE FROM curation.claim k
    WHERE k.stage = %(stage)s AND k.item = %(item)s::text AND k.fence = %(fence)s
    RETURNING k.item, k.fence, k.tries, k.worker, k.claimed_at
  ), kept AS (
    UPDATE {table} m SET status = 'done', error = NULL
    FROM mine WHERE m.id = mine.item::bigint AND m.status = 'working'
    RETURNING mine.item, mine.fence, mine.tries, mine.worker, mine.claimed_at
  ), logged AS (
    INSERT INTO curation.attempt
      (stage, item, fence, tries, outcome, worker, claimed_at, settled_at)
    SELECT %(stage)s, item, fence, tries, 'done', worker, claimed_at, clock_timestamp()
    FROM kept
  )
  SELECT item FROM kept"""

EFFECTS = {
    "sow": ("seed", "INSERT INTO plant (seed_id) VALUES (%s)"),
    "grow": ("plant", "INSERT INTO fruit (plant_id, worker) VALUES (%s, 1)"),
}


def work_as_revision_1(dsn: str, lease: float, pause: float) -> None:
    """Drain both stages of the orchard for ever; someone else ends this process."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        while True:
            sown = work_stage(connection, "sow", lease, pause)
            grown = work_stage(connection, "grow", lease, pause)
            if not sown and not grown:
                time.sleep(0.05)


def work_stage(
    connection: "psycopg.Connection[tuple[object, ...]]",
    stage: str,
    lease: float,
    pause: float,
) -> bool:
    """Claim once and settle each item with its effect; tell whether there was work."""
    table, effect = EFFECTS[stage]
    values = {"stage": stage, "lease": lease}
    held = connection.execute(CLAIM.format(table=table).encode(), values).fetchall()
    time.sleep(pause)
    for item, fence in held:
        values = {"stage": stage, "item": item, "fence": fence}
        with connection.transaction():
            settle = SETTLE.format(table=table).encode()
            if connection.execute(settle, values).fetchone():
                connection.execute(effect.encode(), [item])
    return bool(held)
