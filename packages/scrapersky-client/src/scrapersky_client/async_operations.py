"""The operations of the API as methods of an asynchronous client.

Made by ./check --regenerate from the description of the API.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, cast

from scrapersky_client import models
from scrapersky_client.request import FileContent, RequestParts


class AsyncOperations:
    """Every operation of the API; a subclass says how a request is sent."""

    async def _json(self, parts: RequestParts) -> Any:
        raise NotImplementedError

    def _download(self, parts: RequestParts) -> AsyncIterator[bytes]:
        raise NotImplementedError

    async def list_actions(
        self,
        *,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutActionOut:
        """List what was done, the latest first."""
        return cast(
            "models.ListOutActionOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/actions",
                    query={"kind": kind, "limit": limit, "cursor": cursor},
                )
            ),
        )

    async def read_action(self, action_id: str) -> models.ActionOut:
        """Report how far an action is, or what it came to."""
        return cast(
            "models.ActionOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/actions/{action_id}", path={"action_id": action_id}
                )
            ),
        )

    async def undo_action(self, action_id: str) -> models.UndoneOut:
        """Give every record back what it had, unless it has moved on since.

        Decisions, work on companies and merges of companies are all undone so.
        """
        return cast(
            "models.UndoneOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/actions/{action_id}/undo",
                    path={"action_id": action_id},
                )
            ),
        )

    async def list_alerts(self, *, over: bool | None = None) -> list[models.AlertOut]:
        """List what is wrong, the latest first; looked at once a minute by one process."""
        return cast(
            "list[models.AlertOut]",
            await self._json(
                RequestParts("GET", "/api/v3/alerts", query={"over": over})
            ),
        )

    async def list_api_keys(self) -> models.ListOutKeyOut:
        """List the tenant's keys, the newest first; their secrets are not kept."""
        return cast(
            "models.ListOutKeyOut",
            await self._json(RequestParts("GET", "/api/v3/api-keys")),
        )

    async def create_api_key(self, body: models.KeyIn) -> models.KeyMade:
        """Make a key; the answer is the only time its secret is shown."""
        return cast(
            "models.KeyMade",
            await self._json(RequestParts("POST", "/api/v3/api-keys", body=body)),
        )

    async def revoke_api_key(self, key_id: str) -> None:
        """Revoke a key, at once in this process, within seconds in others."""
        await self._json(
            RequestParts("DELETE", "/api/v3/api-keys/{key_id}", path={"key_id": key_id})
        )

    async def list_assignees(self) -> list[models.AssigneeOut]:
        """List the people of your tenant."""
        return cast(
            "list[models.AssigneeOut]",
            await self._json(RequestParts("GET", "/api/v3/assignees")),
        )

    async def list_audit(
        self,
        *,
        filter: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutAuditOut:
        """List the actions of your tenant, the latest first."""
        return cast(
            "models.ListOutAuditOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/audit",
                    query={"filter": filter, "limit": limit, "cursor": cursor},
                )
            ),
        )

    async def list_batches(
        self,
        *,
        kind: Literal["domains", "sitemaps", "pages"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutBatchOut:
        """List the batches, the latest first."""
        return cast(
            "models.ListOutBatchOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/batches",
                    query={"kind": kind, "limit": limit, "cursor": cursor},
                )
            ),
        )

    async def create_batch(self, body: models.BatchIn) -> models.BatchSubmissionOut:
        """Submit lines together; a bad or known one is reported and fails nothing else."""
        return cast(
            "models.BatchSubmissionOut",
            await self._json(RequestParts("POST", "/api/v3/batches", body=body)),
        )

    async def read_batch(
        self,
        batch_id: str,
        *,
        state: Literal["queued", "processing", "done", "failed", "skipped", "refused"]
        | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.BatchDetail:
        """Report how far a batch is, with its items in the order of their lines."""
        return cast(
            "models.BatchDetail",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/batches/{batch_id}",
                    path={"batch_id": batch_id},
                    query={"state": state, "limit": limit, "cursor": cursor},
                )
            ),
        )

    async def control_batch(
        self, batch_id: str, command: Literal["pause", "resume", "cancel", "retry"]
    ) -> models.BatchChanged:
        """Pause or resume what has not begun, cancel it, or try what failed again."""
        return cast(
            "models.BatchChanged",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/batches/{batch_id}/{command}",
                    path={"batch_id": batch_id, "command": command},
                )
            ),
        )

    async def list_changes(
        self,
        *,
        since: str | None = None,
        kinds: str | None = None,
        limit: int | None = None,
        wait: float | None = None,
    ) -> models.ChangesOut:
        """List what has changed since a cursor: every change once, with what was removed.

        With `Accept: text/event-stream` it is a stream: an event `changes` with the
        same content for each part, whose id is the cursor. 410 means that the log does
        not reach back so far.
        """
        return cast(
            "models.ChangesOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/changes",
                    query={
                        "since": since,
                        "kinds": kinds,
                        "limit": limit,
                        "wait": wait,
                    },
                )
            ),
        )

    async def list_companies(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutCompanyOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutCompanyOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    def export_companies(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/companies/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_companies(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/companies/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_companies(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/companies/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_companies(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_company_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_company_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/companies/fields")),
        )

    async def find_contacts_of_companies(
        self, body: models.CompaniesIn
    ) -> models.ContactSearchOut:
        """Select the places of companies, as if each had been selected by hand."""
        return cast(
            "models.ContactSearchOut",
            await self._json(
                RequestParts("POST", "/api/v3/companies/find-contacts", body=body)
            ),
        )

    async def merge_companies(
        self, body: models.CompanyMergeIn
    ) -> models.MergedDetailCompanyOut:
        """Make one company of several; sources will not part them again.

        It can be undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.MergedDetailCompanyOut",
            await self._json(
                RequestParts("POST", "/api/v3/companies/merge", body=body)
            ),
        )

    async def set_company_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts("POST", "/api/v3/companies/status", body=body)
            ),
        )

    async def work_on_companies(self, body: models.WorkIn) -> models.WorkOut:
        """Assign, tag or fill in companies by ids, or all that a filter means.

        It can be undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.WorkOut",
            await self._json(RequestParts("POST", "/api/v3/companies/work", body=body)),
        )

    async def read_company(self, record_id: str) -> models.DetailCompanyOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailCompanyOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/{record_id}",
                    path={"record_id": record_id},
                )
            ),
        )

    async def edit_company(
        self, record_id: str, body: models.CompanyIn, *, if_match: str | None = None
    ) -> models.DetailCompanyOut:
        """Assign a company, write notes and tags, say when to follow up.

        What the machine sums up in between is not a conflict; what another person wrote
        is.
        """
        return cast(
            "models.DetailCompanyOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/companies/{record_id}",
                    path={"record_id": record_id},
                    header={"If-Match": if_match},
                    body=body,
                )
            ),
        )

    async def read_company_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_company_records(self, record_id: str) -> models.CompanyPartsOut:
        """Report which records a company is made of and why, and what was merged into it."""
        return cast(
            "models.CompanyPartsOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/{record_id}/records",
                    path={"record_id": record_id},
                )
            ),
        )

    async def split_company(
        self, record_id: str, body: models.CompanySplitIn
    ) -> models.CompanySplitOut:
        """Make some records of a company one of their own; they will not be put together."""
        return cast(
            "models.CompanySplitOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/companies/{record_id}/split",
                    path={"record_id": record_id},
                    body=body,
                )
            ),
        )

    async def read_company_timeline(self, record_id: str) -> models.TimelineOut:
        """Report when a company was found, confirmed, contacted, changed; the latest
        first.
        """
        return cast(
            "models.TimelineOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/companies/{record_id}/timeline",
                    path={"record_id": record_id},
                )
            ),
        )

    async def undo_company_action(self, action_id: str) -> models.WorkOut:
        """Undo work on companies as `POST /api/v3/actions/{action_id}/undo` does."""
        return cast(
            "models.WorkOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/company-actions/{action_id}/undo",
                    path={"action_id": action_id},
                )
            ),
        )

    async def list_company_columns(self) -> list[models.CompanyColumnOut]:
        """List the columns of your own, as they were made."""
        return cast(
            "list[models.CompanyColumnOut]",
            await self._json(RequestParts("GET", "/api/v3/company-columns")),
        )

    async def create_company_column(
        self, body: models.CompanyColumnIn
    ) -> models.CompanyColumnOut:
        """Make a column; its values are set with `PATCH /api/v3/companies/{id}`."""
        return cast(
            "models.CompanyColumnOut",
            await self._json(
                RequestParts("POST", "/api/v3/company-columns", body=body)
            ),
        )

    async def delete_company_column(self, column_id: str) -> None:
        """Delete a column with all its values."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/company-columns/{column_id}",
                path={"column_id": column_id},
            )
        )

    async def undo_company_merge(self, merge_id: str) -> models.CompanySplitOut:
        """Give the other company back its key, its records, and what people wrote about
        it.
        """
        return cast(
            "models.CompanySplitOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/company-merges/{merge_id}/undo",
                    path={"merge_id": merge_id},
                )
            ),
        )

    async def list_company_pairs(self) -> list[models.CompanyPairOut]:
        """List the pairs that need a person: disputes first, then the likeliest."""
        return cast(
            "list[models.CompanyPairOut]",
            await self._json(RequestParts("GET", "/api/v3/company-pairs")),
        )

    async def answer_company_pair(
        self, pair_id: str, body: models.PairAnswerIn
    ) -> None:
        """Answer with `same` or `different`: the last word of a person always stands."""
        await self._json(
            RequestParts(
                "POST",
                "/api/v3/company-pairs/{pair_id}/answer",
                path={"pair_id": pair_id},
                body=body,
            )
        )

    async def list_connections(self) -> models.ListOutConnectionOut:
        """List the connections of the tenant, and how each one is doing."""
        return cast(
            "models.ListOutConnectionOut",
            await self._json(RequestParts("GET", "/api/v3/connections")),
        )

    async def create_connection(
        self, body: models.ConnectionIn
    ) -> models.ConnectionOut:
        """Connect an account: the credential is tried, and our fields are made there.

        It begins paused: nothing is written before the first run.
        """
        return cast(
            "models.ConnectionOut",
            await self._json(RequestParts("POST", "/api/v3/connections", body=body)),
        )

    async def list_connections_of_record(
        self, record_id: str
    ) -> models.ListOutRecordInCrmOut:
        """Say in which CRMs a company or contact is, since when, and what differs there."""
        return cast(
            "models.ListOutRecordInCrmOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections-of/{record_id}",
                    path={"record_id": record_id},
                )
            ),
        )

    async def delete_connection(self, connection_id: str) -> None:
        """Forget an account and which of its records is which of ours; it keeps its
        records.

        The audit log names those that were still to be erased there, for a person to do
        so.
        """
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/connections/{connection_id}",
                path={"connection_id": connection_id},
            )
        )

    async def get_connection(self, connection_id: str) -> models.ConnectionOut:
        """Show one connection."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections/{connection_id}",
                    path={"connection_id": connection_id},
                )
            ),
        )

    async def change_connection(
        self, connection_id: str, body: models.ConnectionChange
    ) -> models.ConnectionOut:
        """Change the name or the budget of a connection."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/connections/{connection_id}",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def change_connection_credential(
        self, connection_id: str, body: models.CredentialIn
    ) -> models.ConnectionOut:
        """Give another credential: it is tried, and kept if it opens the same account."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "PUT",
                    "/api/v3/connections/{connection_id}/credential",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def compare_connection(
        self, connection_id: str, body: models.LeadsIn
    ) -> models.CrmDifferenceOut:
        """Compare up to 1,000 leads with what is there now; nothing is written."""
        return cast(
            "models.CrmDifferenceOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/difference",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def list_connection_differences(
        self, connection_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> models.ListOutSyncRecordOut:
        """List records that hold another value there, which was left as it is."""
        return cast(
            "models.ListOutSyncRecordOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections/{connection_id}/differences",
                    path={"connection_id": connection_id},
                    query={"limit": limit, "cursor": cursor},
                )
            ),
        )

    async def answer_connection_difference(
        self, connection_id: str, body: models.AnswerIn
    ) -> None:
        """Say whose value stands in one field of a record; ours is written by a worker."""
        await self._json(
            RequestParts(
                "POST",
                "/api/v3/connections/{connection_id}/differences",
                path={"connection_id": connection_id},
                body=body,
            )
        )

    async def list_connection_fields(
        self, connection_id: str, *, kind: models.CrmKind | None = None
    ) -> models.CrmFieldsOut:
        """Read the fields of the CRM's own schema, and what goes where now."""
        return cast(
            "models.CrmFieldsOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections/{connection_id}/fields",
                    path={"connection_id": connection_id},
                    query={"kind": kind},
                )
            ),
        )

    async def list_connection_writes(
        self, connection_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> models.ListOutSyncWriteOut:
        """List what was written there, the latest first, with what it replaced."""
        return cast(
            "models.ListOutSyncWriteOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections/{connection_id}/log",
                    path={"connection_id": connection_id},
                    query={"limit": limit, "cursor": cursor},
                )
            ),
        )

    async def map_connection(
        self, connection_id: str, body: models.MappingIn
    ) -> models.ConnectionOut:
        """Say which value goes into which field, and who wins; their schema is asked
        first.
        """
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "PUT",
                    "/api/v3/connections/{connection_id}/mapping",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def pause_connection(self, connection_id: str) -> models.ConnectionOut:
        """Write and read nothing more until it goes on; what waits is kept."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/pause",
                    path={"connection_id": connection_id},
                )
            ),
        )

    async def preview_connection(
        self, connection_id: str, body: models.LeadsIn
    ) -> models.ListOutLeadPreviewOut:
        """Show ten leads as they would stand there."""
        return cast(
            "models.ListOutLeadPreviewOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/preview",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def list_connection_problems(
        self, connection_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> models.ListOutSyncRecordOut:
        """List what a person may have to look at: refused, not known to be written,
        deleted there.
        """
        return cast(
            "models.ListOutSyncRecordOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/connections/{connection_id}/problems",
                    path={"connection_id": connection_id},
                    query={"limit": limit, "cursor": cursor},
                )
            ),
        )

    async def resume_connection(self, connection_id: str) -> models.ConnectionOut:
        """Go on with what waits."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/resume",
                    path={"connection_id": connection_id},
                )
            ),
        )

    async def run_connection(
        self, connection_id: str, body: models.RunIn
    ) -> models.QueuedLeadsOut:
        """Write leads to the CRM: they are queued at once, and written by a worker."""
        return cast(
            "models.QueuedLeadsOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/run",
                    path={"connection_id": connection_id},
                    body=body,
                )
            ),
        )

    async def test_connection(self, connection_id: str) -> models.ConnectionOut:
        """Try the credential again, and make fields of ours that are missing there."""
        return cast(
            "models.ConnectionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/test",
                    path={"connection_id": connection_id},
                )
            ),
        )

    async def undo_connection_run(self, connection_id: str) -> models.UndoOut:
        """Take back the next hundred writes of the last run; the connection must be
        paused.
        """
        return cast(
            "models.UndoOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/connections/{connection_id}/undo",
                    path={"connection_id": connection_id},
                )
            ),
        )

    async def list_connectors(self) -> models.ListOutConnectorOut:
        """List the CRMs that can be connected, and what each asks for."""
        return cast(
            "models.ListOutConnectorOut",
            await self._json(RequestParts("GET", "/api/v3/connectors")),
        )

    async def list_contacts(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutContactOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutContactOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/contacts",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def create_contact(
        self, body: models.NewContactIn
    ) -> models.DetailContactOut:
        """Create a contact by hand; every value is kept with who typed it."""
        return cast(
            "models.DetailContactOut",
            await self._json(RequestParts("POST", "/api/v3/contacts", body=body)),
        )

    def export_contacts(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/contacts/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_contacts(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/contacts/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_contacts(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/contacts/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_contacts(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/contacts/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_contact_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/contacts/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_contact_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/contacts/fields")),
        )

    async def merge_contacts(
        self, body: models.MergeIn
    ) -> models.MergedDetailContactOut:
        """Make one contact of several: it keeps what it has, and takes what it lacks."""
        return cast(
            "models.MergedDetailContactOut",
            await self._json(RequestParts("POST", "/api/v3/contacts/merge", body=body)),
        )

    async def set_contact_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts("POST", "/api/v3/contacts/status", body=body)
            ),
        )

    async def delete_contact(
        self, record_id: str, *, if_match: str | None = None
    ) -> None:
        """Delete a contact with its evidence; to keep it away for good, suppress it."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/contacts/{record_id}",
                path={"record_id": record_id},
                header={"If-Match": if_match},
            )
        )

    async def read_contact(self, record_id: str) -> models.DetailContactOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailContactOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/contacts/{record_id}", path={"record_id": record_id}
                )
            ),
        )

    async def edit_contact(
        self, record_id: str, body: models.ContactIn, *, if_match: str | None = None
    ) -> models.DetailContactOut:
        """Change values by hand; each is kept with who wrote it, and stays at a re-crawl."""
        return cast(
            "models.DetailContactOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/contacts/{record_id}",
                    path={"record_id": record_id},
                    header={"If-Match": if_match},
                    body=body,
                )
            ),
        )

    async def read_contact_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/contacts/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_contact_proofs(
        self, record_id: str, *, field: str | None = None, value: str | None = None
    ) -> models.ProofList:
        """Report the page, the place in it and the readers behind each value, or behind
        one.
        """
        return cast(
            "models.ProofList",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/contacts/{record_id}/proofs",
                    path={"record_id": record_id},
                    query={"field": field, "value": value},
                )
            ),
        )

    async def validate_contact(self, record_id: str) -> models.StatusOut:
        """Queue a contact for validation, also if it was validated before."""
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/contacts/{record_id}/validate",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_dead_letters(
        self,
        *,
        stage: str | None = None,
        kind: Literal["gave_up", "exhausted", "quarantined"] | None = None,
        cause: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutDeadLetterOut:
        """List what failed for good, the latest first."""
        return cast(
            "models.ListOutDeadLetterOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/dead-letters",
                    query={
                        "stage": stage,
                        "kind": kind,
                        "cause": cause,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def discard_dead_letters(self, body: models.DeadChosen) -> models.DeadChanged:
        """Forget dead letters; their records keep the failed status. `dry_run` counts
        only.
        """
        return cast(
            "models.DeadChanged",
            await self._json(
                RequestParts("POST", "/api/v3/dead-letters/discard", body=body)
            ),
        )

    async def group_dead_letters(
        self, *, stage: str | None = None, limit: int | None = None
    ) -> list[models.DeadGroupOut]:
        """Group what failed for good by its cause, the most frequent first."""
        return cast(
            "list[models.DeadGroupOut]",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/dead-letters/groups",
                    query={"stage": stage, "limit": limit},
                )
            ),
        )

    async def replay_dead_letters(self, body: models.DeadChosen) -> models.DeadChanged:
        """Queue dead letters again with all their attempts. `dry_run` counts only."""
        return cast(
            "models.DeadChanged",
            await self._json(
                RequestParts("POST", "/api/v3/dead-letters/replay", body=body)
            ),
        )

    async def read_dead_letter(self, letter_id: str) -> models.DeadStoryOut:
        """Show the whole history of one dead letter."""
        return cast(
            "models.DeadStoryOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/dead-letters/{letter_id}",
                    path={"letter_id": letter_id},
                )
            ),
        )

    async def close_demo(self) -> None:
        """Close the demo's workspace, and drop its database."""
        await self._json(RequestParts("DELETE", "/api/v3/demo"))

    async def read_demo(self) -> models.DemoOut:
        """Say whether the demo can be started, and where it is."""
        return cast(
            "models.DemoOut", await self._json(RequestParts("GET", "/api/v3/demo"))
        )

    async def start_demo(self, body: models.DemoIn | None = None) -> models.DemoOut:
        """Open a workspace with the demo town, and search it.

        From this machine, in development and on a laptop only. It has a database and a
        process of its own: nothing of the town is seen here, and no packet of the town
        leaves the machine. It is open a few seconds later; `GET /demo` says where.
        """
        return cast(
            "models.DemoOut",
            await self._json(RequestParts("POST", "/api/v3/demo", body=body)),
        )

    async def reset_demo(self) -> models.DemoOut:
        """Close the demo's workspace, and open the same town anew."""
        return cast(
            "models.DemoOut",
            await self._json(RequestParts("POST", "/api/v3/demo/reset")),
        )

    async def leave_demo(self) -> None:
        """Let this browser see the real workspace again."""
        await self._json(RequestParts("DELETE", "/api/v3/demo/visit"))

    async def visit_demo(self) -> None:
        """Let this browser see the demo at this address, in place of the real workspace.

        Everything but `/api/v3/demo` is answered by the demo from now on, until `DELETE
        /api/v3/demo/visit`, or until it is closed.
        """
        await self._json(RequestParts("POST", "/api/v3/demo/visit"))

    async def process_pending_domains(
        self, *, limit: int | None = None
    ) -> models.TriggeredOut:
        """Gather the metadata of pending domains now; in development, for operators."""
        return cast(
            "models.TriggeredOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/dev-tools/process-pending-domains",
                    query={"limit": limit},
                )
            ),
        )

    async def scheduler_status(self) -> models.SchedulerStatusOut:
        """Report how the scheduler stands in all processes; in development, for operators."""
        return cast(
            "models.SchedulerStatusOut",
            await self._json(RequestParts("GET", "/api/v3/dev-tools/scheduler_status")),
        )

    async def trigger_job(
        self, job_id: str, *, limit: int | None = None
    ) -> models.TriggeredOut:
        """Run a job now, beside its schedule; in development, for operators."""
        return cast(
            "models.TriggeredOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/dev-tools/trigger/{job_id}",
                    path={"job_id": job_id},
                    query={"limit": limit},
                )
            ),
        )

    async def list_domains(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutDomainOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutDomainOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/domains",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def submit_domains(self, body: models.SubmitIn) -> models.SubmissionOut:
        """Submit addresses together; a bad or known one never fails the rest."""
        return cast(
            "models.SubmissionOut",
            await self._json(RequestParts("POST", "/api/v3/domains", body=body)),
        )

    def export_domains(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/domains/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_domains(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/domains/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_domains(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/domains/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_domains(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/domains/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_domain_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/domains/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_domain_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/domains/fields")),
        )

    async def import_domains(
        self,
        file: FileContent,
        *,
        name: str | None = None,
        batch: str | None = None,
        priority: int | None = None,
    ) -> models.SubmissionOut:
        """Import a file of any size; every thousand lines are stored together.

        If it is cut off, send the same file again with `batch` and it goes on.
        """
        return cast(
            "models.SubmissionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/domains/import",
                    query={"name": name, "batch": batch, "priority": priority},
                    file=file,
                )
            ),
        )

    async def prioritise_domains(self, body: models.PriorityIn) -> models.PriorityOut:
        """Let a stage take these records before others, or after them.

        All or none: an id that is not yours fails the rest.
        """
        return cast(
            "models.PriorityOut",
            await self._json(
                RequestParts("POST", "/api/v3/domains/priority", body=body)
            ),
        )

    async def set_domain_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(RequestParts("POST", "/api/v3/domains/status", body=body)),
        )

    async def read_domain(self, record_id: str) -> models.DetailDomainOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailDomainOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/domains/{record_id}", path={"record_id": record_id}
                )
            ),
        )

    async def change_domain_budget(
        self, record_id: str, body: models.DomainBudgetIn
    ) -> list[models.SiteBudgetLine]:
        """Change a site's budget. Pages that were refused for it are queued again, and
        rules choose.
        """
        return cast(
            "list[models.SiteBudgetLine]",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/domains/{record_id}/budget",
                    path={"record_id": record_id},
                    body=body,
                )
            ),
        )

    async def read_domain_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/domains/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_home(self) -> models.HomeOut:
        """Report your leads, what is new and due, and what the latest searches brought."""
        return cast(
            "models.HomeOut", await self._json(RequestParts("GET", "/api/v3/home"))
        )

    async def list_kinds(self) -> list[models.RecordKindOut]:
        """Report every kind of record, in the order of the pipeline."""
        return cast(
            "list[models.RecordKindOut]",
            await self._json(RequestParts("GET", "/api/v3/kinds")),
        )

    async def list_businesses(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutBusinessOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutBusinessOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/local-businesses",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    def export_businesses(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/local-businesses/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_businesses(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/local-businesses/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_businesses(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/local-businesses/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_businesses(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/local-businesses/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_business_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/local-businesses/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_business_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/local-businesses/fields")),
        )

    async def set_business_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts("POST", "/api/v3/local-businesses/status", body=body)
            ),
        )

    async def read_business(self, record_id: str) -> models.DetailBusinessOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailBusinessOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/local-businesses/{record_id}",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_business_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/local-businesses/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_notices(
        self,
        *,
        filter: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        state: models.NoticeState | None = None,
    ) -> models.ListOutNoticeOut:
        """List contacts by when they must be notified that you hold their data, the next
        first.

        Whose data was got elsewhere is notified within a month what you hold, and from
        where (GDPR, article 14): each contact comes with the pages it was found on.
        """
        return cast(
            "models.ListOutNoticeOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/notices",
                    query={
                        "filter": filter,
                        "limit": limit,
                        "cursor": cursor,
                        "state": state,
                    },
                )
            ),
        )

    def export_notices(
        self,
        *,
        filter: Sequence[str] | None = None,
        state: models.NoticeState | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
    ) -> AsyncIterator[bytes]:
        """Export the list as a file, the ones due first first, with where each was found."""
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/notices/export",
                query={"filter": filter, "state": state, "format": format},
            )
        )

    async def mark_informed(self, body: models.InformedIn) -> models.MarkedOut:
        """Keep that people were notified; who was marked before keeps the earlier date."""
        return cast(
            "models.MarkedOut",
            await self._json(
                RequestParts("POST", "/api/v3/notices/informed", body=body)
            ),
        )

    async def reopen_notices(self, body: models.ReopenedIn) -> models.MarkedOut:
        """Take it back that people were notified; they are due again as before."""
        return cast(
            "models.MarkedOut",
            await self._json(RequestParts("POST", "/api/v3/notices/open", body=body)),
        )

    async def list_pages(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutPageOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutPageOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/pages",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def submit_pages(self, body: models.SubmitIn) -> models.SubmissionOut:
        """Submit addresses together; a bad or known one never fails the rest."""
        return cast(
            "models.SubmissionOut",
            await self._json(RequestParts("POST", "/api/v3/pages", body=body)),
        )

    def export_pages(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/pages/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_pages(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/pages/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_pages(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/pages/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_pages(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/pages/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_page_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/pages/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_page_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/pages/fields")),
        )

    async def import_pages(
        self,
        file: FileContent,
        *,
        name: str | None = None,
        batch: str | None = None,
        priority: int | None = None,
    ) -> models.SubmissionOut:
        """Import a file of any size; every thousand lines are stored together.

        If it is cut off, send the same file again with `batch` and it goes on.
        """
        return cast(
            "models.SubmissionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/pages/import",
                    query={"name": name, "batch": batch, "priority": priority},
                    file=file,
                )
            ),
        )

    async def prioritise_pages(self, body: models.PriorityIn) -> models.PriorityOut:
        """Let a stage take these records before others, or after them.

        All or none: an id that is not yours fails the rest.
        """
        return cast(
            "models.PriorityOut",
            await self._json(RequestParts("POST", "/api/v3/pages/priority", body=body)),
        )

    async def set_page_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(RequestParts("POST", "/api/v3/pages/status", body=body)),
        )

    async def read_page(self, record_id: str) -> models.DetailPageOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailPageOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/pages/{record_id}", path={"record_id": record_id}
                )
            ),
        )

    async def read_page_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/pages/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_people(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutPersonOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutPersonOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/people",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def erase_person(self, body: models.PersonIn) -> models.ErasedOut:
        """Erase a person from every table of your tenant, and keep them from coming back.

        Done again, it finishes what was interrupted.
        """
        return cast(
            "models.ErasedOut",
            await self._json(RequestParts("POST", "/api/v3/people/erase", body=body)),
        )

    def export_people(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/people/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    async def export_person(self, body: models.PersonIn) -> models.PersonDataOut:
        """Gather every record of your tenant in which the person is written."""
        return cast(
            "models.PersonDataOut",
            await self._json(RequestParts("POST", "/api/v3/people/export", body=body)),
        )

    def export_chosen_people(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/people/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_people(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/people/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_people(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/people/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_person_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/people/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_person_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/people/fields")),
        )

    async def forget_person(self, record_id: str) -> None:
        """Delete a person and the contacts that name them, and keep them from coming back.

        Their name goes on the suppression list as a keyed hash, for this domain only.
        """
        await self._json(
            RequestParts(
                "DELETE", "/api/v3/people/{record_id}", path={"record_id": record_id}
            )
        )

    async def read_person(self, record_id: str) -> models.DetailPersonOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailPersonOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/people/{record_id}", path={"record_id": record_id}
                )
            ),
        )

    async def read_person_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/people/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_places(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutPlaceOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutPlaceOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/places/staging",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    def export_places(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/places/staging/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_places(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/places/staging/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_places(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/places/staging/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_places(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/places/staging/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_place_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/places/staging/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_place_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/places/staging/fields")),
        )

    async def set_place_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts("POST", "/api/v3/places/staging/status", body=body)
            ),
        )

    async def read_place(self, record_id: str) -> models.DetailPlaceOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailPlaceOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/places/staging/{record_id}",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_place_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/places/staging/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_lead_coverage(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.CoverageOut:
        """Count companies by category and city: with an address, a named person,
        contacted.
        """
        return cast(
            "models.CoverageOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/reports/coverage",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def read_funnels(self, *, search_id: Sequence[str]) -> list[models.FunnelOut]:
        """Report for each search how many places, websites, addresses, people and deals."""
        return cast(
            "list[models.FunnelOut]",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/reports/funnels", query={"search_id": search_id}
                )
            ),
        )

    async def read_lead_map(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        south: float | None = None,
        west: float | None = None,
        north: float | None = None,
        east: float | None = None,
        zoom: int | None = None,
    ) -> models.MapOut:
        """Report where the companies of a list are, those that lie together as one point."""
        return cast(
            "models.MapOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/reports/map",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "south": south,
                        "west": west,
                        "north": north,
                        "east": east,
                        "zoom": zoom,
                    },
                )
            ),
        )

    async def lasso_leads(self, body: models.LassoIn) -> models.LassoOut:
        """Return which companies of a list are inside of a line on the map."""
        return cast(
            "models.LassoOut",
            await self._json(
                RequestParts("POST", "/api/v3/reports/map/lasso", body=body)
            ),
        )

    async def read_work(self, *, weeks: int | None = None) -> list[models.WeekOut]:
        """Report per person and week how many companies they contacted and won.

        A company that was won at once was contacted, too.
        """
        return cast(
            "list[models.WeekOut]",
            await self._json(
                RequestParts("GET", "/api/v3/reports/work", query={"weeks": weeks})
            ),
        )

    async def read_retention(self) -> models.RetentionOut:
        """Tell how long each kind of data is kept, and how yours stands."""
        return cast(
            "models.RetentionOut",
            await self._json(RequestParts("GET", "/api/v3/retention")),
        )

    async def list_rules(self) -> list[models.RuleOut]:
        """List the rules, the oldest first: in this order they decide."""
        return cast(
            "list[models.RuleOut]",
            await self._json(RequestParts("GET", "/api/v3/rules")),
        )

    async def create_rule(self, body: models.RuleIn) -> models.RuleOut:
        """Make a rule; it decides about records as they are made from now on."""
        return cast(
            "models.RuleOut",
            await self._json(RequestParts("POST", "/api/v3/rules", body=body)),
        )

    async def preview_rule(self, body: models.PreviewIn) -> models.PreviewOut:
        """Report what a rule would decide about the records nobody has decided about."""
        return cast(
            "models.PreviewOut",
            await self._json(RequestParts("POST", "/api/v3/rules/preview", body=body)),
        )

    async def delete_rule(self, rule_id: str) -> None:
        """Remove a rule; what it decided stays decided, and can still be undone."""
        await self._json(
            RequestParts("DELETE", "/api/v3/rules/{rule_id}", path={"rule_id": rule_id})
        )

    async def read_rule(self, rule_id: str) -> models.RuleOut:
        """Read one rule."""
        return cast(
            "models.RuleOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/rules/{rule_id}", path={"rule_id": rule_id}
                )
            ),
        )

    async def change_rule(
        self, rule_id: str, body: models.RuleChange, *, if_match: str | None = None
    ) -> models.RuleOut:
        """Change a rule, or switch it on or off; what it decided stays decided."""
        return cast(
            "models.RuleOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/rules/{rule_id}",
                    path={"rule_id": rule_id},
                    header={"if-match": if_match},
                    body=body,
                )
            ),
        )

    async def list_rule_actions(
        self, rule_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> models.ListOutActionOut:
        """List what a rule decided, the latest first; each can be undone."""
        return cast(
            "models.ListOutActionOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/rules/{rule_id}/actions",
                    path={"rule_id": rule_id},
                    query={"limit": limit, "cursor": cursor},
                )
            ),
        )

    async def run_rule(self, rule_id: str) -> models.RuleRunOut:
        """Let a rule decide now about what waits; 202 if that takes a while."""
        return cast(
            "models.RuleRunOut",
            await self._json(
                RequestParts(
                    "POST", "/api/v3/rules/{rule_id}/run", path={"rule_id": rule_id}
                )
            ),
        )

    async def list_samples(
        self, *, kind: str | None = None
    ) -> list[models.ValueSampleOut]:
        """List the latest samples with what their marks measure."""
        return cast(
            "list[models.ValueSampleOut]",
            await self._json(
                RequestParts("GET", "/api/v3/samples", query={"kind": kind})
            ),
        )

    async def draw_sample(self, body: models.SampleIn) -> models.SampleDetail:
        """Draw twenty values of a list at random, each with the page it was read on."""
        return cast(
            "models.SampleDetail",
            await self._json(RequestParts("POST", "/api/v3/samples", body=body)),
        )

    async def read_precision(self) -> list[models.CorrectionOut]:
        """Report for each field what your own people have marked, and what follows from
        it.
        """
        return cast(
            "list[models.CorrectionOut]",
            await self._json(RequestParts("GET", "/api/v3/samples/precision")),
        )

    async def delete_sample(self, sample_id: str) -> None:
        """Delete a sample with its marks."""
        await self._json(
            RequestParts(
                "DELETE", "/api/v3/samples/{sample_id}", path={"sample_id": sample_id}
            )
        )

    async def read_sample(self, sample_id: str) -> models.SampleDetail:
        """Read a sample with its values."""
        return cast(
            "models.SampleDetail",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/samples/{sample_id}", path={"sample_id": sample_id}
                )
            ),
        )

    def export_sample(self, sample_id: str) -> AsyncIterator[bytes]:
        """Give the marks as annotated websites: a line of JSON a site, as `score-sites`
        reads them.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/samples/{sample_id}/export",
                path={"sample_id": sample_id},
            )
        )

    async def mark_value(
        self, sample_id: str, position: int, body: models.MarkIn
    ) -> models.PrecisionOut:
        """Keep what a person says of a value; null takes it back. Answers what that
        measures.
        """
        return cast(
            "models.PrecisionOut",
            await self._json(
                RequestParts(
                    "PUT",
                    "/api/v3/samples/{sample_id}/values/{position}",
                    path={"sample_id": sample_id, "position": position},
                    body=body,
                )
            ),
        )

    async def list_jobs(self) -> list[models.JobOut]:
        """Report every job: where it runs and when next, what runs now, how it went last."""
        return cast(
            "list[models.JobOut]",
            await self._json(RequestParts("GET", "/api/v3/scheduler/jobs")),
        )

    async def list_runs(
        self,
        *,
        job_id: str | None = None,
        outcome: models.RunOutcome | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutRunOut:
        """List the runs of every process, the latest first."""
        return cast(
            "models.ListOutRunOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/scheduler/runs",
                    query={
                        "job_id": job_id,
                        "outcome": outcome,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def list_searches(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutSearchOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutSearchOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def create_search(self, body: models.SearchIn) -> models.SearchDetail:
        """Queue a search; it stops for good where its budget ends."""
        return cast(
            "models.SearchDetail",
            await self._json(RequestParts("POST", "/api/v3/searches", body=body)),
        )

    async def estimate_search(self, body: models.SearchIn) -> models.EstimateOut:
        """Say how many requests a search will take and what they cost; asks nobody."""
        return cast(
            "models.EstimateOut",
            await self._json(
                RequestParts("POST", "/api/v3/searches/estimate", body=body)
            ),
        )

    def export_searches(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/searches/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_searches(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/searches/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_searches(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_searches(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_search_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_search_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/searches/fields")),
        )

    async def import_file(
        self,
        file: FileContent,
        *,
        name: str,
        fields: Sequence[str] | None = None,
        replaces_known: bool | None = None,
    ) -> models.ImportStarted:
        """Keep a file, and queue the search that makes places of its rows.

        Every line that is not a place is listed in the search's `problems`. The file is
        read by whichever process works on searches, on any host.
        """
        return cast(
            "models.ImportStarted",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/file",
                    query={
                        "name": name,
                        "fields": fields,
                        "replaces_known": replaces_known,
                    },
                    file=file,
                )
            ),
        )

    async def preview_file(
        self,
        file: FileContent,
        *,
        name: str | None = None,
        fields: Sequence[str] | None = None,
    ) -> models.FileLookOut:
        """Tell what the columns of a file hold, what is wrong with its lines, and what
        they change.

        Nothing is stored. Send the whole file; of CSV its beginning is enough, up to
        the end of a line.
        """
        return cast(
            "models.FileLookOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/file/preview",
                    query={"name": name, "fields": fields},
                    file=file,
                )
            ),
        )

    async def read_search(self, record_id: str) -> models.SearchDetail:
        """Read a search: progress, coverage, and what changed since the one before."""
        return cast(
            "models.SearchDetail",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/searches/{record_id}", path={"record_id": record_id}
                )
            ),
        )

    async def read_search_completeness(self, record_id: str) -> models.CompletenessOut:
        """Estimate how many companies exist from the overlap of sources, or say why not.

        The same question has to be put to a second source. For each value the answer
        says how many companies have it, and how many of such values are right.
        """
        return cast(
            "models.CompletenessOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/completeness",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_search_differences(
        self,
        record_id: str,
        *,
        since: str | None = None,
        what: models.DifferenceType | None = None,
        run_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.DifferencesOut:
        """List what differs of everything that a search and its runs have found."""
        return cast(
            "models.DifferencesOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/differences",
                    path={"record_id": record_id},
                    query={
                        "since": since,
                        "what": what,
                        "run_id": run_id,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def find_contacts_of_search(self, record_id: str) -> models.ContactSearchOut:
        """Select every place of a search that nobody has decided about.

        Rules that are missing are added, so that businesses and sitemaps follow by
        themselves.
        """
        return cast(
            "models.ContactSearchOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/{record_id}/find-contacts",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_search_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_import(self, record_id: str) -> models.ImportOut:
        """Report what was kept of every column, what is new, and what differs."""
        return cast(
            "models.ImportOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/import",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_search_progress(self, record_id: str) -> models.SearchProgressOut:
        """Say how far what a search found has been followed to contacts, and what waits
        for whom.
        """
        return cast(
            "models.SearchProgressOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/progress",
                    path={"record_id": record_id},
                )
            ),
        )

    async def rerun_search(self, record_id: str) -> models.SearchDetail:
        """Ask the same again; the answer says what is new, changed and gone."""
        return cast(
            "models.SearchDetail",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/{record_id}/rerun",
                    path={"record_id": record_id},
                )
            ),
        )

    async def delete_schedule(self, record_id: str) -> None:
        """Forget when a search is run; its runs and what they found stay."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/searches/{record_id}/schedule",
                path={"record_id": record_id},
            )
        )

    async def read_schedule(self, record_id: str) -> models.ScheduleOut:
        """Say when a search is run again, and what a run will cost; asks no source."""
        return cast(
            "models.ScheduleOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/searches/{record_id}/schedule",
                    path={"record_id": record_id},
                )
            ),
        )

    async def put_schedule(
        self, record_id: str, body: models.ScheduleIn
    ) -> models.ScheduleOut:
        """Run a search every day, week or month, or pause that; its websites are visited
        too.

        What costs money needs a budget, and no run goes beyond it.
        """
        return cast(
            "models.ScheduleOut",
            await self._json(
                RequestParts(
                    "PUT",
                    "/api/v3/searches/{record_id}/schedule",
                    path={"record_id": record_id},
                    body=body,
                )
            ),
        )

    async def run_schedule_now(self, record_id: str) -> models.ScheduleOut:
        """Let the next run, and a visit to every website of the search, begin within a
        minute.
        """
        return cast(
            "models.ScheduleOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/{record_id}/schedule/run",
                    path={"record_id": record_id},
                )
            ),
        )

    async def steer_search(
        self,
        record_id: str,
        step: Literal["cancel", "pause", "resume"],
        body: models.SearchBudgetIn | None = None,
    ) -> models.SearchDetail:
        """Stop a search for good or for now, or let it go on where it stopped.

        What was found is kept. `resume` takes a larger `budget` for one that ran out of
        it.
        """
        return cast(
            "models.SearchDetail",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/searches/{record_id}/{step}",
                    path={"record_id": record_id, "step": step},
                    body=body,
                )
            ),
        )

    async def log_out(self) -> None:
        """End the session, or revoke the access token that asks."""
        await self._json(RequestParts("DELETE", "/api/v3/session"))

    async def get_session(self) -> models.SessionOut:
        """Report who is asking, and what they may do."""
        return cast(
            "models.SessionOut",
            await self._json(RequestParts("GET", "/api/v3/session")),
        )

    async def log_in(self, body: models.LoginIn) -> models.SessionOut:
        """Log in with e-mail address and password; the answer sets a cookie."""
        return cast(
            "models.SessionOut",
            await self._json(RequestParts("POST", "/api/v3/session", body=body)),
        )

    async def accept_invitation(self, body: models.InvitationIn) -> models.SessionOut:
        """Choose a password with an invitation, and log in; the answer sets a cookie."""
        return cast(
            "models.SessionOut",
            await self._json(
                RequestParts("POST", "/api/v3/session/invitation", body=body)
            ),
        )

    async def change_password(self, body: models.PasswordIn) -> models.SessionOut:
        """Change one's own password; all other sessions end."""
        return cast(
            "models.SessionOut",
            await self._json(
                RequestParts("POST", "/api/v3/session/password", body=body)
            ),
        )

    async def list_login_ways(self) -> models.LoginWays:
        """Tell how people log in here; the login page asks."""
        return cast(
            "models.LoginWays",
            await self._json(RequestParts("GET", "/api/v3/session/ways")),
        )

    async def end_other_sessions(self) -> models.SessionsEnded:
        """Log the caller out everywhere but here."""
        return cast(
            "models.SessionsEnded",
            await self._json(RequestParts("DELETE", "/api/v3/sessions")),
        )

    async def list_sessions(self) -> models.ListOutOpenSession:
        """List where the caller is logged in; whoever is nobody's account is nowhere."""
        return cast(
            "models.ListOutOpenSession",
            await self._json(RequestParts("GET", "/api/v3/sessions")),
        )

    async def end_session(self, session_id: str) -> None:
        """End one session of the caller."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/sessions/{session_id}",
                path={"session_id": session_id},
            )
        )

    async def list_sitemap_files(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutSitemapFileOut:
        """List records: filtered, sorted, page by page, with how many there are."""
        return cast(
            "models.ListOutSitemapFileOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/sitemap-files",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "outreach": outreach,
                        "sort": sort,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def submit_sitemap_files(self, body: models.SubmitIn) -> models.SubmissionOut:
        """Submit addresses together; a bad or known one never fails the rest."""
        return cast(
            "models.SubmissionOut",
            await self._json(RequestParts("POST", "/api/v3/sitemap-files", body=body)),
        )

    def export_sitemap_files(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export what the list shows as a file, as long as it may be.

        A caller has three exports under way at once, a tenant six; one more is answered
        429 with `Retry-After`.
        """
        return self._download(
            RequestParts(
                "GET",
                "/api/v3/sitemap-files/export",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
            )
        )

    def export_chosen_sitemap_files(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        outreach: bool | None = None,
        sort: str | None = None,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        columns: str | None = None,
        preset: str | None = None,
    ) -> AsyncIterator[bytes]:
        """Export records by their ids: more of them than fit into an address."""
        return self._download(
            RequestParts(
                "POST",
                "/api/v3/sitemap-files/export/chosen",
                query={
                    "filter": filter,
                    "q": q,
                    "changed_since": changed_since,
                    "outreach": outreach,
                    "sort": sort,
                    "format": format,
                    "columns": columns,
                    "preset": preset,
                },
                body=body,
            )
        )

    async def count_chosen_sitemap_files(
        self,
        body: models.ChosenIn,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Count the chosen records that the filters leave, before they are exported."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/sitemap-files/export/chosen/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                    body=body,
                )
            ),
        )

    async def count_export_of_sitemap_files(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
    ) -> models.ExportCount:
        """Say how many rows a file will have, and how many without an e-mail address."""
        return cast(
            "models.ExportCount",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/sitemap-files/export/count",
                    query={"filter": filter, "q": q, "changed_since": changed_since},
                )
            ),
        )

    async def count_sitemap_file_values(
        self,
        *,
        filter: Sequence[str] | None = None,
        q: str | None = None,
        changed_since: str | None = None,
        field: str | None = None,
        words: str | None = None,
    ) -> models.Facets:
        """Count the most frequent values of fields that have few."""
        return cast(
            "models.Facets",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/sitemap-files/facets",
                    query={
                        "filter": filter,
                        "q": q,
                        "changed_since": changed_since,
                        "field": field,
                        "words": words,
                    },
                )
            ),
        )

    async def list_sitemap_file_fields(self) -> list[models.FieldOut]:
        """Report what lists can be filtered and sorted by."""
        return cast(
            "list[models.FieldOut]",
            await self._json(RequestParts("GET", "/api/v3/sitemap-files/fields")),
        )

    async def import_sitemap_files(
        self,
        file: FileContent,
        *,
        name: str | None = None,
        batch: str | None = None,
        priority: int | None = None,
    ) -> models.SubmissionOut:
        """Import a file of any size; every thousand lines are stored together.

        If it is cut off, send the same file again with `batch` and it goes on.
        """
        return cast(
            "models.SubmissionOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/sitemap-files/import",
                    query={"name": name, "batch": batch, "priority": priority},
                    file=file,
                )
            ),
        )

    async def prioritise_sitemap_files(
        self, body: models.PriorityIn
    ) -> models.PriorityOut:
        """Let a stage take these records before others, or after them.

        All or none: an id that is not yours fails the rest.
        """
        return cast(
            "models.PriorityOut",
            await self._json(
                RequestParts("POST", "/api/v3/sitemap-files/priority", body=body)
            ),
        )

    async def set_sitemap_file_status(self, body: models.StatusIn) -> models.StatusOut:
        """Set the status of records by ids, or of all that a filter means.

        The trigger status queues the stage. `dry_run` only counts. The action can be
        undone with `POST /api/v3/actions/{action_id}/undo`.
        """
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts("POST", "/api/v3/sitemap-files/status", body=body)
            ),
        )

    async def read_sitemap_file(self, record_id: str) -> models.DetailSitemapFileOut:
        """Read a record with its evidence and what belongs to it."""
        return cast(
            "models.DetailSitemapFileOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/sitemap-files/{record_id}",
                    path={"record_id": record_id},
                )
            ),
        )

    async def read_sitemap_file_history(self, record_id: str) -> models.RecordHistory:
        """Report every decision, edit, attempt and other change, the latest first."""
        return cast(
            "models.RecordHistory",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/sitemap-files/{record_id}/history",
                    path={"record_id": record_id},
                )
            ),
        )

    async def list_sources(self) -> list[models.SourceOut]:
        """List where places can come from, and what each source needs."""
        return cast(
            "list[models.SourceOut]",
            await self._json(RequestParts("GET", "/api/v3/sources")),
        )

    async def list_stages(self) -> list[models.StageOut]:
        """Report how every stage stands, in the order of the pipeline."""
        return cast(
            "list[models.StageOut]",
            await self._json(RequestParts("GET", "/api/v3/stages")),
        )

    async def stage_errors(
        self, *, limit: int | None = None
    ) -> list[models.TroubleOut]:
        """Report what failed in the last hour, in words, grouped by cause."""
        return cast(
            "list[models.TroubleOut]",
            await self._json(
                RequestParts("GET", "/api/v3/stages/errors", query={"limit": limit})
            ),
        )

    async def stage_throughput(
        self, *, minutes: int | None = None
    ) -> list[models.ThroughputOut]:
        """Report what each stage settled in each of the last minutes."""
        return cast(
            "list[models.ThroughputOut]",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/stages/throughput", query={"minutes": minutes}
                )
            ),
        )

    async def change_stage(
        self, stage: str, body: models.StageSettingsIn
    ) -> models.StageOut:
        """Change the pace and the limits of a stage in every process, without a restart.

        They hold within seconds, also after a restart, until they are changed again;
        null gives back what each process was started with. What contradicts itself is
        refused.
        """
        return cast(
            "models.StageOut",
            await self._json(
                RequestParts(
                    "PATCH", "/api/v3/stages/{stage}", path={"stage": stage}, body=body
                )
            ),
        )

    async def control_stage(
        self,
        stage: str,
        command: Literal["pause", "resume"],
        body: models.PauseIn | None = None,
    ) -> models.StageOut:
        """Stop a stage from claiming, in every worker at once, or let it claim again.

        What is in hand is finished. A stage works for every tenant, so this is for
        operators only.
        """
        return cast(
            "models.StageOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/stages/{stage}/{command}",
                    path={"stage": stage, "command": command},
                    body=body,
                )
            ),
        )

    async def list_suppressions(
        self,
        *,
        filter: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.ListOutSuppressionOut:
        """List the entries, the latest first; the values themselves are kept nowhere."""
        return cast(
            "models.ListOutSuppressionOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/suppressions",
                    query={"filter": filter, "limit": limit, "cursor": cursor},
                )
            ),
        )

    async def create_suppressions(
        self, body: models.SuppressionsIn
    ) -> models.SuppressedOut:
        """Put values on the list and remove the contacts that have them, at once.

        From then on no stage, import or edit stores them, and no export hands them out.
        """
        return cast(
            "models.SuppressedOut",
            await self._json(RequestParts("POST", "/api/v3/suppressions", body=body)),
        )

    async def check_suppressions(self, body: models.ValuesIn) -> models.ChecksOut:
        """Ask about values: each by its own entry, by that of its domain, or its company."""
        return cast(
            "models.ChecksOut",
            await self._json(
                RequestParts("POST", "/api/v3/suppressions/check", body=body)
            ),
        )

    async def list_stopped_companies(
        self,
        *,
        q: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> models.StoppedCompaniesOut:
        """List the companies of the status Do Not Contact, with when and by whom it was
        set.
        """
        return cast(
            "models.StoppedCompaniesOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/suppressions/companies",
                    query={"q": q, "limit": limit, "after": after},
                )
            ),
        )

    async def lift_stopped_company(self, company_id: str) -> models.StatusOut:
        """Give a company the status New again; it can be undone like any decision."""
        return cast(
            "models.StatusOut",
            await self._json(
                RequestParts(
                    "DELETE",
                    "/api/v3/suppressions/companies/{company_id}",
                    path={"company_id": company_id},
                )
            ),
        )

    async def import_suppressions(
        self, file: FileContent, *, reason: str | None = None, region: str | None = None
    ) -> models.SuppressedOut:
        """Take a text or CSV file, one value a line in its first column, of any length."""
        return cast(
            "models.SuppressedOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/suppressions/import",
                    query={"reason": reason, "region": region},
                    file=file,
                )
            ),
        )

    async def delete_suppression(self, suppression_id: str) -> None:
        """Take an entry off; its values come back only if they are found anew."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/suppressions/{suppression_id}",
                path={"suppression_id": suppression_id},
            )
        )

    async def read_system(self) -> models.SystemOut:
        """Report what runs here: version, connection, scheduler, disk, settings."""
        return cast(
            "models.SystemOut", await self._json(RequestParts("GET", "/api/v3/system"))
        )

    async def list_tenants(self) -> models.ListOutTenantOut:
        """List all tenants, the oldest first."""
        return cast(
            "models.ListOutTenantOut",
            await self._json(RequestParts("GET", "/api/v3/tenants")),
        )

    async def create_tenant(self, body: models.TenantIn) -> models.TenantOut:
        """Make a tenant, with its first admin if one is named."""
        return cast(
            "models.TenantOut",
            await self._json(RequestParts("POST", "/api/v3/tenants", body=body)),
        )

    async def update_tenant(
        self, tenant_id: str, body: models.TenantChange
    ) -> models.TenantOut:
        """Rename a tenant, or suspend it: nobody of it is let in until it is not."""
        return cast(
            "models.TenantOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/tenants/{tenant_id}",
                    path={"tenant_id": tenant_id},
                    body=body,
                )
            ),
        )

    async def list_users(self) -> models.ListOutUserOut:
        """List the people of the tenant."""
        return cast(
            "models.ListOutUserOut",
            await self._json(RequestParts("GET", "/api/v3/users")),
        )

    async def create_user(self, body: models.UserIn) -> models.UserOut:
        """Let a person in."""
        return cast(
            "models.UserOut",
            await self._json(RequestParts("POST", "/api/v3/users", body=body)),
        )

    async def delete_user(self, user_id: str) -> None:
        """Remove a person and revoke their keys; what else they made stays."""
        await self._json(
            RequestParts("DELETE", "/api/v3/users/{user_id}", path={"user_id": user_id})
        )

    async def get_user(self, user_id: str) -> models.UserOut:
        """Show one person."""
        return cast(
            "models.UserOut",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/users/{user_id}", path={"user_id": user_id}
                )
            ),
        )

    async def update_user(
        self, user_id: str, body: models.UserChange
    ) -> models.UserOut:
        """Change a person's name, role, password or subject, or shut them out."""
        return cast(
            "models.UserOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/users/{user_id}",
                    path={"user_id": user_id},
                    body=body,
                )
            ),
        )

    async def invite_user(self, user_id: str) -> models.InvitationOut:
        """Make a link by which a person chooses a password; it works once, for a week."""
        return cast(
            "models.InvitationOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/users/{user_id}/invitation",
                    path={"user_id": user_id},
                )
            ),
        )

    async def end_sessions_of_user(self, user_id: str) -> models.SessionsEnded:
        """Log a person of the tenant out everywhere."""
        return cast(
            "models.SessionsEnded",
            await self._json(
                RequestParts(
                    "DELETE",
                    "/api/v3/users/{user_id}/sessions",
                    path={"user_id": user_id},
                )
            ),
        )

    async def list_sessions_of_user(self, user_id: str) -> models.ListOutOpenSession:
        """List where a person of the tenant is logged in."""
        return cast(
            "models.ListOutOpenSession",
            await self._json(
                RequestParts(
                    "GET", "/api/v3/users/{user_id}/sessions", path={"user_id": user_id}
                )
            ),
        )

    async def list_views(self, *, kind: str | None = None) -> list[models.ViewOut]:
        """List the views of the caller and those that others share, by name."""
        return cast(
            "list[models.ViewOut]",
            await self._json(
                RequestParts("GET", "/api/v3/views", query={"kind": kind})
            ),
        )

    async def save_view(self, body: models.ViewIn) -> models.ViewOut:
        """Keep a list under a name, for the caller alone or for all of the tenant.

        `owner_id:equal:me` means in a shared view whoever looks at it.
        """
        return cast(
            "models.ViewOut",
            await self._json(RequestParts("POST", "/api/v3/views", body=body)),
        )

    async def delete_view(self, view_id: str) -> None:
        """Delete a view of the caller; an administrator, also one that others share."""
        await self._json(
            RequestParts("DELETE", "/api/v3/views/{view_id}", path={"view_id": view_id})
        )

    async def list_webhooks(self) -> models.ListOutWebhookOut:
        """List the endpoints of the tenant, and how each one is doing."""
        return cast(
            "models.ListOutWebhookOut",
            await self._json(RequestParts("GET", "/api/v3/webhooks")),
        )

    async def create_webhook(self, body: models.WebhookIn) -> models.WebhookMade:
        """Make an endpoint; it receives what changes from now on.

        The answer is the only time that its secret is shown.
        """
        return cast(
            "models.WebhookMade",
            await self._json(RequestParts("POST", "/api/v3/webhooks", body=body)),
        )

    async def delete_webhook(self, webhook_id: str) -> None:
        """Delete an endpoint with everything it was, and was to be, sent."""
        await self._json(
            RequestParts(
                "DELETE",
                "/api/v3/webhooks/{webhook_id}",
                path={"webhook_id": webhook_id},
            )
        )

    async def get_webhook(self, webhook_id: str) -> models.WebhookOut:
        """Show one endpoint."""
        return cast(
            "models.WebhookOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/webhooks/{webhook_id}",
                    path={"webhook_id": webhook_id},
                )
            ),
        )

    async def change_webhook(
        self, webhook_id: str, body: models.WebhookChange
    ) -> models.WebhookOut:
        """Change an endpoint; switched on again, it goes on with what was not delivered."""
        return cast(
            "models.WebhookOut",
            await self._json(
                RequestParts(
                    "PATCH",
                    "/api/v3/webhooks/{webhook_id}",
                    path={"webhook_id": webhook_id},
                    body=body,
                )
            ),
        )

    async def list_webhook_deliveries(
        self, webhook_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> models.ListOutWebhookDeliveryOut:
        """List the messages of an endpoint, the latest first, with every attempt."""
        return cast(
            "models.ListOutWebhookDeliveryOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/webhooks/{webhook_id}/deliveries",
                    path={"webhook_id": webhook_id},
                    query={"limit": limit, "cursor": cursor},
                )
            ),
        )

    async def replay_webhook(
        self, webhook_id: str, body: models.ReplayIn
    ) -> models.ReplayOut:
        """Send again what was given up since a moment, or every change since then."""
        return cast(
            "models.ReplayOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/webhooks/{webhook_id}/replay",
                    path={"webhook_id": webhook_id},
                    body=body,
                )
            ),
        )

    async def rotate_webhook_secret(
        self, webhook_id: str, body: models.RotationIn
    ) -> models.WebhookMade:
        """Give an endpoint a new secret; messages are signed with both for a while.

        The answer is the only time that it is shown.
        """
        return cast(
            "models.WebhookMade",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/webhooks/{webhook_id}/secret",
                    path={"webhook_id": webhook_id},
                    body=body,
                )
            ),
        )

    async def test_webhook(self, webhook_id: str) -> models.WebhookTestOut:
        """Post a test message now, once, and say how it went."""
        return cast(
            "models.WebhookTestOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/webhooks/{webhook_id}/test",
                    path={"webhook_id": webhook_id},
                )
            ),
        )

    async def list_differences(
        self,
        *,
        since: str | None = None,
        what: models.DifferenceType | None = None,
        company_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.DifferencesOut:
        """List what differs on maps and websites from what was known before.

        A website that does not answer is `unreachable`, and what it said stays. A value
        that is another on every visit is not listed each time.
        """
        return cast(
            "models.DifferencesOut",
            await self._json(
                RequestParts(
                    "GET",
                    "/api/v3/whats-changed",
                    query={
                        "since": since,
                        "what": what,
                        "company_id": company_id,
                        "limit": limit,
                        "cursor": cursor,
                    },
                )
            ),
        )

    async def note_look(self, body: models.LookIn | None = None) -> models.LookOut:
        """Keep until when the caller has seen what changed."""
        return cast(
            "models.LookOut",
            await self._json(
                RequestParts("POST", "/api/v3/whats-changed/looked", body=body)
            ),
        )

    async def list_workers(self) -> list[models.WorkerOut]:
        """List the processes that serve and work, also those that vanished in the last
        day.
        """
        return cast(
            "list[models.WorkerOut]",
            await self._json(RequestParts("GET", "/api/v3/workers")),
        )

    async def control_worker(
        self, name: str, command: Literal["drain", "resume"]
    ) -> models.WorkerOut:
        """Let one process claim nothing more, or let it claim again; it hears within
        seconds.

        What it has in work is finished, and what it has not begun goes back to the
        queue.
        """
        return cast(
            "models.WorkerOut",
            await self._json(
                RequestParts(
                    "POST",
                    "/api/v3/workers/{name}/{command}",
                    path={"name": name, "command": command},
                )
            ),
        )

    async def is_alive(self) -> models.Liveness:
        """Report that the process lives; asks nobody else."""
        return cast(
            "models.Liveness", await self._json(RequestParts("GET", "/health/live"))
        )

    async def is_ready(self) -> models.Readiness:
        """Say whether the process can do its work: 200, or 503 with what is missing."""
        return cast(
            "models.Readiness", await self._json(RequestParts("GET", "/health/ready"))
        )

    def read_metrics(self) -> AsyncIterator[bytes]:
        """Give the figures of this process, and how stages and database stand, to
        Prometheus.

        They cover all tenants, so give Prometheus an API key of the installation's own
        tenant with the scope `metrics`: it may read them and nothing else.
        """
        return self._download(RequestParts("GET", "/metrics"))
