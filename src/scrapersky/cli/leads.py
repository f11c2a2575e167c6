"""`scrapersky leads`."""

from datetime import date
from pathlib import Path
from typing import Annotated
from uuid import UUID

from cyclopts import Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.records.export import export_bytes, read_export
from scrapersky.api.records.list_query import ListQuery, read_sort
from scrapersky.api.records.query import read_filters
from scrapersky.cli.export import form_of, write_to
from scrapersky.cli.options import AsJson, PathOrStream
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import print_done
from scrapersky.companies.matching import match_tenant
from scrapersky.configuration import load_settings
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.export.contacts import STANDARD_OUTPUT
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records.company import COMPANIES, NAMED_PERSON, NO_WEBSITE
from scrapersky.records.status import LeadStatus

Flag = Annotated[bool, Parameter(negative=())]


def leads(
    *,
    out: PathOrStream = Path("leads.csv"),
    search: UUID | None = None,
    named_person: Flag = False,
    no_website: Flag = False,
    since: date | None = None,
    status: LeadStatus | None = None,
    q: str | None = None,
    sort: str = "-confidence",
    preset: str = "leads",
    json: AsJson = False,
) -> int:
    """Write the lead list: one row per company, with whom to talk to and how.

    `scrapersky leads --named-person --since 2026-11-01 --out leads.xlsx` writes companies first
    seen since then of which a named person's e-mail is known. Who must not be
    contacted is left out.

    Parameters
    ----------
    out
        The file; its ending says the form: .csv, .xlsx or .jsonl. - is standard output,
        as CSV.
    search
        Only companies that this search found, by its ID.
    named_person
        Only those of which a named person's e-mail address is known.
    no_website
        Only those without a website.
    since
        Only those first seen on this day or later: 2026-11-01.
    status
        Only those of this status; without it all but Do Not Contact.
    q
        Only those that have all these words.
    sort
        A field to sort by; with - before it the other way round.
    preset
        The columns: leads, or those of a CRM: hubspot, salesforce or pipedrive.
    """
    form = form_of(out)
    plan = read_export(COMPANIES, form, "", preset)
    asked = conditions(
        search=search,
        named_person=named_person,
        no_website=no_website,
        since=since,
        status=status,
    )

    async def act(engine: AsyncEngine) -> None:
        await load_suppression_keys(
            engine, **load_settings().settings.suppression_secrets
        )
        tenant_id = await default_tenant(engine)
        await match_tenant(engine, tenant_id)
        list_query = ListQuery(
            tenant_id=tenant_id,
            conditions=asked,
            words=q,
            sort=read_sort(COMPANIES, sort),
        )
        await write_to(out, await export_bytes(engine, COMPANIES, list_query, plan))

    on_database(act)
    if str(out) != STANDARD_OUTPUT:
        facts = {"file": out, "bytes": out.stat().st_size}
        print_done(f"Written to {out}.", facts, as_json=json)
    return 0


def conditions(
    *,
    search: UUID | None,
    named_person: bool,
    no_website: bool,
    since: date | None,
    status: LeadStatus | None,
) -> tuple[Condition, ...]:
    """Write what is asked for in words as the filters of the list."""
    found = []
    if search is not None:
        found.append(Condition(field="search_id", value=str(search)))
    if named_person:
        found.extend(read_filters([NAMED_PERSON.filter]))
    if no_website:
        found.extend(read_filters([NO_WEBSITE.filter]))
    if since is not None:
        day = f"{since.isoformat()}T00:00:00Z"
        at_least = Comparison.AT_LEAST
        found.append(Condition(field="first_seen_at", comparison=at_least, value=day))
    is_equal = Comparison.EQUAL if status else Comparison.NOT_EQUAL
    wanted = status or LeadStatus.DO_NOT_CONTACT
    found.append(
        Condition(field="lead_status", comparison=is_equal, value=wanted.value)
    )
    return tuple(found)
