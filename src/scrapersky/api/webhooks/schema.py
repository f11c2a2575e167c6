"""What comes in and goes out about webhooks."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from scrapersky.api.schema import RequestModel
from scrapersky.api.title import Line
from scrapersky.errors import BadUrl
from scrapersky.records import KINDS
from scrapersky.records.change import ChangeEvent
from scrapersky.webhooks.message import DEFAULT_EVENTS, PATTERN, SINGLE_FORMAT
from scrapersky.webhooks.sender import parse_address
from scrapersky.webhooks.signature import SYMMETRIC

MAX_URL_CHARACTERS: Final = 2_000
MAX_EVENTS: Final = 50
KINDS_TOLD: Final = frozenset(kind.singular for kind in KINDS.values())
EVENTS_TOLD: Final = frozenset(event.value for event in ChangeEvent)


def an_event(value: str) -> str:
    """Read a type of events, such as `company.changed`, `contact.*` or `*`."""
    kind, _, event = value.partition(".")
    is_known = value == "*" or (kind in KINDS_TOLD and event in EVENTS_TOLD | {"*"})
    if not PATTERN.fullmatch(value) or not is_known:
        raise ValueError(
            f"there are no such events; kinds are {', '.join(sorted(KINDS_TOLD))}, "
            f"and what happens to them {', '.join(sorted(EVENTS_TOLD))}"
        )
    return value


def an_address(value: str) -> str:
    """Read an address to post to, with nothing in it that would be logged."""
    try:
        url = parse_address(value.strip())
    except BadUrl as error:
        raise ValueError(f"this is no address of the web: {error.why}") from None
    if url.scheme not in {"http", "https"}:
        raise ValueError("an address begins with https:// or http://")
    if "@" in urlsplit(value.strip()).netloc:
        # It would be left out, and every message refused for want of it.
        raise ValueError("a user and password in an address are not sent")
    return str(url)


EventType = Annotated[str, Field(max_length=60), AfterValidator(an_event)]
Address = Annotated[
    str,
    Field(
        min_length=8,
        max_length=MAX_URL_CHARACTERS,
        examples=["https://example.com/hooks/scrapersky"],
    ),
    AfterValidator(an_address),
]
Format = Literal["event", "batch"]
Scheme = Literal["v1", "v1a"]
EventTypes = Annotated[
    list[EventType],
    Field(
        min_length=1,
        max_length=MAX_EVENTS,
        description="Types of events that it receives: `company.changed`, `contact.*`, or `*`.",
        examples=[list(DEFAULT_EVENTS)],
    ),
]
Actors = Annotated[
    list[Line],
    Field(
        max_length=20,
        description="Whose changes it does not receive, such as the name of the API key "
        "with which it writes back: otherwise it would receive each of its own.",
    ),
]
Schemes = Annotated[
    list[Scheme],
    Field(
        min_length=1,
        max_length=2,
        description="`v1`: HMAC-SHA256 with the shared secret; `v1a`: Ed25519, checked "
        "with the public key.",
    ),
]


class WebhookIn(RequestModel):
    """A new endpoint."""

    url: Address
    name: Line | None = None
    events: EventTypes = list(DEFAULT_EVENTS)  # noqa: RUF012 - pydantic copies it
    format: Format = Field(
        SINGLE_FORMAT,
        description="`event`: a message for each change; `batch`: up to 100 in one, for "
        "those who take many.",
    )
    ignored_actors: Actors = []  # noqa: RUF012 - as above
    schemes: Schemes = [SYMMETRIC]  # noqa: RUF012 - as above


class WebhookChange(RequestModel):
    """What is to be different about an endpoint."""

    url: Address | None = None
    name: Line | None = None
    events: EventTypes | None = None
    format: Format | None = None
    ignored_actors: Actors | None = None
    schemes: Schemes | None = None
    is_active: bool | None = Field(
        None, description="On again, it goes on with what was not delivered."
    )


class WebhookOut(BaseModel):
    """An endpoint; its secret is not shown."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    url: str
    events: list[str]
    format: Format
    ignored_actors: list[str]
    schemes: list[Scheme]
    public_key: str | None = Field(description="What `v1a` is checked with.")
    is_active: bool
    failing_since: datetime | None
    problem: str | None = Field(description="Why it receives nothing now.")
    disabled_at: datetime | None = Field(
        description="When it was switched off because nothing was taken any more."
    )
    pending: int = Field(0, description="Messages that wait (counted up to 1,000).")
    last_delivery_at: datetime | None = None
    created_at: datetime


class WebhookMade(WebhookOut):
    """A new endpoint, or one with a new secret: the only time that it is shown."""

    secret: str = Field(examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])


class RotationIn(RequestModel):
    """How long the secret before holds beside the new one."""

    overlap_hours: int = Field(24, ge=0, le=24 * 30)


class DeliveryAttemptOut(BaseModel):
    """One time that a message was posted."""

    at: datetime
    ms: int
    status: int | None
    why: str | None = Field(description="Why it failed, if it did.")


class WebhookDeliveryOut(BaseModel):
    """One message, and how it went."""

    id: UUID
    message_id: str = Field(description="The header `webhook-id`.")
    type: str
    event_count: int
    state: Literal["pending", "delivered", "failed"]
    attempts: list[DeliveryAttemptOut]
    next_at: datetime | None
    created_at: datetime
    delivered_at: datetime | None


class WebhookTestOut(BaseModel):
    """How a test message went."""

    is_delivered: bool
    message_id: str
    attempt: DeliveryAttemptOut


class ReplayIn(RequestModel):
    """What is to be sent again."""

    since: datetime
    until: datetime | None = None
    failed_only: bool = Field(
        default=True,
        description="Those messages that were given up, with the ids they had. Otherwise "
        "every change from `since` on is sent again, in new messages.",
    )


class ReplayOut(BaseModel):
    """What a replay will send."""

    messages: int = Field(description="Messages that are sent again.")
    starts_at: datetime | None = Field(
        description="Since when all changes are sent again, if they are."
    )


def delivery_out(row: Any) -> WebhookDeliveryOut:  # noqa: ANN401 - a row
    """Show one message."""
    return WebhookDeliveryOut(
        id=row.id,
        message_id=f"msg_{row.id.hex}",
        type=row.type,
        event_count=row.event_count,
        state=row.state,
        attempts=row.attempts,
        next_at=row.next_at,
        created_at=row.created_at,
        delivered_at=row.delivered_at,
    )
