"""The server that stands for Pipedrive, asked by Pipedrive's own client."""

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from scripts import page
from tests.connectors.fakes.pipedrive import TOKEN, FakePipedrive

pytestmark = pytest.mark.slow
CLIENT = "pipedrive@33.7.0"
SCRIPT = """
const { v1, v2 } = require("pipedrive");
const [basePath, apiKey, steps] = process.argv.slice(2);
const old = { basePath: basePath + "/api/v1", apiKey };
const now = { basePath: basePath + "/api/v2", apiKey };
const apis = {
  users: new v1.UsersApi(new v1.Configuration(old)),
  persons: new v2.PersonsApi(new v2.Configuration(now)),
  organizations: new v2.OrganizationsApi(new v2.Configuration(now)),
  personFields: new v2.PersonFieldsApi(new v2.Configuration(now)),
  leads: new v1.LeadsApi(new v1.Configuration(old)),
  items: new v2.ItemSearchApi(new v2.Configuration(now)),
};
(async () => {
  const told = [];
  for (const [api, name, given] of JSON.parse(steps)) {
    try {
      told.push({ ok: await apis[api][name](given) });
    } catch (error) {
      told.push({ error });
    }
  }
  console.log(JSON.stringify(told));
})();
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipedrive")
    done = subprocess.run(
        [*page.npm(), "install", "--ignore-scripts", "--no-audit", "--no-fund", CLIENT],
        cwd=folder,
        env=page.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (folder / "steps.js").write_text(SCRIPT)
    return folder


@pytest.fixture
async def fake() -> AsyncIterator[FakePipedrive]:
    async with FakePipedrive() as server:
        yield server


async def told(client: Path, fake: FakePipedrive, *steps: object) -> list[Any]:
    def run() -> str:
        return subprocess.run(
            [page.node(), "steps.js", fake.url, TOKEN, json.dumps(steps)],
            cwd=client,
            env=page.environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    answers: list[Any] = json.loads(await anyio.to_thread.run_sync(run))
    return answers


async def test_people_are_made_changed_listed_and_deleted(
    client: Path, fake: FakePipedrive
) -> None:
    field = {"AddPersonFieldRequest": {"field_name": "Ours", "field_type": "varchar"}}
    [made, fields] = await told(
        client,
        fake,
        ["personFields", "addPersonField", field],
        ["personFields", "getPersonFields", {"limit": 500}],
    )
    code = made["ok"]["data"]["field_code"]
    assert len(code) == 40
    assert code in {row["field_code"] for row in fields["ok"]["data"]}

    person = {
        "name": "Ann",
        "emails": [{"value": "Ann@x.com", "primary": True, "label": "work"}],
        "custom_fields": {code: "our id"},
    }
    changed = {"id": 1, "UpdatePersonRequest": {"name": "Anna"}}
    fake.store.lag = lambda: 0.0
    since = {"updated_since": "2026-11-18T00:00:00Z", "sort_by": "update_time"}
    term = {"term": "our id", "entity_type": "person", "match": "exact", "field": code}
    added, updated, listed, found, by_field, removed, one = await told(
        client,
        fake,
        ["persons", "addPerson", {"AddPersonRequest": person}],
        ["persons", "updatePerson", changed],
        ["persons", "getPersons", since],
        ["persons", "searchPersons", {"term": "ANN@x.com", "fields": "email", "exact_match": True}],
        ["items", "searchItemByField", term],
        ["persons", "deletePerson", {"id": 1}],
        ["persons", "getPerson", {"id": 1}],
    )  # fmt: skip
    assert added["ok"]["data"]["custom_fields"][code] == "our id"
    assert updated["ok"]["data"]["name"] == "Anna"
    assert [row["id"] for row in listed["ok"]["data"]] == [1]
    assert listed["ok"]["additional_data"]["next_cursor"] is None
    assert found["ok"]["data"]["items"][0]["item"]["id"] == 1
    assert by_field["ok"]["data"][0]["id"] == 1
    assert removed["ok"]["data"]["id"] == 1
    assert one["ok"]["data"]["is_deleted"] is True


async def test_what_is_wrong_is_refused_as_there(
    client: Path, fake: FakePipedrive
) -> None:
    def add(**values: Any) -> list[Any]:
        return ["persons", "addPerson", {"AddPersonRequest": values}]

    answers = await told(
        client,
        fake,
        add(),
        add(name="A", job_title="Dr"),
        add(name="A", org_id=99),
        add(name="A", custom_fields={"nope": 1}),
        ["persons", "getPersons", {"updated_since": "2026-11-18T00:00:00.123Z"}],
        ["persons", "getPerson", {"id": 99}],
    )
    assert [call.status for call in fake.calls] == [400, 403, 400, 400, 400, 404]
    assert all(one["error"]["success"] is False for one in answers)
    assert answers[2]["error"]["field_code"] == "org_id"
    assert list(fake.store.live("persons")) == []


async def test_leads_are_in_the_first_version(
    client: Path, fake: FakePipedrive
) -> None:
    lead = {"title": "Acme", "person_id": 1, "origin_id": "our id"}
    _, made, alone, listed = await told(
        client,
        fake,
        ["persons", "addPerson", {"AddPersonRequest": {"name": "Ann"}}],
        ["leads", "addLead", {"AddLeadRequest": lead}],
        ["leads", "addLead", {"AddLeadRequest": {"title": "Nobody's"}}],
        ["leads", "getLeads", {"person_id": 1}],
    )
    assert made["ok"]["data"]["origin_id"] == "our id"
    assert "error" in alone
    assert [row["id"] for row in listed["ok"]["data"]] == [made["ok"]["data"]["id"]]
    [gone] = await told(
        client, fake, ["leads", "deleteLead", {"id": made["ok"]["data"]["id"]}]
    )
    assert gone["ok"]["success"] is True
    assert fake.leads == {}


async def test_who_we_are_and_who_we_are_not(client: Path, fake: FakePipedrive) -> None:
    [me] = await told(client, fake, ["users", "getCurrentUser", {}])
    assert me["ok"]["data"]["company_domain"] == "acme"
    fake.token = "another"
    [me] = await told(client, fake, ["users", "getCurrentUser", {}])
    assert me["error"]["errorCode"] == 401


async def test_who_ignores_a_refusal_is_shut_out(
    client: Path, fake: FakePipedrive
) -> None:
    fake.daily.take(fake.daily.left)
    answers = await told(client, fake, *[["users", "getCurrentUser", {}]] * 8)
    assert [call.status for call in fake.calls] == [429] * 6 + [403] * 2
    assert "Cloudflare" in answers[-1]["error"]


async def test_a_call_costs_its_tokens(client: Path, fake: FakePipedrive) -> None:
    await told(
        client,
        fake,
        ["users", "getCurrentUser", {}],
        ["organizations", "addOrganization", {"AddOrganizationRequest": {"name": "A"}}],
        ["organizations", "getOrganization", {"id": 1}],
        ["organizations", "getOrganizations", {}],
        ["organizations", "deleteOrganization", {"id": 1}],
    )
    assert [call.cost for call in fake.calls] == [2, 5, 1, 10, 3]
    assert fake.daily.used == 21
