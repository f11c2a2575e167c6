"""The rule about items that crash their workers, as fragments of SQL.

An item is *rescued* when its worker vanished while it had the item in hand. The rule:

1. A crash in company makes every item in hand a suspect and no more: any of them, or
   none, may be the cause. Suspects are tried again a few at a time, and more at a time
   the more of them end well.
2. An item whose next crash would condemn it is worked alone: its worker holds nothing
   else, and writes so into the claim first.
3. A crash while worked alone condemns the item once it has crashed `max_crashes` times,
   unless another worker has crashed recently without it. Then workers also crash for
   another reason, and it takes `BENEFIT_OF_DOUBT` more crashes to blame the item.
"""

from curation_sdk.queue import Queue

RESCUED_TOGETHER = 10
"""How many rescued items of a small stage one worker tries again at once, to begin with."""
RESCUED_SHARE = 0.25
"""The share of a large stage's slots that rescued items may have, to begin with."""
BENEFIT_OF_DOUBT = 2
"""How many more crashes alone condemn an item while workers also crash without it."""
LATELY = "5 minutes"
"""How long the crash of a worker counts as a sign of another cause."""

UNSUSPECTED = "k.deaths = 0"
"""Claims that wait for another attempt, without any crash."""

CRASHES = """CASE WHEN k.alone THEN k.deaths + 1
        ELSE greatest(k.deaths, least(k.deaths + 1, greatest($2::int - 1, 1))) END"""
"""How often an item has crashed by now: in company never more than a suspect's count."""

CRASHED_LATELY = f"""SELECT DISTINCT worker FROM curation.attempt
    WHERE outcome = 'rescued'
      AND settled_at > statement_timestamp() - interval '{LATELY}'"""  # noqa: S608

# Workers that crashed recently are looked up once, and only where an item is to be judged;
# by the statement's time, because only a stable time can use the index.
CRASHED_WITHOUT_IT = """SELECT FROM lately
      WHERE lately.worker <> expired.worker
        AND NOT EXISTS (SELECT FROM curation.attempt b
          WHERE b.item = expired.item AND b.stage = $1 AND b.outcome = 'rescued'
            AND b.worker = lately.worker)"""

IS_POISON = f"""alone AND crashes >= $2::int AND (
      crashes >= $2::int + {BENEFIT_OF_DOUBT} OR NOT EXISTS ({CRASHED_WITHOUT_IT}))"""

SET_APART = """UPDATE curation.claim SET alone = true
  WHERE stage = $1 AND item = $2 AND fence = $3 RETURNING item"""
"""From here on, a crash can only be caused by this item."""


def rescued(queue: Queue) -> str:
    """Choose claims that crashed, but whose next crash would not be their last."""
    return f"k.deaths > 0 AND k.deaths < {queue.max_crashes - 1}"


def suspect(queue: Queue) -> str:
    """Choose claims whose next crash would condemn them."""
    return f"k.deaths > 0 AND k.deaths >= {queue.max_crashes - 1}"


def tried_together(concurrency: int) -> int:
    """Return how many rescued items are tried again at once, to begin with.

    After a kill nothing else may be left to do, and a large stage would stand idle.
    """
    return max(RESCUED_TOGETHER, int(concurrency * RESCUED_SHARE))
