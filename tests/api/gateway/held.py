"""Count the connections that each request holds at a time, over both pools of the API."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from sqlalchemy import event


@dataclass(slots=True)
class Held:
    """What was held by tasks, each of which is a request."""

    now: Counter[int] = field(default_factory=Counter)
    owner: dict[int, int] = field(default_factory=dict)
    most: int = 0
    where: str = ""

    def taken(self, _connection: Any, record: Any, _proxy: Any) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self.owner[id(record)] = id(task)
        self.now[id(task)] += 1
        if self.now[id(task)] > self.most:
            self.most = self.now[id(task)]
            self.where = repr(task)

    def given_back(self, _connection: Any, record: Any) -> None:
        task = self.owner.pop(id(record), None)
        if task is not None:
            self.now[task] -= 1


def watch_connections(app: FastAPI) -> Held:
    """Begin to count; the application has started."""
    held = Held()
    for engine in (app.state.engine, app.state.system_engine):
        event.listen(engine.sync_engine, "checkout", held.taken)
        event.listen(engine.sync_engine, "checkin", held.given_back)
    return held
