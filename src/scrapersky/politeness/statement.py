"""The few statements of the ledger; times are the database's own.

`next_at` always says from when on somebody else may send, even if the holder of the
lease dies this very moment: it lies a whole lease and a delay ahead while the lease is
held, and is drawn back when it is returned. Whoever writes several hosts takes them in
the order of their keys, so that no two wait for each other.
"""

from sqlalchemy import text

_LIVE = "host.lease_owner = :owner AND host.lease_until >= clock_timestamp()"
_START = f"""CASE WHEN {_LIVE} THEN clock_timestamp()
             ELSE greatest(host.next_at, clock_timestamp()) END"""

OBTAIN = text(
    f"""
    INSERT INTO hosts AS host (key, lease_owner, lease_until, starts_at, next_at, delay)
    SELECT key, :owner, clock_timestamp() + :lease, clock_timestamp(),
           clock_timestamp() + :lease + delay, delay
    FROM (SELECT key, make_interval(secs => seconds) AS delay FROM
          unnest(CAST(:keys AS text[]), CAST(:delays AS float8[])) AS u (key, seconds)
          ORDER BY key) AS mine
    ON CONFLICT (key) DO UPDATE SET
        lease_owner = :owner,
        starts_at = {_START},
        lease_until = {_START} + :lease,
        next_at = {_START} + :lease + greatest(host.delay, excluded.delay),
        updated_at = clock_timestamp()
    WHERE (host.lease_owner IS NULL OR host.lease_owner = :owner
           OR host.lease_until < clock_timestamp())
      AND (host.paused_until IS NULL OR host.paused_until <= clock_timestamp())
    RETURNING key, extract(epoch FROM starts_at - clock_timestamp()) AS wait,
              extract(epoch FROM lease_until - clock_timestamp()) AS lease,
              extract(epoch FROM delay) AS delay
    """  # noqa: S608 - only our own constants are put together
)

WHO_HOLDS = text(
    """
    SELECT key, lease_owner, extract(epoch FROM lease_until - clock_timestamp()) AS lease,
           CASE WHEN paused_until > clock_timestamp() THEN
               least(extract(epoch FROM least(paused_until, clock_timestamp() + '1 day')
                             - clock_timestamp()), 86400)
           END AS pause,
           pause_reason
    FROM hosts WHERE key = ANY (CAST(:keys AS text[]))
    """
)

RENEW = text(
    """
    UPDATE hosts SET
        lease_until = clock_timestamp() + :lease,
        delay = make_interval(secs => mine.delay),
        next_at = clock_timestamp() + :lease + make_interval(secs => mine.delay),
        updated_at = clock_timestamp()
    FROM (SELECT key, u.delay FROM hosts JOIN
          unnest(CAST(:keys AS text[]), CAST(:delays AS float8[])) AS u (key, delay)
          USING (key) ORDER BY key FOR UPDATE OF hosts) AS mine
    WHERE hosts.key = mine.key AND hosts.lease_owner = :owner
      AND hosts.lease_until >= clock_timestamp()
      AND (hosts.paused_until IS NULL OR hosts.paused_until <= clock_timestamp())
    RETURNING hosts.key
    """
)

RETURN = text(
    """
    UPDATE hosts SET
        lease_owner = NULL, lease_until = NULL,
        delay = make_interval(secs => mine.delay),
        next_at = clock_timestamp() + make_interval(secs => mine.rest),
        updated_at = clock_timestamp()
    FROM (SELECT key, u.delay, u.rest FROM hosts JOIN
          unnest(CAST(:keys AS text[]), CAST(:delays AS float8[]),
                 CAST(:rests AS float8[])) AS u (key, delay, rest)
          USING (key) ORDER BY key FOR UPDATE OF hosts) AS mine
    WHERE hosts.key = mine.key AND hosts.lease_owner = :owner
    """
)

# Whoever died has sent nothing since: only the pause after its last request is left.
TAKE_FROM_DEAD = text(
    """
    UPDATE hosts SET
        lease_owner = NULL, lease_until = NULL,
        next_at = least(next_at, greatest(starts_at, clock_timestamp() + delay)),
        updated_at = clock_timestamp()
    FROM (SELECT key, u.owner FROM hosts JOIN
          unnest(CAST(:keys AS text[]), CAST(:owners AS uuid[])) AS u (key, owner)
          USING (key) ORDER BY key FOR UPDATE OF hosts) AS dead
    WHERE hosts.key = dead.key AND hosts.lease_owner = dead.owner
    """
)

