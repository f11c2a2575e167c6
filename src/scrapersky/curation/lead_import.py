"""What people bring: every value of an imported line is a lead's at once, with its origin.

A line becomes a business, and where it names a website or an address of a company, the
contacts and the person there. What is known already is kept, and only what was unknown is
filled in. All of it is one action, which is undone whole, but for companies that people have
worked on since.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.email_quality import judge_email
from contact_extraction.person_card import STANDING
from contact_extraction.seniority import seniority_of
from contact_extraction.text import name_key
from scrapersky.curation.action import (
    ActionResult,
    ActionRow,
    keep_counts,
    open_action,
)
from scrapersky.curation.imported_line import ImportedLine
from scrapersky.curation.own_value import ColumnOfOwn, columns_of_own, split_cells
from scrapersky.kit.json_text import json_text
from scrapersky.privacy.suppression_filter import SuppressionFilter, suppressions
from scrapersky.records import CURATED
from scrapersky.records.audit import Actor
from scrapersky.records.change import log_as_part_of
from scrapersky.records.contact import BY_HAND
from scrapersky.records.curation import ActionType
from scrapersky.records.status import LeadStatus

ACTION_OF: Final = text(
    f"""SELECT id, changed_count, undone_at FROM curation_actions
    WHERE tenant_id = :tenant AND what = '{ActionType.IMPORTED}'
      AND selection->>'search_id' = :search
      AND created_at >= (SELECT created_at FROM place_searches
        WHERE id = CAST(:search AS uuid))
    ORDER BY created_at DESC LIMIT 1"""  # noqa: S608 - our own labels
)
PLACES: Final = text(
    """SELECT id, source_place_id, created_at >= now() AS is_new
    FROM places_staging WHERE tenant_id = :tenant AND source = :source
      AND source_place_id = ANY(:ids)"""
)
DOMAINS: Final = text(
    """INSERT INTO domains (tenant_id, created_by, domain, home_url)
    SELECT CAST(:tenant AS uuid), CAST(:user AS uuid), d, 'https://' || d || '/'
    FROM unnest(CAST(:names AS text[])) AS d ORDER BY d
    ON CONFLICT (tenant_id, domain) DO UPDATE SET domain = excluded.domain
    RETURNING id, domain, xmax = 0 AS is_new"""
)
BUSINESSES: Final = text(
    """INSERT INTO local_businesses AS b (tenant_id, created_by, place_id, domain_id, name, street,
      city, region, postal_code, country, phone, website, categories, rating, reviews_count,
      latitude, longitude, attributes, links)
    SELECT CAST(:tenant AS uuid), CAST(:user AS uuid), place_id, domain_id, name, street,
      city, region, postal_code, country, phone, website, coalesce(categories, '{}'),
      rating, reviews_count, latitude, longitude, coalesce(attributes, '{}'),
      coalesce(links, '{}')
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(place_id uuid, domain_id uuid,
      name text, street text, city text, region text, postal_code text, country text,
      phone text, website text, categories text[], rating float8, reviews_count bigint,
      latitude float8, longitude float8, attributes jsonb, links text[])
    ON CONFLICT (tenant_id, place_id) DO UPDATE SET attributes = b.attributes
      || excluded.attributes || CASE WHEN b.attributes->>'known_values' = 'replaced'
        THEN jsonb_build_object('known_values', 'replaced') ELSE '{}' END, """  # noqa: S608 - our own columns
    + ", ".join(
        f"{name} = CASE WHEN excluded.attributes->>'known_values' = 'replaced'"
        f" THEN coalesce(excluded.{name}, b.{name}) ELSE b.{name} END"
        for name in ("name", "street", "city", "region", "postal_code", "country",
                     "phone", "website", "domain_id")
    )
    + " RETURNING id, xmax = 0 AS is_new"
)  # fmt: skip
CONTACTS: Final = """INSERT INTO contacts AS c (tenant_id, created_by, domain_id, email,
      email_type, name, role, phone, phones, confidence)
    SELECT CAST(:tenant AS uuid), CAST(:user AS uuid), domain_id, email,
      CAST(email_type AS contact_email_type), name, role, phone,
      CASE WHEN phone IS NULL THEN '{{}}' ELSE jsonb_build_object(phone, 'imported') END, 1
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(domain_id uuid, email text,
      email_type text, name text, role text, phone text)
    ON CONFLICT (domain_id, {key}) WHERE {where} DO UPDATE SET
      name = coalesce(c.name, excluded.name), role = coalesce(c.role, excluded.role),
      phone = coalesce(c.phone, excluded.phone)
    RETURNING id, domain_id, email, phone, xmax = 0 AS is_new"""
BY_EMAIL: Final = text(CONTACTS.format(key="email", where="(email IS NOT NULL)"))
BY_PHONE: Final = text(CONTACTS.format(key="phone", where="(email IS NULL)"))
EVIDENCE: Final = text(
    f"""INSERT INTO contact_evidence (tenant_id, created_by, contact_id, field, value, url,
      snippet, method, confidence, seen_at)
    SELECT CAST(:tenant AS uuid), CAST(:user AS uuid), contact_id, field, value, '', snippet,
      '{BY_HAND}', 1, clock_timestamp()
    FROM jsonb_to_recordset(CAST(:rows AS jsonb))
      AS r(contact_id uuid, field text, value text, snippet text)
    ON CONFLICT DO NOTHING"""  # noqa: S608 - our own labels
)
PEOPLE: Final = text(
    """INSERT INTO people AS p (tenant_id, created_by, domain_id, name, name_key, role,
      seniority, email, phone, confidence, standing, standing_reason, evidence)
    SELECT CAST(:tenant AS uuid), CAST(:user AS uuid), domain_id, name, name_key, role,
      CAST(seniority AS seniority), email, NULL, 1, standing, standing_reason, evidence
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(domain_id uuid, name text,
      name_key text, role text, seniority text, email text, standing float8,
      standing_reason text, evidence jsonb)
    ON CONFLICT (domain_id, name_key) DO UPDATE SET role = coalesce(p.role, excluded.role),
      email = coalesce(p.email, excluded.email),
      evidence = p.evidence || CASE WHEN p.evidence @> excluded.evidence
        THEN '[]'::jsonb ELSE excluded.evidence END
    RETURNING id, xmax = 0 AS is_new"""
)
NOTE: Final = text(
    """INSERT INTO curation_changes (action_id, record_id, tenant_id, queued, after)
    SELECT CAST(:action AS uuid), r, CAST(:tenant AS uuid), false,
      jsonb_build_object('kind', CAST(:kind AS text))
    FROM unnest(CAST(:ids AS uuid[])) AS r ON CONFLICT DO NOTHING"""
)


REPLACES_KNOWN: Final = "replaces_known"
"""The parameter of a search that says what becomes of known values."""
HEADINGS: Final = "headings"
"""The one that keeps how a file calls its columns, by what they are here."""


async def keep_import(
    connection: AsyncConnection,
    actor: Actor,
    search_id: UUID,
    source: str,
    lines: Sequence[ImportedLine],
) -> None:
    """Keep all that some lines of a file say, in the transaction that keeps their places."""
    if not lines:
        return
    whose = {"tenant": actor.tenant_id, "user": actor.user_id}
    action_id, made_before = await open_import(connection, actor, search_id)
    guard = await suppressed_in(connection, actor, lines)
    ids = [line.source_place_id for line in lines]
    found = await connection.execute(PLACES, {**whose, "source": source, "ids": ids})
    places = {row.source_place_id: row for row in found}
    hosts = {line.host for line in lines if line.host}
    names = sorted(host for host in hosts if not guard.hides_domain(host))
    stored = await connection.execute(DOMAINS, {**whose, "names": names})
    domains = {row.domain: row for row in stored}
    read = [
        (line, places[line.source_place_id].id, id_of(domains.get(line.host or "")))
        for line in lines
        if line.source_place_id in places
    ]
    sites = [(line, domain) for line, _, domain in read if domain is not None]
    columns = await columns_of_own(connection, actor.tenant_id)
    businesses = guard.clean([business_of(*one, columns) for one in read])
    people = [row for one in sites for row in person_of(*one) if may_stay(row, guard)]
    made = {
        "places": [row.id for row in places.values() if row.is_new],
        "domains": [row.id for row in domains.values() if row.is_new],
        "businesses": await keep_rows(connection, BUSINESSES, whose, businesses),
        "contacts": await keep_contacts(connection, whose, guard, sites),
        "people": await keep_rows(
            connection, PEOPLE, whose, one_each(people, "name_key")
        ),
    }
    for kind, new in made.items():
        values = {"action": action_id, "tenant": actor.tenant_id, "kind": kind}
        await connection.execute(NOTE, {**values, "ids": new})
    count = made_before + sum(map(len, made.values()))
    await keep_counts(connection, ActionResult(count, action_id=action_id))


def id_of(row: Any) -> UUID | None:  # noqa: ANN401 - a row, or none
    """Return the id of a row, if there is one."""
    return row.id if row is not None else None


async def suppressed_in(
    connection: AsyncConnection, actor: Actor, lines: Sequence[ImportedLine]
) -> SuppressionFilter:
    """Ask the list about everything these lines say."""
    data = [
        [*line.facts.emails, *line.facts.phones, line.facts.attributes]
        for line in lines
    ]
    hosts = {line.host for line in lines if line.host}
    people = [(line.person, line.host) for line in lines if line.person and line.host]
    return await suppressions(
        connection, actor.tenant_id, data, domains=hosts, people=people
    )


def may_stay(row: Mapping[str, Any], guard: SuppressionFilter) -> bool:
    """Say whether somebody is on no list."""
    return not guard.hides_person(row["name"], row["host"]) and not (
        row["email"] and guard.hides_email(row["email"])
    )


def business_of(
    line: ImportedLine,
    place_id: UUID,
    domain_id: UUID | None,
    columns: Mapping[str, ColumnOfOwn],
) -> dict[str, Any]:
    """Write the business of a line, and what no column of ours is for."""
    facts = line.facts
    own, extra = split_cells(facts.attributes.get("extra") or {}, columns)
    if domain_id is None:
        # A contact belongs to a website: without one, the company itself has it.
        named = {
            "E-mail": ", ".join(facts.emails),
            "Person": line.person,
            "Role": line.role,
        }
        extra |= {name: value for name, value in named.items() if value}
    elif line.role and not line.person:
        extra["Role"] = line.role
    attributes = {
        **facts.attributes,
        "extra": extra,
        "origin": line.origin,
        "known_values": line.known_values.value,
    }
    if own:
        attributes["own"] = own
    if facts.emails:
        attributes["emails"] = [*facts.emails]
    if facts.phones:
        attributes["phones"] = [*facts.phones]
    return {
        "place_id": place_id,
        "domain_id": domain_id,
        **{name: getattr(facts, name) for name in COPIED},
        "categories": [*facts.categories],
        "links": [*facts.links],
        "attributes": attributes,
    }


COPIED: Final = (
    "name", "street", "city", "region", "postal_code", "country", "phone", "website",
    "rating", "reviews_count", "latitude", "longitude",
)  # fmt: skip


async def keep_contacts(
    connection: AsyncConnection,
    whose: Mapping[str, Any],
    guard: SuppressionFilter,
    sites: Sequence[tuple[ImportedLine, UUID]],
) -> list[UUID]:
    """Keep the addresses and numbers of lines, each with its origin; return the new ones."""
    made: list[UUID] = []
    for statement, key in ((BY_EMAIL, "email"), (BY_PHONE, "phone")):
        rows = [
            row
            for line, domain in sites
            for row in contacts_of(line, domain)
            if bool(row["email"]) == (key == "email")
        ]
        clean = [row for row in guard.clean(rows) if row.get(key)]
        wanted = one_each(clean, key)
        if not wanted:
            continue
        values = {**whose, "rows": json_text(wanted)}
        stored = (await connection.execute(statement, values)).all()
        made += [row.id for row in stored if row.is_new]
        ids = {(row.domain_id, getattr(row, key)): row.id for row in stored}
        seen = [
            {"contact_id": ids[row["domain_id"], row[key]], "field": name,
             "value": row[name], "snippet": row["origin"]}
            for row in clean
            for name in ("email", "phone", "name", "role")
            if row.get(name) and (row["domain_id"], row[key]) in ids
        ]  # fmt: skip
        await connection.execute(EVIDENCE, {**whose, "rows": json_text(seen)})
    return made


def contacts_of(line: ImportedLine, domain_id: UUID) -> Iterator[dict[str, Any]]:
    """Yield the ways to reach a company that a line names."""
    phone = line.facts.phone
    shared = {"domain_id": domain_id, "origin": line.origin}
    for email in line.facts.emails:
        is_theirs = line.is_persons(email)
        yield {
            **shared,
            "email": email.lower(),
            "email_type": judge_email(email).type.value,
            "name": line.person if is_theirs else None,
            "role": line.role if is_theirs else None,
            "phone": phone,
        }
    if not line.facts.emails and phone:
        nobody = {"email": None, "email_type": "UNKNOWN", "name": None, "role": None}
        yield {**shared, **nobody, "phone": phone}


def person_of(line: ImportedLine, domain_id: UUID) -> Iterator[dict[str, Any]]:
    """Yield whom a line names."""
    if not line.person or not (key := name_key(line.person)):
        return
    seniority = seniority_of(line.role)
    own = [one for one in line.facts.emails if line.is_persons(one)]
    yield {
        "domain_id": domain_id,
        "host": line.host or "",
        "name": line.person,
        "name_key": key,
        "role": line.role,
        "seniority": seniority.value if seniority else None,
        "email": own[0].lower() if own else None,
        "standing": STANDING[seniority],
        "standing_reason": f"{line.role or 'named'}, {line.origin}",
        "evidence": [
            {
                "url": "",
                "snippet": line.origin,
                "method": BY_HAND,
                "robots": None,
                "seen_at": None,
            }
        ],
    }


def one_each(rows: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return the first row of each website and key: a statement writes no row twice."""
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row["domain_id"], row[key]), row)
    return [*found.values()]


