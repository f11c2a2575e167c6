"""What people name things with: nothing is hidden in it, and no spreadsheet runs it."""

from typing import Any

import pytest

from tests.api.records.rig import Desk
from tests.api.records.test_export import csv_rows, export, sheet

pytestmark = pytest.mark.asyncio(loop_scope="module")

HIDDEN = {
    "a line": "a\r\nb",
    "a terminal": "a\x1b[2Jb",
    "a direction": "invoice\u202efdp.exe",
    "isolates": "a\u2066b\u2069",
}
RULE = {"kind": "domains", "conditions": [], "status": "Selected"}


def bodies(title: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return a request for each thing that a person gives a name."""
    view = {"name": title, "kind": "domains", "query": {}}
    column = {"name": "budget", "title": title, "type": "text"}
    choice = {"name": "a", "title": "A", "type": "choice", "choices": [title]}
    return {
        "column": ("POST", "/company-columns", column),
        "choice": ("POST", "/company-columns", choice),
        "view": ("POST", "/views", view),
        "tag": ("POST", "/companies/work", {"add_tags": [title]}),
        "batch": ("POST", "/domains", {"items": ["a.de"], "name": title}),
        "search": ("POST", "/searches/estimate", {"business_type": title}),
        "key": ("POST", "/api-keys", {"name": title, "scopes": ["read"]}),
        "rule": ("POST", "/rules", {"name": title, **RULE}),
    }


@pytest.mark.parametrize("title", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("named", bodies(""))
async def test_a_name_was_not_what_it_looked_like(
    desk: Desk, named: str, title: str
) -> None:
    method, path, body = bodies(title)[named]

    answer = await desk.client.request(method, f"/api/v3{path}", json=body)

    assert answer.status_code == 422, answer.text
    said = [one["what"] for one in answer.json()["errors"]]
    assert any("control characters" in one or "one can see" in one for one in said)


async def test_signs_that_join_letters_and_emoji_are_kept(desk: Desk) -> None:
    title = " \U0001f469\u200d\U0001f4bb ab\u200ccd "
    column = {"name": "b", "title": title, "type": "text"}

    await desk.post("/company-columns", column, status=201)

    (made,) = await desk.get("/company-columns")
    assert made["title"] == title.strip()


async def test_a_heading_was_a_formula(desk: Desk) -> None:
    """Such titles were taken before they were checked."""
    for name, title in (("a", "=cmd|'/c calc'!A1"), ("b", "@x\r\n=1+1\u202e")):
        await desk.run(
            "INSERT INTO company_columns (tenant_id, name, title, type, choices)"
            " VALUES (:t, :n, :title, 'text', '{}')",
            t=desk.tenant,
            n=name,
            title=title,
        )
    await desk.run(
        "INSERT INTO companies (tenant_id, name, own) VALUES (:t, 'Ada', :own)",
        t=desk.tenant,
        own='{"a": "1", "b": "2"}',
    )

    (row,) = csv_rows(await export(desk, "/companies", preset="leads"))
    book = await export(desk, "/companies", preset="leads", format="xlsx")
    (cells,) = sheet(book)

    assert [*row][-2:] == ["'=cmd|'/c calc'!A1", "'@x =1+1"]
    assert [*cells][-2:] == ["=cmd|'/c calc'!A1", "@x =1+1"]
    assert (row["'@x =1+1"], cells["@x =1+1"]) == ("2", "2")
