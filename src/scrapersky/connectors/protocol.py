"""What a connector is: the one small protocol that each CRM's file implements.

A connector translates between our words and those of one CRM, and knows its limits. It keeps
nothing: what was sent, which of their ids is which record of ours, and what to do when an answer
was lost is decided above it. It may be called again with the same arguments after a crash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Final, Protocol, TypeAlias
from uuid import UUID

from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.session import CrmSession

OWN_ID: Final = "scrapersky_id"
"""The field of theirs that holds our id; a CRM with fixed names may call it otherwise."""

CrmValue: TypeAlias = str | float | bool | tuple[str, ...] | None
"""A value of a field. None: empty. Dates and times are ISO texts, phones E.164, choices their
internal names; several of them are a tuple, sorted."""
CrmValues: TypeAlias = Mapping[str, CrmValue]
"""Values by the internal names of their fields."""


class CrmKind(StrEnum):
    """What kinds of records are kept in a CRM."""

    COMPANY = "company"
    PERSON = "person"


class CrmFieldType(StrEnum):
    """What a field holds."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"
    EMAIL = "email"
    PHONE = "phone"
    URL = "url"


@dataclass(frozen=True, slots=True)
class CrmOption:
    """One value that a choice can have: what is sent, and what people see."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmField:
    """A field of theirs, as their own schema describes it."""

    name: str
    """What is sent."""
    label: str
    """What people see there."""
    type: CrmFieldType = CrmFieldType.TEXT
    options: tuple[CrmOption, ...] = ()
    is_read_only: bool = False
    is_required: bool = False
    is_custom: bool = False
    max_characters: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmAccount:
    """Whose account a credential opens, and what it may do."""

    id: str
    """The same for every credential of the account, so that nobody connects it twice."""
    name: str
    missing: tuple[str, ...] = ()
    """Rights that it lacks, in words: what will not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmRecord:
    """A record of theirs, as it is now."""

    kind: CrmKind
    id: str
    values: CrmValues
    our_id: UUID | None = None
    """What its `scrapersky_id` says."""
    company_id: str | None = None
    """Of a person: the company it is linked to, if that came along."""
    old_ids: tuple[str, ...] = ()
    """Ids of records that were merged into it."""
    changed_at: datetime | None = None
    is_deleted: bool = False
    """In their bin, or gone; the values may be empty then."""
    is_unsubscribed: bool = False
    """The person does not want mail; where the CRM knows."""
    is_bounced: bool = False
    """Mail to the address came back for good; where the CRM knows."""
    more_emails: tuple[str, ...] = ()
    """Of a person: their other addresses, beside that in the field of the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordWrite:
    """One record to write: only these fields, nothing else of it."""

    kind: CrmKind
    our_id: UUID
    values: CrmValues
    """The own id is not among them: the connector adds it under its name for it."""
    their_id: str | None = None
    """Where it is known: update that record. None: make one, unless one bears our id."""
    company_id: str | None = None
    """Of a person: their id of its company, for a CRM that can link them in the same call."""


@dataclass(frozen=True, slots=True)
class Written:
    """It is there now."""

    their_id: str
    is_new: bool
    linked_to: str | None = None
    """Their id of the company that it was linked to in the same call."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The CRM said no, and will again unless something changes."""

    reasons: Mapping[str, str]
    """Why, by field; under "" what is about none."""
    existing_id: str | None = None
    """A record of theirs that is in the way: it has the same e-mail address, for example."""
    is_gone: bool = False
    """The record with `their_id` is not there any more."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have been written or not: the answer was lost."""

    why: str


WriteResult: TypeAlias = Written | Refused | Unknown