async def keep_rows(
    connection: AsyncConnection,
    statement: TextClause,
    whose: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
) -> list[UUID]:
    """Store rows; return the ids of those that are new."""
    if not rows:
        return []
    result = await connection.execute(statement, {**whose, "rows": json_text([*rows])})
    return [row.id for row in result if row.is_new]


async def open_import(
    connection: AsyncConnection, actor: Actor, search_id: UUID
) -> tuple[UUID, int]:
    """Open the action of an import, or go on with it; return it and what it has made so far.

    It keeps which records an import has made: what its undo takes away.
    """
    action = await import_action(connection, actor.tenant_id, search_id)
    if action is not None and action.undone_at is None:
        await log_as_part_of(connection, action.id)
        return action.id, action.changed_count
    opened = await open_action(
        connection,
        actor,
        CURATED["places"],
        ActionType.IMPORTED,
        selection={"search_id": str(search_id)},
    )
    return opened, 0


async def import_action(
    connection: AsyncConnection, tenant_id: UUID, search_id: UUID
) -> Row[Any] | None:
    """Return the latest action of an import: its id, what it made, when it was undone."""
    asked = {"tenant": tenant_id, "search": str(search_id)}
    return (await connection.execute(ACTION_OF, asked)).one_or_none()


# Companies that somebody has worked on keep all that is theirs.
IS_WORKED: Final = (
    f"""(c.worked_at IS NOT NULL OR c.lead_status <> '{LeadStatus.NEW}')"""
)
KEPT_SITE: Final = f"""NOT EXISTS (SELECT FROM companies c
      WHERE c.domain_id = r.{{}} AND {IS_WORKED})"""
