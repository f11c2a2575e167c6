"""The routes that every kind of record has, made once for all of them."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import (
    BulkEngine,
    ChunkedConnection,
    Curator,
    Exporter,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.field import RecordIds
from scrapersky.api.records.answer import as_dicts, json_answer
from scrapersky.api.records.attachment import A_FILE, Attachment
from scrapersky.api.records.budget import budget_beside, budget_set
from scrapersky.api.records.decide import set_status
from scrapersky.api.records.detail import answer_with, record_of
from scrapersky.api.records.export import ExportPlan, export_bytes, read_export
from scrapersky.api.records.export_count import ExportCount, count_export
from scrapersky.api.records.facet import (
    count_values,
    describe_fields,
    describe_own,
    read_facets,
)
from scrapersky.api.records.history import history_of
from scrapersky.api.records.list_query import CursorPosition, ListQuery
from scrapersky.api.records.listing import read_page
from scrapersky.api.records.open_export import Exports, OpenExports
from scrapersky.api.records.people import people_beside
from scrapersky.api.records.query import (
    ListParameters,
    ListRequest,
    RecordFilter,
    SortedRecordFilter,
    list_query_of,
)
from scrapersky.api.records.schema import (
    Detail,
    ExportFormat,
    Facets,
    FieldOut,
    RecordHistory,
    StatusIn,
    StatusOut,
    record_model,
)
from scrapersky.api.schema import CONFLICT, NOT_FOUND, REFUSALS, ListOut, RequestModel
from scrapersky.api.tenancy import allow_generic_plans, bypass_rls
from scrapersky.api.time_list import cursor_key
from scrapersky.companies.own_column import own_columns
from scrapersky.compat.fastapi import RouterBelow
from scrapersky.curation.clause import OWN
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.kit.cursor import read_cursor, write_cursor
from scrapersky.records.kind import Kind

BASE: Final = "/api/v3"


class FacetsAsked(RecordFilter):
    """Of which fields the values are counted."""

    field: str = Field("", max_length=500, description="Fields, separated by commas.")
    words: str = Field(
        "",
        max_length=100,
        description="Only values that have these words, as people read them.",
    )


class ChosenIn(RequestModel):
    """Records that somebody has chosen one by one."""

    ids: RecordIds = Field(min_length=1)


class ExportAsked(SortedRecordFilter):
    """Which records, which columns, in which form."""

    format: ExportFormat = "csv"
    columns: str = Field(
        "", max_length=2_000, description="Columns, separated by commas; none: all."
    )
    preset: str = Field(
        "",
        max_length=50,
        description="The columns of a CRM, for contacts and companies; for companies"
        " also `leads`, under headings that people read.",
    )


def address_of(resource: Kind) -> str:
    """Return the address of a kind of record."""
    return f"{BASE}{resource.path}"


def add_listing(router: RouterBelow, resource: Kind) -> None:
    """Add the list and what goes with it: fields and facets."""
    shape = record_model(resource)
    many, noun, path = resource.name, resource.singular, address_of(resource)
    words = noun.replace("_", " ")

    @router.get_directly(
        path,
        operation_id=f"list_{many}",
        summary=f"List {many.replace('_', ' ')}",
        response_model=ListOut[shape],  # type: ignore[valid-type]
        responses=REFUSALS,
    )
    async def list_records(
        request: Request, who: Reader, connection: Transaction, asked: ListParameters
    ) -> Response:
        """List records: filtered, sorted, page by page, with how many there are."""
        list_query = list_query_of(who, resource, asked)
        return await answer_page(request, connection, resource, list_query, asked)

    @router.get(
        f"{path}/fields",
        operation_id=f"list_{noun}_fields",
        summary=f"List the fields of a {words}",
        responses=REFUSALS,
    )
    async def list_fields(who: Reader, connection: Transaction) -> list[FieldOut]:
        """Report what lists can be filtered and sorted by."""
        fields = describe_fields(resource)
        if OWN in resource.fields:
            fields += describe_own(await own_columns(connection, who.tenant_id))
        return fields

    @router.get(
        f"{path}/facets",
        operation_id=f"count_{noun}_values",
        summary=f"Count the values of {many.replace('_', ' ')}",
        responses=REFUSALS,
    )
    async def list_facets(
        request: Request,
        who: Reader,
        connection: Transaction,
        asked: Annotated[FacetsAsked, Query()],
    ) -> Facets:
        """Count the most frequent values of fields that have few."""
        names = read_facets(resource, asked.field)
        list_query = list_query_of(who, resource, asked)
        with bypass_rls(needed=request.app.state.is_slow_under_policies):
            return await count_values(
                connection, resource, list_query, names, asked.words
            )


def add_exports(router: RouterBelow, resource: Kind) -> None:
    """Add the files of a list: all that it shows, or chosen records."""
    many, path = resource.name, address_of(resource)

    @router.get(
        f"{path}/export",
        operation_id=f"export_{many}",
        summary=f"Export {many.replace('_', ' ')}",
        response_class=StreamingResponse,
        responses=A_FILE | REFUSALS,
    )
    async def export_records(
        who: Exporter,
        engine: BulkEngine,
        exports: Exports,
        asked: Annotated[ExportAsked, Query()],
    ) -> StreamingResponse:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        list_query = list_query_of(who, resource, asked)
        plan = read_export(resource, asked.format, asked.columns, asked.preset)
        return await sent_as_file(exports, who, engine, (resource, list_query), plan)

    @router.get(
        f"{path}/export/count",
        operation_id=f"count_export_of_{many}",
        summary=f"Count an export of {many.replace('_', ' ')}",
        responses=REFUSALS,
    )
    async def count_rows(
        who: Exporter, connection: Transaction, asked: Annotated[RecordFilter, Query()]
    ) -> ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        list_query = list_query_of(who, resource, asked)
        return await count_export(connection, resource, list_query)

    @router.post(
        f"{path}/export/chosen",
        operation_id=f"export_chosen_{many}",
        summary=f"Export chosen {many.replace('_', ' ')}",
        response_class=StreamingResponse,
        responses=A_FILE | REFUSALS,
    )
    async def export_chosen(
        who: Exporter,
        engine: BulkEngine,
        exports: Exports,
        asked: Annotated[ExportAsked, Query()],
        chosen: ChosenIn,
    ) -> StreamingResponse:
        """Export records by their ids: more of them than fit into an address."""
        list_query = only(chosen, list_query_of(who, resource, asked))
        plan = read_export(resource, asked.format, asked.columns, asked.preset)
        return await sent_as_file(exports, who, engine, (resource, list_query), plan)

    @router.post(
        f"{path}/export/chosen/count",
        operation_id=f"count_chosen_{many}",
        summary=f"Count chosen {many.replace('_', ' ')}",
        responses=REFUSALS,
    )
    async def count_chosen(
        who: Exporter,
        connection: Transaction,
        asked: Annotated[RecordFilter, Query()],
        chosen: ChosenIn,
    ) -> ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        list_query = only(chosen, list_query_of(who, resource, asked))
        return await count_export(connection, resource, list_query)


async def sent_as_file(
    exports: OpenExports,
    who: Identity,
    engine: AsyncEngine,
    listed: tuple[Kind, ListQuery],
    plan: ExportPlan,
) -> Attachment:
    """Begin to send a list as a file; raise what is wrong with it before that."""
    resource, list_query = listed
    with exports.begun(who) as export:
        body = await export_bytes(engine, resource, list_query, plan, exports.turns)
        name = resource.name.replace("_", "-")
        return Attachment(name, plan.format, export, body)


def only(chosen: ChosenIn, list_query: ListQuery) -> ListQuery:
    """Narrow a list to the records that somebody has chosen."""
    ids = Condition(
        field="id",
        comparison=Comparison.ONE_OF,
        value=[str(one) for one in chosen.ids],
    )
    return replace(list_query, conditions=(*list_query.conditions, ids))


def add_detail(router: RouterBelow, resource: Kind) -> None:
    """Add one record with its evidence and what belongs to it."""
    shape = record_model(resource)
    noun, path = resource.singular, address_of(resource)
    words = noun.replace("_", " ")

    @router.get_directly(
        f"{path}/{{record_id}}",
        operation_id=f"read_{noun}",
        summary=f"Read one {words}",
        response_model=Detail[shape],  # type: ignore[valid-type]
        responses=REFUSALS | NOT_FOUND,
    )
    async def read_record(
        who: Reader,  # noqa: ARG001 - checked
        request: Request,
        connection: Transaction,
        record_id: UUID,
    ) -> Response:
        """Read a record with its evidence and what belongs to it."""
        with allow_generic_plans():
            row = await record_of(connection, resource, record_id)
            people = await people_beside(
                connection,
                resource,
                row,
                may_suggest=request.app.state.settings.people_suggest_addresses,
            )
            more = {"people": [person.model_dump() for person in people]}
            if resource.has_site_budget:
                default = budget_set(request)
                more["budget"] = await budget_beside(connection, row, default)
            return await answer_with(connection, resource, row, more)


def add_history(router: APIRouter, resource: Kind) -> None:
    """Add what happened to one record."""
    noun, path = resource.singular, address_of(resource)
    words = noun.replace("_", " ")

    @router.get(
        f"{path}/{{record_id}}/history",
        operation_id=f"read_{noun}_history",
        summary=f"Read what happened to a {words}",
        responses=REFUSALS | NOT_FOUND,
    )
    async def read_history(
        who: Reader,
        connection: Transaction,
        record_id: UUID,
    ) -> RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        await record_of(connection, resource, record_id)
        return RecordHistory(
            events=await history_of(connection, who.tenant_id, resource, record_id)
        )


def add_deciding(router: APIRouter, resource: Kind) -> None:
    """Add the setting of a status."""
    many = resource.name

    @router.post(
        f"{address_of(resource)}/status",
        operation_id=f"set_{resource.singular}_status",
        summary=f"Set the status of {many.replace('_', ' ')}",
        responses=REFUSALS | CONFLICT,
    )
    async def decide_records(
        request: Request, who: Curator, connection: ChunkedConnection, asked: StatusIn
    ) -> StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return await set_status(connection, actor_of(who, request), resource, asked)


async def answer_page(
    request: Request,
    connection: Transaction,
    resource: Kind,
    list_query: ListQuery,
    asked: ListRequest,
) -> Response:
    """Read one page of a list and write its cursor."""
    key, scope = cursor_key(request), list_query.scope(resource)
    after = None
    if asked.cursor is not None:
        column = resource.order_of(list_query.sort.field)
        after = CursorPosition.from_json(read_cursor(key, scope, asked.cursor), column)
    with (
        bypass_rls(needed=request.app.state.is_slow_under_policies),
        nullcontext() if list_query.is_narrowed else allow_generic_plans(),
    ):
        page = await read_page(
            connection,
            resource,
            list_query,
            limit=asked.limit,
            after=after,
            plans=request.app.state.plans,
        )
    following = write_cursor(key, scope, page.next.to_json()) if page.next else None
    total = {"count": page.estimate.count, "is_exact": page.estimate.is_exact}
    return json_answer(
        {"items": as_dicts(page.rows), "next_cursor": following, "total": total}
    )
