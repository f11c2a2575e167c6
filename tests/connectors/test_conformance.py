"""Every connector of ours does what all have to do."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest

from scrapersky.connectors.folder import FolderConnector
from scrapersky.connectors.generic import GenericConnector
from scrapersky.connectors.hubspot import HubspotConnector
from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.pipedrive import PipedriveConnector
from scrapersky.connectors.protocol import Connector, CrmKind
from tests.connectors.conformance import ConformanceTarget, ConnectorConformance
from tests.connectors.fakes import hubspot, pipedrive
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.trouble import lost_answer
from tests.connectors.plain_crm import Fault, PlainCrm
from tests.connectors.rig import connected


class TestFolder(ConnectorConformance):
    @pytest.fixture(params=["jsonl", "csv"])
    async def target(
        self, tmp_path: Path, request: pytest.FixtureRequest
    ) -> AsyncIterator[ConformanceTarget]:
        async with connected(
            FolderConnector, "", "", StillClock(), tmp_path, format=request.param
        ) as connector:

            def count(kind: CrmKind, our_id: UUID) -> int:
                return sum(key == str(our_id) for key in connector._rows(kind))

            def edit(kind: CrmKind, their_id: str, values: Mapping[str, Any]) -> None:
                connector._append(kind, [{**connector._rows(kind)[their_id], **values}])

            yield ConformanceTarget(connector, count, edit)


class TestHttp(ConnectorConformance):
    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        crm = PlainCrm()
        server = await crm.start()
        options = {"description": crm.description()}
        async with connected(
            GenericConnector, "", crm.token, StillClock(), **options
        ) as connector:
            yield ConformanceTarget(
                connector,
                lambda kind, our_id: len(crm.of(kind.value, our_id)),
                lambda kind, their_id, values: crm.edit(kind.value, their_id, **values),
                lambda: crm.faults.append(Fault("POST", "lost")),
            )
        server.close()


T = TypeVar("T")


def there(found: T | None) -> T:
    assert found is not None
    return found


async def with_own_fields(
    of: type[Connector], url: str, token: str, clock: StillClock
) -> dict[str, str]:
    """Make our fields there, and return what they are called as the engine hands it on."""
    named: dict[str, str] = {}
    async with connected(of, url, token, clock) as connector:
        for kind in CrmKind:
            made = await connector.make_fields(kind, own_fields())
            named |= {f"field:{kind}:{name}": code for name, code in made.items()}
    return named


class TestHubspot(ConnectorConformance):
    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        clock = StillClock()
        async with hubspot.FakeHubSpot(clock) as fake:
            store, named = (
                fake.portal.store,
                {"company": "companies", "person": "contacts"},
            )
            options = await with_own_fields(
                HubspotConnector, fake.url, hubspot.TOKEN, clock
            )

            def count(kind: CrmKind, our_id: UUID) -> int:
                own = (
                    one.values.get("scrapersky_id") for one in store.live(named[kind])
                )
                return sum(one == str(our_id) for one in own)

            async with connected(
                HubspotConnector, fake.url, hubspot.TOKEN, clock, **options
            ) as connector:
                yield ConformanceTarget(
                    connector,
                    count,
                    lambda kind, id_, values: fake.portal.types(
                        there(store.get(named[kind], id_)), **values
                    ),
                    lambda: fake.troubles.append(lost_answer("batch/upsert")),
                    lambda: clock.advance(60),
                    {
                        CrmKind.COMPANY: {"name": "Acme", "domain": "acme.example"},
                        CrmKind.PERSON: {
                            "name": "Ada",
                            "last_name": "Ada",
                            "email": "ada@acme.example",
                        },
                    },
                )


class TestPipedrive(ConnectorConformance):
    @pytest.fixture
    async def target(self) -> AsyncIterator[ConformanceTarget]:
        clock = StillClock()
        async with pipedrive.FakePipedrive(clock) as fake:
            named = {"company": "organizations", "person": "persons"}
            options = await with_own_fields(
                PipedriveConnector, fake.url, pipedrive.TOKEN, clock
            )

            def count(kind: CrmKind, our_id: UUID) -> int:
                return fake.own(
                    named[kind], options[f"field:{kind}:scrapersky_id"]
                ).count(str(our_id))

            async with connected(
                PipedriveConnector, fake.url, pipedrive.TOKEN, clock, **options
            ) as connector:
                yield ConformanceTarget(
                    connector,
                    count,
                    lambda kind, id_, values: fake.types(
                        there(fake.store.get(named[kind], id_)), **values
                    ),
                    lambda: fake.troubles.append(lost_answer("POST")),
                    lambda: clock.advance(60),
                )