@dataclass(frozen=True, slots=True)
class PersonOfCompany:
    """A person and a company that belong together, by their ids."""

    person_id: str
    company_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmChanges:
    """What changed in the CRM after a cursor, in any order and perhaps twice."""

    records: Sequence[CrmRecord]
    """With `is_deleted` where one went, and `old_ids` where one swallowed others."""
    cursor: str
    """Where to go on, as the connector likes it; it overlaps what was read before."""
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncVolume:
    """How much is to be done, for the price of it."""

    reads: int = 0
    """Records read by their ids."""
    searches: int = 0
    """Keys by which records are looked for that are not known yet."""
    creates: int = 0
    updates: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class ConnectorOption:
    """Something that a person says when they connect, beside the credential."""

    name: str
    label: str
    is_required: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorInfo:
    """What there is to know about a connector before anything is connected."""

    name: str
    """In plain lower case letters: `hubspot`."""
    title: str
    credential: str | None
    """What the secret is called there; None: it needs none."""
    options: tuple[ConnectorOption, ...] = ()
    kinds: tuple[CrmKind, ...] = (CrmKind.COMPANY, CrmKind.PERSON)
    batch: Mapping[CrmKind, int] = field(default_factory=dict)
    """How many records one call of `write` takes, and of `read`; one unless named."""
    key_fields: Mapping[CrmKind, str] = field(default_factory=dict)
    """The field of theirs by which `find` looks: the e-mail address, the domain."""
    mapping: Mapping[CrmKind, Mapping[str, str]] = field(default_factory=dict)
    """Which field of theirs takes which value of ours, unless a person says otherwise."""
    unit: str = "calls"
    """What a price is counted in: `calls` or `tokens`."""
    knows_own: tuple[CrmKind, ...] = ()
    """Of which kinds `write` itself finds the record that bears our id, and makes no other."""
    can_delete: bool = True
    """Whether what was made by a run can be taken out again."""
    poll_every: timedelta = timedelta(minutes=5)
    """How often to ask what changed."""
    schema_lasts: timedelta = timedelta()
    """How long a schema is believed by later runs of a process, where reading it is dear. What
    does not fit any more has to be refused there, with the name of its field."""


@dataclass(frozen=True, slots=True)
class ConnectorContext:
    """What a connector is made with. It opens nothing itself."""

    session: CrmSession
    options: Mapping[str, str]
    """What the person said, defaults filled in."""
    credential: str
    folder: Path
    """A folder of this connection alone, for connectors that write files."""
    schemas: dict[CrmKind, dict[str, CrmField]] = field(default_factory=dict)
    """What this process knows of their schema, for connectors that need it to write."""


class Connector(Protocol):
    """One account of a CRM. Every method may raise the errors of `CrmError`.

    `read`, `read_own`, `find` and `changes` have no effect there. Texts go and come trimmed;
    values are compared after `normalised`, so that a CRM may write a phone number its own way.
    """

    info: ClassVar[ConnectorInfo]

    def __init__(self, context: ConnectorContext) -> None: ...

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return the limits of an account with these options; calls name them by `meter`."""
        ...

    async def account(self) -> CrmAccount:
        """Try the credential; return whose account it opens."""
        ...

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return every field of their schema, read-only ones too."""
        ...

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Make fields of ours that are not there yet, the own id first; return their names there.

        Raises CrmScopeMissing or CrmCannot if the account does not allow it.
        """
        ...

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read records by their ids, in as few calls as can be; who is not there is left out.

        A record that swallowed the one asked for is returned under the id asked for, with
        its own `id`.
        """
        ...

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Read records that bear our ids, from what is stored and not from a search index.

        This decides whether a lost write was done: what is left out is not there. `since`:
        they were made no earlier, if at all. Raise CrmBusy if it cannot be told yet.
        """
        ...

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Look for records by e-mail address or domain: a hint for people, never an identity."""
        ...

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Write at most a batch; return one result for each, in order.

        What is raised means that nothing was written, unless it is CrmAnswerLost: then
        nothing is known of any of them.
        """
        ...

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Link persons to companies, which may be so already; return why, where it failed."""
        ...

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Return what changed after a cursor; None: nothing yet, but where to begin from now."""
        ...

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Erase a record for good, by its id; it is no error if it is gone.

        Raises CrmCannot with what a person has to do instead.
        """
        ...

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Put records into their bin: those that a run made, when it is undone."""
        ...

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return what so much work takes of each meter, by its name."""
        ...
