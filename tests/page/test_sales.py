"""What sales people ask of the page, on the leads that the pipeline finds in the demo town."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG
from tests.cli.rig import CLEAN, COMMAND
from tests.page.rig import a_context, downloaded, violations, watch_of, watched

pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("page-sales"),  # they share one town
]

SIZE = 40
"""Businesses of the town: enough to fill a screen."""
STAYS = "The page stays open"
NARROW = {"width": 390, "height": 844}
LARGE_LETTERS = {"width": 640, "height": 400}
"""What a window of 1280 by 800 has at 200 %."""
WIDTHS = (1280, 1440, 2560)
CUT = """
() => [...document.querySelectorAll(
    ".grid-row .reach > a, .grid-row .address, .grid-row .whose",
  )]
  .filter(one => one.checkVisibility())
  .filter(one => {
    const row = one.closest("[role=gridcell]").getBoundingClientRect();
    const own = one.getBoundingClientRect();
    return one.scrollWidth > one.clientWidth + 1 || own.right > row.right + 1
      || own.bottom > row.bottom + 1 || own.top < row.top - 1;
  })
  .map(one => one.textContent)
"""
"""The numbers and addresses of the list that nobody can read whole."""
IN_SIGHT = """
() => [...document.querySelectorAll(".grid-row")].filter(row => {
  const own = row.getBoundingClientRect();
  return own.top >= 0 && own.bottom <= innerHeight;
}).length
"""


@dataclass
class Town:
    """The demo town, after its pipeline has run."""

    address: str
    data: Path

    async def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        host = self.data / "demo" / "run"
        connection = await asyncpg.connect(
            f"postgresql://scrapersky@/scrapersky?host={host}"
        )
        try:
            return [tuple(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()

    async def value(self, statement: str, *values: Any) -> Any:
        return (await self.run(statement, *values))[0][0]


@pytest.fixture(scope="module")
def town(built: None) -> Iterator[Town]:
    with TemporaryDirectory(prefix="town") as place:
        data = Path(place)
        # For root, PostgreSQL runs as somebody else, who must get in.
        data.chmod(0o755)
        yield from demo_of(data)


def demo_of(data: Path) -> Iterator[Town]:
    """Run the demo as a process, until its pipeline has nothing to do any more."""
    port = free_port()
    environment = CLEAN | {"PORT": str(port), "SCRAPERSKY_DATA_DIR": str(data)}
    demo = subprocess.Popen(
        [COMMAND, "demo", "--stay", "--size", str(SIZE)],
        env=environment, cwd="/", stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert demo.stdout is not None
    assert any(STAYS in line for line in demo.stdout), "the town has no page"
    yield Town(f"http://127.0.0.1:{port}", data)
    demo.terminate()
    demo.communicate()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, town: Town) -> AsyncIterator[Page]:
    context = await a_context(browser, town.address)
    async with watched(context, town.address) as page:
        yield page
    await context.close()


@dataclass
class Hand:
    """Somebody's hand: clicks, choices, words typed and keys all count."""

    page: Page
    count: int = 0

    async def click(self, what: Locator, **options: Any) -> None:
        self.count += 1
        await what.click(**options)

    async def press(self, key: str) -> None:
        self.count += 1
        await self.page.keyboard.press(key)

    async def type(self, what: Locator, words: str) -> None:
        self.count += 1
        await what.fill(words)

    async def choose(self, what: Locator, option: str) -> None:
        self.count += 1
        await what.select_option(label=option)

    async def screen(self, name: str) -> None:
        screens = self.page.get_by_role("navigation", name="Screens")
        await self.click(screens.get_by_role("link", name=name, exact=True))

    async def button(self, name: str) -> None:
        await self.click(self.page.get_by_role("button", name=name, exact=True))

    async def narrow_to(self, words: str, option: str) -> None:
        """Type into the open filter, and take what it suggests."""
        box = self.page.get_by_role("dialog", name="Filter").get_by_role("combobox")
        await self.type(box, words)
        found = self.page.get_by_role("option").filter(has_text=option).first
        await self.click(found)


