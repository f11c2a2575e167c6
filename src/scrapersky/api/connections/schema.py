"""What comes in and goes out about connections to CRMs."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from scrapersky.api.field import RecordIds
from scrapersky.api.schema import RequestModel
from scrapersky.api.title import Line
from scrapersky.connectors.mapping import ConflictRule
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.question import DifferenceAnswer
from scrapersky.curation.condition import MOST_CONDITIONS, Condition

LONGEST_OPTION: Final = 65_536
MOST_RULES: Final = 60
MOST_CHOICES: Final = 500

OptionText = Annotated[str, Field(max_length=LONGEST_OPTION)]
ShortText = Annotated[str, Field(max_length=500)]
Options = Annotated[
    dict[ShortText, OptionText],
    Field(max_length=20, description="What the connector asks for: see `/connectors`."),
]
Credential = Annotated[
    str,
    Field(
        max_length=4_000,
        description="It is kept encrypted, and never shown again.",
    ),
]
Budget = Annotated[
    int | None,
    Field(
        ge=1, le=100_000_000, description="Calls or tokens of a day that may be spent."
    ),
]


class ConnectorOptionOut(BaseModel):
    """Something a connector asks for."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    label: str
    is_required: bool
    choices: list[str]
    default: str


class ConnectorOut(BaseModel):
    """A CRM that can be connected."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    title: str
    credential: str | None = Field(description="What the secret is called there.")
    options: list[ConnectorOptionOut]
    kinds: list[CrmKind]
    unit: str
    can_delete: bool


class ConnectionIn(RequestModel):
    """An account to connect."""

    connector: ShortText
    name: Line | None = None
    credential: Credential = ""
    options: Options = {}  # noqa: RUF012 - pydantic copies it
    daily_budget: Budget = None


class ConnectionChange(RequestModel):
    """What is to be different about a connection."""

    name: Line | None = None
    daily_budget: Budget = None


class CredentialIn(RequestModel):
    """Another credential of the same account."""

    credential: Credential


class DailyLimitOut(BaseModel):
    """A limit of a day, and what is left of the share that may be spent here."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    allowed: float
    left: float


class ConnectionOut(BaseModel):
    """A connection; its secret is not shown."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    connector: str
    name: str
    account_name: str
    is_active: bool
    paused_at: datetime | None
    problem: str | None
    daily_budget: int | None
    mapping: dict[str, Any]
    run_id: UUID | None
    run_at: datetime | None = Field(description="When the run began that is going on.")
    polled_at: datetime | None
    created_at: datetime
    counts: dict[str, int] = Field(
        default_factory=dict, description="Records by where they are."
    )
    has_credential: bool = False
    limits: list[DailyLimitOut] = []
    finish_at: datetime | None = Field(
        default=None,
        description="When what waits will be written, as the limits of the account allow.",
    )
    needs_worker: bool = Field(
        default=False,
        description="Whether something waits and no process has taken it for half a minute.",
    )


class CrmOptionOut(BaseModel):
    """One value that a choice can have."""

    model_config = ConfigDict(from_attributes=True)

    value: str
    label: str


class CrmFieldOut(BaseModel):
    """A field of theirs."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    label: str
    type: str
    options: list[CrmOptionOut]
    is_read_only: bool
    is_required: bool
    is_custom: bool


class CrmFieldsOut(BaseModel):
    """Their fields, and which value of ours goes where."""

    fields: list[CrmFieldOut]
    ours: list[str] = Field(description="The values of ours that can be mapped.")
    mapping: dict[str, str] = Field(description="What goes where now.")
    locked: list[str] = Field(
        description="Fields of ours: our id, and where values are from."
    )


class FieldRuleIn(RequestModel):
    """Where a value of ours goes, and who wins."""

    field: ShortText | None = None
    rule: ConflictRule = ConflictRule.FILL
    choices: Annotated[dict[ShortText, ShortText], Field(max_length=MOST_CHOICES)] = {}  # noqa: RUF012


FieldRules = Annotated[dict[ShortText, FieldRuleIn], Field(max_length=MOST_RULES)]


class MappingIn(RequestModel):
    """Rules by values of ours; what is not named goes where the connector puts it."""

    company: FieldRules = {}  # noqa: RUF012
    person: FieldRules = {}  # noqa: RUF012


class LeadsIn(RequestModel):
    """Some leads: by their ids or by a filter."""

    kind: Literal["companies", "contacts"] = "companies"
    ids: RecordIds | None = None
    filter: Annotated[list[Condition], Field(max_length=MOST_CONDITIONS)] | None = None
    q: Annotated[str, Field(max_length=1_000)] | None = None


class RunIn(LeadsIn):
    """Leads to write."""

    again: bool = Field(default=False, description="Make anew what was deleted there.")


class QueuedLeadsOut(BaseModel):
    """What was queued."""

    queued: int


class PreviewValue(BaseModel):
    """One value, under the name that people see there."""

    field: str
    label: str
    value: Any


class LeadPreviewOut(BaseModel):
    """A lead as it would stand there."""

    id: UUID
    refusal: str | None
    values: list[PreviewValue]
    unmatched: dict[str, str] = Field(
        description="Values of ours that do not fit their field, and are left out."
    )


class CrmDifferenceOut(BaseModel):
    """What a run would write, compared with what is there now."""

    model_config = ConfigDict(from_attributes=True)

    kind: CrmKind
    total: int = Field(description="How many leads are meant.")
    compared: int = Field(description="How many of them were compared: at most 1,000.")
    creates: int
    updates: int
    matched: int
    unchanged: int
    refused: int
    fields: dict[str, int]
    kept: dict[str, int]
    samples: list[dict[str, Any]]
    price: dict[str, float] = Field(description="What all of them take of each limit.")
    seconds: float = Field(description="How long the limits make it take at least.")
    along: "CrmDifferenceOut | None" = Field(
        default=None,
        description="Of what is written with them: best contacts, or companies. The price "
        "and the time are those of both.",
    )


class UndoOut(BaseModel):
    """What a slice of an undo did; call again while `left` is not 0."""

    model_config = ConfigDict(from_attributes=True)

    deleted: int
    restored: int
    kept: int
    left: int


class AnswerIn(RequestModel):
    """Whose value stands in one field of a record there."""

    record_id: UUID
    field: ShortText
    answer: DifferenceAnswer


class SyncWriteOut(BaseModel):
    """One write to the CRM."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    run_id: UUID
    kind: str
    record_id: UUID
    their_id: str
    label: str | None = Field(None, description="What the lead is called here.")
    is_new: bool
    before: dict[str, Any]
    after: dict[str, Any]
    undone_at: datetime | None
    created_at: datetime


class SyncRecordOut(BaseModel):
    """A record of ours in a CRM: since when, and what differs there."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    connection_id: UUID
    kind: str
    record_id: UUID
    state: str
    their_id: str | None
    label: str | None = Field(None, description="What the lead is called here.")
    problem: dict[str, Any]
    differs: dict[str, Any]
    done_at: datetime | None
    created_at: datetime
    updated_at: datetime


class RecordInCrmOut(SyncRecordOut):
    """The same, with the name of the connection: whoever reads leads may see no more of it."""

    name: str = Field(description="What the connection is called.")