KEPT_PLACE: Final = f"""NOT EXISTS (SELECT FROM company_members m
      JOIN companies c ON c.id = m.company_id
      WHERE m.place_id = r.{{}} AND {IS_WORKED})"""
TAKE_AWAY: Final = (
    ("contacts", "contacts", KEPT_SITE.format("domain_id")),
    ("people", "people", KEPT_SITE.format("domain_id")),
    ("businesses", "local_businesses", KEPT_PLACE.format("place_id")),
    ("places", "places_staging", KEPT_PLACE.format("id")),
    ("domains", "domains", KEPT_SITE.format("id")  # noqa: S608 - our own labels
      + """ AND NOT EXISTS (SELECT FROM local_businesses b WHERE b.domain_id = r.id)
      AND NOT EXISTS (SELECT FROM contacts x WHERE x.domain_id = r.id)"""),
)  # fmt: skip
"""In which order records of an import are taken away, their tables, and which of them go."""
SLICE_ROWS: Final = 500
"""Records that one transaction takes away: an import may have made a hundred thousand."""
NO_ID: Final = UUID(int=0)


class ImportCursor(NamedTuple):
    """How far the undo of an import is: in which kind, and after which record."""

    kind: int = 0
    last: UUID = NO_ID


async def restore_import(
    connection: AsyncConnection, action: ActionRow, *, after: ImportCursor
) -> tuple[ActionResult, ImportCursor | None]:
    """Take away some of what an import has made; None when there is no more.

    Companies that people work on keep what is theirs.
    """
    kind, table, condition = TAKE_AWAY[after.kind]
    statement = text(
        f"""WITH slice AS MATERIALIZED (SELECT record_id FROM curation_changes
          WHERE action_id = :action AND after->>'kind' = :kind AND record_id > :last
          ORDER BY record_id LIMIT {SLICE_ROWS}),
        gone AS (DELETE FROM {table} r USING slice WHERE r.id = slice.record_id
          AND {condition} RETURNING r.id)
        SELECT (SELECT count(*) FROM slice) AS seen, (SELECT count(*) FROM gone) AS gone,
          (SELECT max(CAST(record_id AS text)) FROM slice) AS last"""  # noqa: S608 - our own tables
    )
    values = {"action": action.id, "kind": kind, "last": after.last}
    found = (await connection.execute(statement, values)).one()
    left = found.seen - found.gone
    step = ActionResult(
        found.gone, 0, {"changed again since": left} if left else {}, action.id
    )
    if found.seen == SLICE_ROWS:
        return step, ImportCursor(after.kind, UUID(found.last))
    following = after.kind + 1
    return step, ImportCursor(following) if following < len(TAKE_AWAY) else None
