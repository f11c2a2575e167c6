"""A worker of the orchard on one of the hosts; it notes what the database acknowledged."""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from curation_sdk import Worker
from curation_sdk.events import Event, Settled
from sdk_tests.faults.scenario import INNOCENT
from sdk_tests.rig.connect import connect
from sdk_tests.rig.orchard import Weather, stages


async def main(url: str, noted: Path, lease: float, pause: float) -> None:
    database = connect(url, pool_size=3)
    worker = Worker(
        database,
        stages(lease=timedelta(seconds=lease), **INNOCENT),
        tools=Weather(pause=pause),
    )
    stopping: list[asyncio.Task[None]] = []
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGTERM, lambda: stopping.append(asyncio.create_task(worker.stop()))
    )
    with noted.open("a", buffering=1) as notes:

        def note(event: Event) -> None:
            if isinstance(event, Settled) and event.outcome == "done":
                notes.write(f"{event.stage} {event.item}\n")

        worker.events.listen(note)
        await worker.start()
        await worker.run()
    await database.dispose()


if __name__ == "__main__":
    place, file, lease, pause = sys.argv[1:]
    asyncio.run(main(place, Path(file), float(lease), float(pause)))