def rows(page: Page) -> Locator:
    return page.locator(".grid-row")


def counted(page: Page) -> Locator:
    return page.locator(".screen-head [role=status]")


async def test_seventeen_questions_are_answered_within_so_many_clicks(
    page: Page, town: Town
) -> None:
    await town.run(
        "INSERT INTO users (tenant_id, email, name)"
        " SELECT id, 'anna@a.example', 'Anna' FROM tenants LIMIT 1"
    )
    asked = {
        "One line per company": (one_line_per_company, 1),
        "Those of a trade with a named person's e-mail": (trade_with_a_named_person, 5),
        "What a search has found and cost": (yield_of_a_search, 1),
        "Where this number comes from": (where_from, 3),
        "New since last week": (new_since_last_week, 2),
        "Assign these to Anna": (assign_to_anna, 5),
        "Which are Anna's": (of_anna, 4),
        "Mark as contacted": (mark_as_contacted, 3),
        "A column of our own": (own_column, 5),
        "A note": (a_note, 5),
        "Follow up tomorrow": (follow_up, 4),
        "A file for HubSpot": (for_hubspot, 4),
        "A workbook": (a_workbook, 4),
        "Two are one, or not": (merge_and_undo, 6),
        "Never contact them": (do_not_contact, 3),
        "A messy list of 500": (messy_list, 5),
        "Erase a person": (erase_a_person, 5),
    }
    taken = {}
    await page.goto("/rules")
    for question, (answer, _) in asked.items():
        hand = Hand(page)
        await answer(page, town, hand)
        taken[question] = hand.count
        await page.goto("/rules")
    assert taken == {question: most for question, (_, most) in asked.items()}


