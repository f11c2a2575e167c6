"""Any API that a description names: how to ask, and where in an answer the values are.

The description is JSON, given when a person connects; docs/how-to/sync-with-a-crm.md shows one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from scrapersky.connectors.mapping import PREFIX
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import (
    OWN_ID,
    ConnectorContext,
    ConnectorInfo,
    ConnectorOption,
    CrmAccount,
    CrmChanges,
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmOption,
    CrmRecord,
    PersonOfCompany,
    RecordWrite,
    Refused,
    SyncVolume,
    Unknown,
    WriteResult,
    Written,
)
from scrapersky.connectors.session import CrmAnswer, CrmCall, inside, path_part
from scrapersky.connectors.values import uuid_in
from scrapersky.errors import (
    BadCrmAnswer,
    ConfigurationError,
    CrmAnswerLost,
    CrmBusy,
    CrmCannot,
    CrmRejected,
)

GONE: Final = (404, 410)
NOTHING: Final[Mapping[str, str]] = {}
METER: Final = "calls"


Request = Annotated[str, Field(pattern=r"^(GET|POST|PUT|PATCH|DELETE) /[^\s]*$")]
"""A method and a path, with what stands for values of a record in braces."""
NOT_OURS: Final = ("host", "connection", "content-", "transfer-")
"""Headers that say where a request goes and where it ends."""


def header_of_key(name: str) -> str:
    """Return the name of the header that authorises, or raise ValueError."""
    if name.lower().startswith(NOT_OURS):
        msg = "this header is no place for a credential"
        raise ValueError(msg)
    return name


Header = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9-]+$"), AfterValidator(header_of_key)
]


class ApiField(BaseModel):
    """One field of theirs."""

    model_config = ConfigDict(extra="forbid")

    name: str
    label: str = ""
    type: CrmFieldType = CrmFieldType.TEXT
    options: dict[str, str] = Field(default_factory=dict)
    read_only: bool = False
    required: bool = False
    ours: str | None = None
    """The value of ours that goes there."""


class ApiKind(BaseModel):
    """How one kind of records is asked for and written. A request is `METHOD /path`."""

    model_config = ConfigDict(extra="forbid")

    create: Request
    update: Request
    read: Request
    read_own: Request
    """With `{our_id}`: answered with a record, a list, or 404."""
    upsert: Request | None = None
    """Instead of `create`, with `{our_id}`: writes the same record however often it is asked."""
    find: Request | None = None
    changes: Request | None = None
    erase: Request | None = None
    link: Request | None = None
    """Of a person: with `{id}` and `{company_id}`."""
    fields: list[ApiField]
    id: str = "id"
    own_id: str = OWN_ID
    records: str = ""
    """Where in an answer the records are: `data.items`; nothing: it is the answer."""
    deleted: str = ""
    merged: str = ""
    unsubscribed: str = ""
    bounced: str = ""
    company: str = ""


class ApiLimit(BaseModel):
    """How many calls an account may make."""

    model_config = ConfigDict(extra="forbid")

    calls: float = Field(gt=0)
    seconds: float = Field(gt=0)


class ApiDescription(BaseModel):
    """What a person writes about an API."""

    model_config = ConfigDict(extra="forbid")

    base_url: str
    header: Header = "Authorization"
    value: str = Field("Bearer {credential}", pattern=r"\{credential\}")
    """A key itself would be shown with the description: it is a credential."""
    account: Request
    """A request that only a valid credential is answered."""
    company: ApiKind | None = None
    person: ApiKind | None = None
    cursor: str = "cursor"
    """Where in an answer to `changes` the next cursor is."""
    more: str = "has_more"
    error: str = ""
    """Where an answer that says 200 says that it is an error."""
    limits: list[ApiLimit] = Field(default_factory=list)


class GenericConnector:
    """Talks to an API as its description says, one record per call."""

    info: ClassVar = ConnectorInfo(
        name="http",
        title="Any HTTP API",
        credential="Key",
        options=(
            ConnectorOption("description", "Description (JSON)", is_required=True),
        ),
        key_fields={CrmKind.COMPANY: "domain", CrmKind.PERSON: "email"},
        knows_own=tuple(CrmKind),
    )

    def __init__(self, context: ConnectorContext) -> None:
        """Read the description; raise ConfigurationError if it is not valid."""
        self._api = described(context.options)
        self._session = context.session
        self._session.base = self._api.base_url
        authorised = self._api.value.replace("{credential}", context.credential)
        self._session.headers = {self._api.header: authorised}
        self._session.error_at = self._api.error
        # What it can do is said by the description, and not by the class.
        self.info = info_of(self._api)  # type: ignore[misc]

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return the limits that the description names."""
        return [
            MeterRule(
                name=METER if not at else f"{METER}{at}",
                units=limit.calls,
                per=timedelta(seconds=limit.seconds),
            )
            for at, limit in enumerate(described(options).limits)
        ]

    async def account(self) -> CrmAccount:
        """Ask what only a valid credential is answered."""
        await self._ask(self._api.account)
        return CrmAccount(id=self._api.base_url, name=self._api.base_url)

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return the fields that the description names."""
        return [
            CrmField(
                name=one.name,
                label=one.label or one.name,
                type=one.type,
                options=tuple(CrmOption(*pair) for pair in one.options.items()),
                is_read_only=one.read_only,
                is_required=one.required,
                is_custom=one.name.startswith(PREFIX),
            )
            for one in self._kind(kind).fields
        ]

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Return which of our fields the description has: making one is its author's."""
        known = {one.name for one in self._kind(kind).fields}
        there = {one.name: one.name for one in fields if one.name in known}
        return there | {OWN_ID: self._kind(kind).own_id}

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read records one by one."""
        found = {}
        for one in ids:
            request = self._kind(kind).read
            for record in await self._records(kind, request, names, id=one):
                found[one] = record
        return found

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Read records by our ids, one by one."""
        found = {}
        for one in our_ids:
            request = self._kind(kind).read_own
            for record in await self._records(kind, request, names, our_id=str(one)):
                if record.our_id == one and not record.is_deleted:
                    found[one] = record
        return found

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Look by e-mail address or domain, where the description says how."""
        request = self._kind(kind).find
        if request is None:
            return {}
        return {key: await self._records(kind, request, names, key=key) for key in keys}

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Write records one by one; what breaks off leaves the rest for the next time."""
        results: list[WriteResult] = []
        for one in records:
            try:
                results.append(await self._write(kind, one))
            except (CrmAnswerLost, BadCrmAnswer) as error:
                results.append(Unknown(str(error)))
        return results

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Link people to companies, where the description says how."""
        request, failed = self._kind(CrmKind.PERSON).link, {}
        for pair in pairs if request else ():
            try:
                given = {"id": pair.person_id, "company_id": pair.company_id}
                await self._ask(str(request), given=given)
            except CrmRejected as error:
                failed[pair] = str(error)
        return failed

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Ask what changed after a cursor; the first time only for the cursor."""
        request = self._kind(kind).changes
        if request is None:
            return CrmChanges(records=(), cursor="")
        answer = (await self._ask(request, given={"cursor": cursor or ""})).json()
        after = str(inside(answer, self._api.cursor) or cursor or "")
        rows = rows_of(answer, self._kind(kind).records) if cursor is not None else []
        return CrmChanges(
            records=[self._record(kind, row, names) for row in rows],
            cursor=after,
            has_more=bool(inside(answer, self._api.more)),
        )

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Erase a record, or say that a person has to."""
        request = self._kind(kind).erase
        if request is None:
            raise CrmCannot(f"Delete {kind.value} {their_id} there by hand.")
        await self._ask(request, accept=GONE, given={"id": their_id})

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Delete records one by one."""
        for one in their_ids:
            await self.erase(kind, one)

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return a call for each."""
        looks = 1 if self._kind(kind).upsert else 2
        done = volume.reads + looks * volume.creates + volume.updates
        done += volume.links if self._kind(kind).link else 0
        done += volume.searches if self._kind(kind).find else 0
        return {METER: float(done)}

    async def _write(self, kind: CrmKind, one: RecordWrite) -> WriteResult:
        how = self._kind(kind)
        if one.their_id is None and how.upsert is None:
            there = (await self.read_own(kind, [one.our_id], ())).get(one.our_id)
            one = one if there is None else replace(one, their_id=there.id)
        given = {"id": one.their_id or "", "our_id": str(one.our_id)}
        body = {**one.values, how.own_id: str(one.our_id)}
        request = how.update if one.their_id else (how.upsert or how.create)
        is_repeatable = bool(one.their_id or how.upsert)
        try:
            answer = await self._ask(
                request, json=body, is_repeatable=is_repeatable, given=given
            )
        except CrmRejected as error:
            is_gone = error.status in GONE and one.their_id is not None
            return Refused({"": str(error)}, is_gone=is_gone)
        if one.their_id:
            return Written(one.their_id, is_new=False)
        rows = rows_of(answer.json(), how.records)
        if not rows or (found := inside(rows[0], how.id)) is None:
            raise BadCrmAnswer("The answer to a write names no id.")
        return Written(str(found), is_new=True)

    async def _records(
        self, kind: CrmKind, request: str, names: Sequence[str], **given: str
    ) -> list[CrmRecord]:
        answer = await self._ask(request, accept=GONE, given=given)
        if answer.status in GONE:
            return []
        rows = rows_of(answer.json(), self._kind(kind).records)
        return [self._record(kind, row, names) for row in rows]

    async def _ask(
        self,
        request: str,
        *,
        json: object = None,
        is_repeatable: bool = True,
        accept: Sequence[int] = (),
        given: Mapping[str, str] = NOTHING,
    ) -> CrmAnswer:
        method, _, path = request.partition(" ")
        for name, value in given.items():
            path = path.replace(f"{{{name}}}", path_part(value))
        call = CrmCall(
            method=method.upper(),
            path=path.strip(),
            json=json,
            meter=dict.fromkeys(self._meters(), 1.0),
            is_write=json is not None,
            is_repeatable=is_repeatable,
            accept=accept,
        )
        return await self._session.ask(call)

    def _meters(self) -> list[str]:
        limits = range(len(self._api.limits))
        return [METER if not at else f"{METER}{at}" for at in limits]

    def _kind(self, kind: CrmKind) -> ApiKind:
        found = self._api.company if kind is CrmKind.COMPANY else self._api.person
        if found is None:
            raise CrmBusy("The description has no such kind.", after=timedelta(hours=1))
        return found

    def _record(
        self, kind: CrmKind, row: Mapping[str, Any], names: Sequence[str]
    ) -> CrmRecord:
        how = self._kind(kind)
        if inside(row, how.id) is None:
            raise BadCrmAnswer(f"A record of the answer has no '{how.id}'.")
        company = inside(row, how.company) if how.company else None
        return CrmRecord(
            kind=kind,
            id=str(inside(row, how.id)),
            our_id=uuid_in(inside(row, how.own_id)),
            values={name: inside(row, name) for name in names},
            old_ids=tuple(map(str, inside(row, how.merged) or ()))
            if how.merged
            else (),
            company_id=None if company is None else str(company),
            is_deleted=bool(how.deleted and inside(row, how.deleted)),
            is_unsubscribed=bool(how.unsubscribed and inside(row, how.unsubscribed)),
            is_bounced=bool(how.bounced and inside(row, how.bounced)),
        )


def described(options: Mapping[str, str]) -> ApiDescription:
    """Read the description of an API."""
    try:
        return ApiDescription.model_validate_json(options.get("description", ""))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            f"The description of the API is not valid: {where}: {first['msg']}."
        ) from None


def info_of(api: ApiDescription) -> ConnectorInfo:
    """Return what the description says of the connector."""
    described_kinds = {CrmKind.COMPANY: api.company, CrmKind.PERSON: api.person}
    kinds = {kind: how for kind, how in described_kinds.items() if how is not None}
    mapping = {
        kind: {one.ours: one.name for one in how.fields if one.ours}
        for kind, how in kinds.items()
    }
    info = GenericConnector.__dict__["info"]
    return ConnectorInfo(
        name=info.name,
        title=info.title,
        credential=info.credential,
        options=info.options,
        kinds=tuple(kinds),
        key_fields=info.key_fields,
        knows_own=info.knows_own,
        mapping=mapping,
        can_delete=all(how.erase for how in kinds.values()),
    )


def rows_of(answer: object, path: str) -> list[Mapping[str, Any]]:
    """Return the records of an answer, which may be one.

    An answer without the place for them is an error that says 200, and not that there are none.
    """
    found = inside(answer, path)
    if found is None and answer is not None:
        raise BadCrmAnswer(f"The answer has no '{path}'.")
    if isinstance(found, dict):
        return [found]
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]
