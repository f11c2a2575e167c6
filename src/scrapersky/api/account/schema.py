"""What comes in and goes out about people, keys and tenants."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from scrapersky.api.auth.identity import Permission, Via
from scrapersky.api.auth.password import MAX_CHARACTERS
from scrapersky.api.schema import RequestModel
from scrapersky.curation.site_budget import MAX_BUDGET
from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import canonical_email
from scrapersky.records.status import Role


def an_email(value: str) -> str:
    """Read an e-mail address as a name to log in with: one @, no spaces, lower case."""
    local, at, host = value.strip().rpartition("@")
    if not (at and local and "." in host) or any(
        sign.isspace() or not sign.isprintable() for sign in value.strip()
    ):
        raise ValueError("this is not an e-mail address")
    return f"{local}@{host}".lower()


def a_plain_email(value: str) -> str:
    """Read the address of a new person, which cannot be mistaken for another's.

    Full-width and Cyrillic letters look like others, and a dot at the end like nothing.
    A host in another script is kept in ASCII, where everyone sees the difference.
    """
    address = an_email(value)
    local, _, host = address.rpartition("@")
    if not local.isascii() or host.endswith("."):
        raise ValueError(
            "an e-mail address is written in ASCII, with no dot at its end"
        )
    try:
        return canonical_email(address)
    except InvalidSubject:
        raise ValueError("this is not an e-mail address") from None


def a_name(value: str) -> str:
    """Read a name in which nothing is hidden."""
    if not value.strip() or not value.isprintable():
        raise ValueError("a name is made of signs one can see")
    return value.strip()


Email = Annotated[
    str,
    Field(min_length=3, max_length=254, examples=["ada@example.com"]),
    AfterValidator(an_email),
]
NewEmail = Annotated[
    str,
    Field(min_length=3, max_length=254, examples=["ada@example.com"]),
    AfterValidator(a_plain_email),
]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(a_name)]
Subject = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(a_name)]
Password = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_CHARACTERS,
        json_schema_extra={"format": "password"},
    ),
]


class LoginIn(RequestModel):
    """A person at the login."""

    email: Email
    password: Password
    tenant: str | None = Field(
        None,
        max_length=100,
        description="The tenant's short name, for a person who is in several.",
    )


class SessionTenant(BaseModel):
    """The tenant of a session."""

    id: UUID
    name: str


class SessionOut(BaseModel):
    """Who is asking, and what they may do."""

    via: Via
    name: str
    email: str | None
    role: Role
    is_operator: bool
    permissions: list[Permission]
    tenant: SessionTenant
    csrf_token: str | None = Field(
        description="Sent back as X-CSRF-Token with every change, by pages with a cookie."
    )
    environment: str
    version: str


class UserIn(RequestModel):
    """A person to let in."""

    email: NewEmail
    name: Name | None = None
    role: Role = Role.VIEWER
    password: Password | None = Field(
        None,
        description="Without one they come in by access token, or by an invitation.",
    )
    subject: Subject | None = Field(
        None, description="Who they are to the issuer of access tokens (`sub`)."
    )


class InvitationOut(BaseModel):
    """What an invitation's link holds; it is shown here and never again."""

    token: str = Field(
        description="The page takes it after the address: `/invitation#TOKEN`."
    )
    expires_at: datetime


class InvitationIn(RequestModel):
    """An invited person, who chooses a password."""

    token: str = Field(min_length=1, max_length=1_000)
    password: Password


class PasswordIn(RequestModel):
    """A person who changes their own password."""

    current: Password
    password: Password


class UserChange(RequestModel):
    """What changes of a person; what is left out stays."""

    name: Name | None = None
    role: Role | None = None
    password: Password | None = None
    subject: Subject | None = None
    disabled: bool | None = None


class UserOut(BaseModel):
    """A person of the tenant."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    email: str
    name: str | None
    role: Role
    subject: str | None
    disabled_at: datetime | None
    is_invited: bool = Field(
        description="Whether they have no password yet, and no other way to log in."
    )
    created_at: datetime
    updated_at: datetime


class LoginWays(BaseModel):
    """How people log in here, beside their password."""

    provider: str | None = Field(
        description="What the OpenID provider is called, if there is one.",
        examples=["Keycloak"],
    )


class OpenSession(BaseModel):
    """One browser that somebody is logged in with."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    device: str | None = Field(
        description="What the browser called itself.",
        examples=["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"],
    )
    address: str | None = Field(
        description="Where it was opened from.", examples=["192.0.2.7"]
    )
    created_at: datetime
    seen_at: datetime = Field(description="When it was last used, to the minute.")
    expires_at: datetime
    is_this: bool = Field(default=False, description="Whether it is the one that asks.")


class SessionsEnded(BaseModel):
    """How many sessions a request has ended."""

    ended: int


class KeyIn(RequestModel):
    """A key for a program."""

    name: Name = Field(examples=["nightly export"])
    role: Role = Role.VIEWER
    scopes: list[Permission] | None = Field(
        None,
        max_length=len(Permission),
        description="What it is limited to; without, all that its role may.",
    )
    expires_in_days: int | None = Field(None, ge=1, le=3650)


class KeyOut(BaseModel):
    """A key, without what makes it one."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    prefix: str
    role: Role
    scopes: list[Permission]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class KeyMade(KeyOut):
    """A new key; its secret is shown here and never again."""

    secret: str = Field(examples=["ssk_AbCdEfGhJk_..."])


class TenantIn(RequestModel):
    """A tenant to make, best with someone who can log in."""

    name: Name
    slug: str | None = Field(
        None, pattern=r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$", examples=["acme"]
    )
    admin: UserIn | None = Field(None, description="Its first admin.")


class TenantLimits(RequestModel):
    """What a tenant may take a day (UTC); what is left out stays."""

    pages_stored: Annotated[int, Field(ge=0, le=MAX_BUDGET)] | None = None
    pages_fetched: Annotated[int, Field(ge=0, le=MAX_BUDGET)] | None = None
    bytes: Annotated[int, Field(ge=0, le=MAX_BUDGET)] | None = None
    parse_seconds: Annotated[int, Field(ge=0, le=MAX_BUDGET)] | None = None
    snapshot_bytes: Annotated[int, Field(ge=0, le=MAX_BUDGET)] | None = Field(
        None,
        description="Packed bytes of pages that are kept as they were read, at any time; "
        "0 keeps none.",
    )


class TenantChange(RequestModel):
    """What changes of a tenant; what is left out stays."""

    name: Name | None = None
    suspended: bool | None = None
    budget: TenantLimits | None = None


class TenantOut(BaseModel):
    """A tenant."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    name: str
    slug: str
    suspended_at: datetime | None
    created_at: datetime
    budget: dict[str, int] = Field(
        description="What it may take a day, where that is not as set for all."
    )