async def one_line_per_company(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    count = await town.value("SELECT count(*) FROM companies")
    await expect(counted(page)).to_have_text(f"{count} companies")


async def trade_with_a_named_person(page: Page, town: Town, hand: Hand) -> None:
    # In the words of the list, not in those of the source: `car_repair` is "Car repair".
    ((code, found),) = await town.run(
        "SELECT categories[1], count(*) FROM companies WHERE email_kind = 'person'"
        " GROUP BY 1 ORDER BY categories[1] ~ '_' DESC, 2 DESC LIMIT 1"
    )
    word = code.replace("_", " ").capitalize()
    await hand.screen("Companies")
    await hand.button("Filter")
    await hand.narrow_to(word.lower(), word)
    await hand.click(page.get_by_role("option", name="Named person's e-mail"))
    await expect(rows(page)).to_have_count(found)
    await expect(page.get_by_role("button", name=f"Category is {word}")).to_be_visible()


async def yield_of_a_search(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Results")
    for name, condition in (
        ("Places", "true"), ("With e-mail", "email_contact_id IS NOT NULL"),
        ("Named person", "email_kind = 'person'"),
    ):  # fmt: skip
        count = await town.value(f"SELECT count(*) FROM companies WHERE {condition}")
        line = page.locator(".lead-funnel li").filter(has_text=name)
        await expect(line.locator(".number").first).to_have_text(str(count))


async def where_from(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.click(rows(page).first.locator(".strong").first)
    await hand.click(page.get_by_role("tab", name="Evidence"))
    seen = page.locator(".evidence > li").filter(has_text="Phone")
    await expect(seen.first).to_be_visible()


async def new_since_last_week(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Home")
    await hand.click(page.locator(".tile").filter(has_text="New this week"))
    count = await town.value("SELECT count(*) FROM companies")
    await expect(counted(page)).to_have_text(f"{count} companies")
    await expect(
        page.get_by_role("button", name="New in the last 7 days")
    ).to_be_visible()


async def assign_to_anna(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await expect(rows(page).first).to_be_visible()
    await hand.press("Control+a")
    await hand.press("a")
    dialog = page.get_by_role("dialog")
    await hand.choose(dialog.get_by_label("Assigned to"), "Anna")
    await hand.click(dialog.get_by_role("button", name="Apply"))
    await expect(dialog).to_have_count(0)
    await expect(rows(page).first).to_contain_text("Anna")


async def of_anna(page: Page, town: Town, hand: Hand) -> None:
    await town.run("UPDATE companies SET owner_id = NULL WHERE email_kind IS NULL")
    count = await town.value(
        "SELECT count(*) FROM companies WHERE owner_id IS NOT NULL"
    )
    await hand.screen("Companies")
    await hand.button("Filter")
    await hand.narrow_to("anna", "Anna")
    await expect(counted(page)).to_have_text(f"{count} companies")


async def mark_as_contacted(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await expect(rows(page).first).to_be_visible()
    await hand.press("j")
    await hand.press("c")
    await expect(rows(page).first).to_contain_text("Contacted")
    await expect(page.get_by_role("button", name="Contacted 1")).to_be_visible()


async def own_column(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.button("Columns")
    await hand.click(page.get_by_role("menuitem", name="Your columns"))
    dialog = page.get_by_role("dialog")
    await hand.type(dialog.get_by_label("Heading"), "Budget")
    await hand.click(dialog.get_by_role("button", name="Add column"))
    await expect(page.get_by_role("columnheader", name="Budget")).to_be_attached()


async def a_note(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.click(rows(page).first.locator(".strong").first)
    await hand.button("Assign and note")
    dialog = page.get_by_role("dialog")
    await hand.type(dialog.get_by_label("Notes"), "Asks for an offer")
    await hand.click(dialog.get_by_role("button", name="Save"))
    await expect(page.locator(".lead-note")).to_have_text("Asks for an offer")
    # What has not been answered yet when a page closes is sent again by the next one.
    await expect(page.get_by_text("Saved.")).to_be_visible()


async def follow_up(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.click(rows(page).first.locator(".strong").first)
    await hand.button("Follow up")
    await hand.click(page.get_by_role("button", name="Tomorrow"))
    await expect(page.get_by_role("button", name="Follow up")).to_have_text("Tomorrow")


async def for_hubspot(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.button("Export")
    dialog = page.get_by_role("dialog")
    await hand.choose(dialog.get_by_label("Preset"), "HubSpot")
    lacking = await town.value(
        "SELECT count(*) FROM companies WHERE email_contact_id IS NULL"
    )
    await expect(dialog).to_contain_text(f"{lacking} without an e-mail address")
    hand.count += 1
    link = dialog.get_by_role("link", name="Download")
    found = await downloaded(page, link)
    person = await town.value(
        "SELECT p.name FROM companies c JOIN people p ON p.id = c.decision_maker_id"
        " WHERE c.email_kind = 'person' LIMIT 1"
    )
    lines = [" ".join(line.values()) for line in found]
    assert any(person.split()[-1] in line for line in lines)


async def a_workbook(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await hand.button("Export")
    dialog = page.get_by_role("dialog")
    await hand.choose(dialog.get_by_label("Format"), "Excel workbook")
    async with page.expect_download() as waiting:
        await hand.click(dialog.get_by_role("link", name="Download"))
    assert (await waiting.value).suggested_filename.endswith(".xlsx")


async def merge_and_undo(page: Page, town: Town, hand: Hand) -> None:
    count = await town.value("SELECT count(*) FROM companies")
    await hand.screen("Companies")
    for place in (0, 1):
        await hand.click(rows(page).nth(place).get_by_role("checkbox"))
    await hand.button("Merge")
    dialog = page.get_by_role("dialog")
    await hand.click(dialog.get_by_role("button", name="Merge", exact=True))
    await expect(counted(page)).to_have_text(f"{count - 1} companies")
    await hand.press("u")
    await expect(counted(page)).to_have_text(f"{count} companies")


async def do_not_contact(page: Page, town: Town, hand: Hand) -> None:
    await hand.screen("Companies")
    await expect(rows(page).first).to_be_visible()
    await hand.press("j")
    await hand.press("d")
    await expect(rows(page).first).to_contain_text("Do not contact")


async def messy_list(page: Page, town: Town, hand: Hand) -> None:
    before = await town.value("SELECT count(*) FROM companies")
    lines = [
        f'"Tischlerei {n:03}, Söhne";+49 30 {2_000_000 + n};Berlin ;'
        f"{'' if n % 3 else f'INA.ABEL@t{n:03}.example'};{'keine' if n % 2 else 'Abel, Ina'}"
        for n in range(500)
    ]
    heading = "Firma;Telefon;Ort;E-Mail;Ansprechpartner"
    text = "\r\n".join([heading, *lines]).encode("cp1252")
    await hand.screen("Import")
    await hand.click(page.get_by_role("button", name="Import a list").first)
    dialog = page.get_by_role("dialog", name="Import a list")
    hand.count += 1
    await dialog.locator("input[type=file]").set_input_files(
        {"name": "leads.csv", "mimeType": "text/csv", "buffer": text}
    )
    await hand.click(dialog.get_by_role("button", name="Import leads.csv"))
    # The list is as it was when it was opened: matching, which makes the companies, is over.
    await until_companies(town, before + 500)
    await hand.click(page.get_by_role("link", name="View the companies"))
    await expect(counted(page)).to_have_text("500 companies")
    await page.go_back()
    await undo_the_import(page, town, before)


async def erase_a_person(page: Page, town: Town, hand: Hand) -> None:
    # Whoever has it open when it goes is told that it is gone.
    watch_of(page).forgive("404")
    await hand.screen("Contacts")
    row = rows(page).filter(has_text="@").first
    await expect(row).to_be_visible()
    email = await row.locator(".address").inner_text()
    await hand.click(row, position={"x": 60, "y": 8})
    pane = page.get_by_label("Details of one contact")
    await hand.click(pane.get_by_role("button", name="More"))
    await hand.click(page.get_by_role("menuitem", name="Erase this person's data"))
    await hand.click(page.get_by_role("dialog").get_by_role("button", name="Erase"))
    await expect(
        page.get_by_text("All data about this person is erased.")
    ).to_be_visible()
    for table in ("contacts", "companies"):
        query = f"SELECT count(*) FROM {table} AS one WHERE one::text ILIKE '%' || $1 || '%'"
        assert await town.value(query, email) == 0


async def undo_the_import(page: Page, town: Town, companies: int) -> None:
    """Undo the import that is shown, until there are as many companies as before."""
    await page.get_by_role("button", name="Undo the import").click()
    asked = page.get_by_role("dialog", name="Undo this import?")
    await asked.get_by_role("button", name="Undo the import").click()
    # The page also says "ready within a minute", before anything is undone.
    await expect(page.get_by_text("The import was undone:")).to_be_visible()
    await page.reload()
    undone = page.get_by_role("region", name="What was imported")
    await expect(undone).to_contain_text("This import was undone on")
    await expect(page.locator("main")).not_to_contain_text("ready within a minute")
    # Matching, which put the companies together, takes them away again.
    await until_companies(town, companies)


async def until_companies(town: Town, count: int) -> None:
    """Wait until there are as many companies."""
    async with asyncio.timeout(HUNG):
        while await town.value("SELECT count(*) FROM companies") != count:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.5)


async def test_numbers_and_addresses_were_cut_and_no_links(
    browser: Browser, town: Town
) -> None:
    for scheme, width in zip(("light", "dark", "light"), WIDTHS, strict=True):
        size = {"width": width, "height": 900}
        context = await a_context(
            browser, town.address, viewport=size, color_scheme=scheme
        )
        async with watched(context, town.address) as page:
            await page.goto("/curate/companies?filter=email_kind:equal:person")
            await expect(page.locator(".reach > .email").first).to_be_visible()
            assert await page.evaluate(CUT) == []
            phone, email = (
                page.locator(f".reach > {one}").first for one in (".number", ".email")
            )
            assert str(await phone.get_attribute("href")).startswith("tel:+")
            assert "@" in str(await email.get_attribute("href"))
            await expect(page.locator(".verdict").first).to_have_attribute(
                "title", "Deliverable"
            )
            # Whose it is, if it is not the person's beside it.
            await expect(page.locator(".whose").first).to_be_visible()
            await page.goto("/curate/contacts")
            await expect(page.locator(".grid-row .address").first).to_be_visible()
            assert await page.evaluate(CUT) == []
        await context.close()


async def test_a_number_of_the_map_was_said_to_stand_on_the_website(
    page: Page, town: Town
) -> None:
    seen = (
        "EXISTS (SELECT FROM contacts x JOIN contact_evidence e ON e.contact_id = x.id"
        " WHERE x.domain_id = c.domain_id AND e.field IN ('phone', 'mobile')"
        " AND e.value = c.phone)"
    )
    for condition, said in (
        (f"NOT {seen}", "From: Demo town"), (seen, "From: Demo town, Website"),
    ):  # fmt: skip
        company = await town.value(
            "SELECT c.id FROM companies c WHERE c.website IS NOT NULL"
            f" AND c.phone IS NOT NULL AND {condition} LIMIT 1"
        )
        await page.goto(f"/curate/companies?open={company}")
        line = page.locator(".lead-line").filter(has=page.locator("a[href^='tel:']"))
        await expect(line.locator(".faint")).to_have_text(said)


async def test_a_card_said_owner_twice_and_split_the_town(
    page: Page, town: Town
) -> None:
    company, code, city = (
        await town.run(
            "SELECT id, postal_code, city FROM companies"
            " WHERE decision_maker_reason = 'owner: Owner' AND street IS NOT NULL"
            " AND country IN ('GB', 'US') AND postal_code IS NOT NULL LIMIT 1"
        )
    )[0]
    await page.goto(f"/curate/companies?open={company}")
    card = page.locator(".lead-card")
    await expect(card.get_by_text("Decision maker: owner", exact=True)).to_be_visible()
    await expect(card).to_contain_text(f", {city} {code}")


MESSY = (
    "Firma;Telefon;Ort;E-Mail;Ansprechpartner;Bemerkung\n"
    "Tischlerei Abel;+49 30 2345678;Berlin;ina.abel@abel.example;Abel, Ina;=2+2\n"
    "Zimmerei Bader;keine;Bonn;info@bader.example;;ruft zurück"
)


async def test_an_import_says_what_it_kept_of_every_column_and_is_undone(
    page: Page, town: Town
) -> None:
    count = await town.value("SELECT count(*) FROM companies")
    await page.goto("/import")
    await page.get_by_role("button", name="Import a list").first.click()
    dialog = page.get_by_role("dialog", name="Import a list")
    await dialog.get_by_label("One per line").fill(MESSY)
    await dialog.get_by_role("button", name="Import 2 lines").click()
    kept = page.get_by_role("group", name="What was imported")
    # "keine" is no number, and nobody's name.
    for heading in MESSY.splitlines()[0].split(";"):
        line = kept.get_by_role("row").filter(has_text=heading)
        lines = "1" if heading in {"Ansprechpartner", "Telefon"} else "2"
        await expect(line).to_contain_text(lines)
    await expect(page.get_by_role("region", name="What was imported")).to_contain_text(
        "2 contacts, 2 domains, 1 person"
    )
    assert await violations(page) == []
    await page.get_by_role("link", name="View the companies").click()
    await expect(rows(page)).to_have_count(2)
    await expect(rows(page).filter(has_text="Abel")).to_contain_text(
        "ina.abel@abel.example"
    )
    await page.go_back()
    await page.get_by_role("link", name="All imports").click()
    await page.get_by_role("link", name="Pasted list").click()
    await undo_the_import(page, town, count)


async def test_a_phone_and_large_letters_left_no_room_for_rows(
    browser: Browser, town: Town
) -> None:
    for size, least in ((NARROW, 7), (LARGE_LETTERS, 3)):
        context = await a_context(browser, town.address, viewport=size)
        async with watched(context, town.address) as page:
            await page.goto("/curate/companies?filter=email_kind:equal:person")
            first = rows(page).first
            await expect(first).to_be_visible()
            assert await page.evaluate(IN_SIGHT) >= least
            await expect(first.get_by_role("link", name="Call +")).to_be_visible()
            await expect(first.get_by_role("link", name="Write to")).to_be_visible()
            assert await violations(page) == []
        await context.close()


async def test_every_state_of_the_lead_list_is_usable_by_everyone(
    browser: Browser, town: Town
) -> None:
    for scheme in ("light", "dark"):
        context = await a_context(browser, town.address, color_scheme=scheme)
        async with watched(context, town.address) as page:
            await page.goto("/curate/companies")
            await rows(page).first.locator(".strong").first.click()
            await expect(page.locator(".timeline li").first).to_be_visible()
            assert await violations(page) == []
            await page.keyboard.press("f")
            await expect(page.get_by_role("option").first).to_be_visible()
            assert await violations(page) == []
            await page.keyboard.press("Escape")
            await page.keyboard.press("Escape")
            await page.get_by_role("button", name="Map", exact=True).click()
            await expect(page.locator(".lead-dot").first).to_be_visible()
            assert await violations(page) == []
            for path in ("/home", "/results"):
                await page.goto(path)
                await expect(page.locator(".skeleton, .loading")).to_have_count(0)
                assert await violations(page) == []
        await context.close()


async def test_a_line_on_the_map_selects_what_is_inside(page: Page, town: Town) -> None:
    await page.goto("/curate/companies?view=map")
    await page.get_by_role("button", name="Select all in sight").click()
    everyone = await town.value(
        "SELECT count(*) FROM companies WHERE latitude IS NOT NULL"
    )
    actions = page.get_by_role("region", name="Actions for the selection")
    await expect(actions).to_contain_text(f"{everyone} selected")
    await page.get_by_role("button", name="Draw around leads").click()
    box = await page.locator(".map > svg").bounding_box()
    assert box is not None
    # The western half.
    corners = ((0.02, 0.02), (0.5, 0.02), (0.5, 0.98), (0.02, 0.98), (0.02, 0.1))
    (x, y), *others = [
        (box["x"] + across * box["width"], box["y"] + down * box["height"])
        for across, down in corners
    ]
    await page.mouse.move(x, y)
    await page.mouse.down()
    for x, y in others:
        await page.mouse.move(x, y, steps=6)
    await page.mouse.up()
    await expect(actions).not_to_contain_text(f"{everyone} selected")
    await expect(actions).to_contain_text("selected")


async def test_columns_are_moved_made_wider_and_kept_by_a_view_for_everybody(
    page: Page, town: Town
) -> None:
    await page.goto("/curate/companies?columns=name,phone,email,notes")
    heads = page.locator(".grid-head [role=columnheader]")
    head = heads.filter(has_text="E-mail").get_by_role("button")
    before = await heads.filter(has_text="E-mail").bounding_box()
    await head.press("Shift+ArrowRight")
    await head.press("Alt+ArrowLeft")
    await expect(heads.nth(2)).to_contain_text("E-mail")
    after = await heads.filter(has_text="E-mail").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["width"] - before["width"] - 16) <= 1
    await rows(page).first.get_by_role("button", name="Edit Notes").click()
    note = rows(page).first.get_by_role("textbox", name="Notes")
    await note.fill("Prefers mornings")
    await note.press("Enter")
    await expect(rows(page).first).to_contain_text("Prefers mornings")

    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("menuitem", name="Save view").click()
    dialog = page.get_by_role("dialog", name="Save view")
    await dialog.get_by_label("Name").fill("Calls")
    await dialog.get_by_label("For everybody").check()
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("link", name="Calls")).to_be_visible()
    await page.goto("/rules")
    await page.get_by_role("link", name="Calls").click()
    await expect(heads.nth(2)).to_contain_text("E-mail")
    kept = await town.value("SELECT query->'columns' FROM saved_views WHERE is_shared")
    assert "phone" in kept
    assert "email:" in kept
