"""Which faults are run how often: quick for every change, long for a release."""

from collections.abc import Callable
from functools import partial

from sdk_tests.faults import scenario
from sdk_tests.faults.scenario import Row

Runs = dict[str, Callable[[], Row]]

# Few items that take their time keep a fleet as busy as many, at half the cost.
FEW = {"seeds": 80, "workers": 2}

QUICK: Runs = {
    "kills": partial(scenario.kill_workers, **FEW, kills=2, every=0.2, pause=0.15),
    # Two are left, who may both want what the third had.
    "pauses": partial(scenario.stop_workers, seeds=80, workers=3, pauses=1, pause=0.1),
    "restarts": partial(
        scenario.restart_database, **FEW, restarts=2, every=0.5, pause=0.3
    ),
    "crashes": partial(scenario.crash_database, **FEW, crashes=2, every=0.5, pause=0.3),
    "cut_sessions": partial(
        scenario.terminate_backends, **FEW, cuts=6, every=0.1, pause=0.2
    ),
    # Every one, until there are enough: so few items take few commits.
    "lost_answers": partial(
        scenario.lose_answers, **FEW, answers=5, chance=1.0, pause=0.02
    ),
    "held": partial(scenario.hold_connections, **FEW, holds=1, every=0.5, pause=0.4),
    "clock": partial(scenario.jump_clock, **FEW, jumps=3, every=0.3, pause=0.2),
    "poison": partial(scenario.poison, **FEW, poisons=1, pause=0.01),
    "stops": partial(scenario.terminate_workers, **FEW, stops=2, every=0.2, pause=0.15),
    "pooler": partial(scenario.through_pooler, **FEW, kills=2, every=0.3, pause=0.15),
}

LONG: Runs = {
    "kills": partial(
        scenario.kill_workers, seeds=10_000, kills=200, every=0.3, pause=0.05
    ),
    "pauses": partial(scenario.stop_workers, seeds=10_000, pauses=20, pause=0.1),
    "restarts": partial(
        scenario.restart_database, seeds=5000, restarts=20, every=1.0, pause=0.05
    ),
    "crashes": partial(
        scenario.crash_database, seeds=5000, crashes=20, every=1.0, pause=0.05
    ),
    "cut_sessions": partial(
        scenario.terminate_backends, seeds=10_000, cuts=200, every=0.15, pause=0.05
    ),
    "lost_answers": partial(
        scenario.lose_answers, seeds=10_000, answers=300, chance=0.1, pause=0.02
    ),
    "held": partial(
        scenario.hold_connections, seeds=10_000, holds=20, every=2.0, pause=0.05
    ),
    "clock": partial(
        scenario.jump_clock, seeds=10_000, jumps=40, every=0.8, pause=0.05
    ),
    # A worker that gets no processor for a whole lease looks dead: in a run of minutes
    # beside others that happens thrice to one item if the lease is short.
    "poison": partial(scenario.poison, seeds=10_000, poisons=10, pause=0.01, lease=8.0),
    "stops": partial(
        scenario.terminate_workers, seeds=10_000, stops=100, every=0.2, pause=0.05
    ),
    "pooler": partial(
        scenario.through_pooler, seeds=5000, kills=50, every=0.4, pause=0.05
    ),
}
