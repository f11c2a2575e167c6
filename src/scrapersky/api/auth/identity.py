"""Who is asking, and what that allows."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal
from uuid import UUID

from scrapersky.records.status import Role


class Permission(StrEnum):
    """What a route asks of its caller; the words are also the scopes of API keys."""

    READ = "read"
    EXPORT = "export"
    CURATE = "curate"
    ADMINISTER = "administer"
    OPERATE = "operate"
    METRICS = "metrics"


Via = Literal["session", "token", "key", "local"]

VIEWER: Final = frozenset({Permission.READ})
CURATOR: Final = VIEWER | {Permission.EXPORT, Permission.CURATE}
ADMIN: Final = CURATOR | {Permission.ADMINISTER}

OPERATOR: Final = frozenset({Permission.OPERATE, Permission.METRICS})
"""What touches all tenants."""

ROLES: Final = {Role.VIEWER: VIEWER, Role.CURATOR: CURATOR, Role.ADMIN: ADMIN}


def permissions_of(
    role: Role, *, is_home: bool, scopes: frozenset[Permission] | None = None
) -> frozenset[Permission]:
    """Return what a role allows in the installation's own tenant or in another.

    Scopes are the limits of a key; None means no limit beyond the role.
    """
    found: frozenset[Permission] = ROLES[role]
    if is_home and role is Role.ADMIN:
        found |= OPERATOR
    if scopes is None:
        return found
    # A key that may steer may also look: it was given to Prometheus before there was
    # one that may only look.
    implied = OPERATOR if Permission.OPERATE in scopes else frozenset()
    return found & (scopes | implied)


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller that was let in, for the length of one request."""

    tenant_id: UUID
    user_id: UUID | None
    name: str
    role: Role
    via: Via
    email: str | None = None
    tenant_name: str = ""
    scopes: frozenset[Permission] | None = None
    """What a key is limited to; None means no limit beyond the role."""
    is_home_admin: bool = False
    """Admin of the installation's own tenant, whose scopes may reach all tenants."""
    expires_at: datetime | None = None
    """When the credential ends, where it does."""
    credential: str = ""
    """Which key, session or token it was, without being the secret."""

    @property
    def permissions(self) -> frozenset[Permission]:
        """What this caller may do."""
        return permissions_of(self.role, is_home=self.is_home_admin, scopes=self.scopes)

    @property
    def is_operator(self) -> bool:
        """Whether this caller may do what touches all tenants."""
        return self.may(Permission.OPERATE)

    def may(self, permission: Permission) -> bool:
        """Say whether the caller may do this."""
        return permission in self.permissions