PAUSE = text(
    """
    INSERT INTO hosts AS host (key, paused_until, pause_reason)
    VALUES (:key, CASE WHEN CAST(:length AS interval) IS NULL THEN 'infinity'::timestamptz
                  ELSE clock_timestamp() + CAST(:length AS interval) END, :why)
    ON CONFLICT (key) DO UPDATE SET
        -- A host's own wish never shortens what an operator decided.
        paused_until = greatest(host.paused_until, excluded.paused_until),
        pause_reason = CASE WHEN host.paused_until > excluded.paused_until
                       THEN host.pause_reason ELSE excluded.pause_reason END,
        updated_at = clock_timestamp()
    """
)

RESUME = text(
    """
    UPDATE hosts SET paused_until = NULL, pause_reason = NULL,
                     updated_at = clock_timestamp()
    WHERE key = :key
    """
)

RECORD = text(
    """
    INSERT INTO host_outcomes AS known (key, outcome, requests, bytes, seconds)
    SELECT * FROM unnest(CAST(:keys AS text[]), CAST(:outcomes AS text[]),
                         CAST(:requests AS int8[]), CAST(:sizes AS int8[]),
                         CAST(:seconds AS float8[])) AS new
    ORDER BY 1, 2
    ON CONFLICT (key, outcome) DO UPDATE SET
        requests = known.requests + excluded.requests,
        bytes = known.bytes + excluded.bytes,
        seconds = known.seconds + excluded.seconds,
        last_at = clock_timestamp()
    """
)

STATISTICS = text(
    "SELECT outcome, requests, bytes, seconds FROM host_outcomes WHERE key = :key"
)

READ_ROBOTS = text(
    """
    SELECT origin, state, text, why, expires_at, unreachable_since FROM host_robots
    WHERE origin = ANY (CAST(:origins AS text[])) AND expires_at > clock_timestamp()
    """
)

KEEP_ROBOTS = text(
    """
    INSERT INTO host_robots AS h
        (origin, state, text, why, expires_at, site, bytes, unreachable_since)
    SELECT origin, state, text, why, expires_at, site, bytes,
        CASE WHEN state = 'unreachable' THEN clock_timestamp() END
    FROM unnest(CAST(:origins AS text[]), CAST(:states AS text[]), CAST(:texts AS text[]),
                CAST(:whys AS text[]), CAST(:expires AS timestamptz[]),
                CAST(:sites AS text[]), CAST(:sizes AS int8[]))
        AS u (origin, state, text, why, expires_at, site, bytes)
    ORDER BY origin
    ON CONFLICT (origin) DO UPDATE SET
        state = excluded.state, text = excluded.text, why = excluded.why,
        expires_at = excluded.expires_at, site = excluded.site,
        bytes = excluded.bytes, fetched_at = clock_timestamp(),
        unreachable_since = CASE WHEN excluded.state = 'unreachable'
            THEN coalesce(h.unreachable_since, excluded.unreachable_since) END
    RETURNING origin, unreachable_since
    """
)

# What people have allowed counts for all: the files belong to no tenant.
ROBOTS_ROOM = text(
    """
    SELECT u.site, u.origin, (SELECT max(CAST(d.budget->>'robots_bytes' AS bigint))
        FROM tenants t JOIN domains d ON d.tenant_id = t.id AND d.domain = u.site) AS most,
      (SELECT coalesce(sum(bytes), 0) FROM host_robots h WHERE h.site = u.site
         AND h.origin <> u.origin AND h.expires_at > clock_timestamp()) AS used
    FROM unnest(CAST(:sites AS text[]), CAST(:origins AS text[])) AS u (site, origin)
    """
)

FORGET = (
    """DELETE FROM host_robots WHERE origin IN (SELECT origin FROM host_robots
      WHERE expires_at < statement_timestamp() - CAST(:age AS interval)
      LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
    """DELETE FROM hosts WHERE key IN (SELECT key FROM hosts
      WHERE updated_at < statement_timestamp() - CAST(:age AS interval)
        AND next_at < statement_timestamp()
        AND (lease_until IS NULL OR lease_until < statement_timestamp())
        AND (paused_until IS NULL OR paused_until < statement_timestamp())
      LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
)
"""Robots.txt files and hosts that nobody has used for long, some at a time."""
