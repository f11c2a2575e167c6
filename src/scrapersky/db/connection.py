"""One way to reach PostgreSQL: where it is, how sessions behave, what may go wrong."""

import asyncio
import math
import re
import select
import socket
import ssl
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import asyncpg
import orjson
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.engine import AdaptedConnection, ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from scrapersky.compat.asyncpg import EnumCachingConnection, socket_of
from scrapersky.errors import (
    ConfigurationError,
    DatabaseFull,
    DatabaseOverloaded,
    DatabaseProblem,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseStarting,
    DatabaseUnreachable,
    DatabaseUnsuitable,
)

OLDEST_SUPPORTED = 14
DEFAULT_PORT = 5432
SUPAVISOR_TRANSACTION_PORT = 6543
DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
CONNECT_TIMEOUT = timedelta(seconds=5)
STATEMENT_TIMEOUT = timedelta(seconds=30)
IDLE_IN_TRANSACTION_TIMEOUT = timedelta(seconds=30)
TRUSTED_FOR = timedelta(seconds=1)
"""A connection that was idle for longer is asked for an answer before it is used."""
PING_TIMEOUT = timedelta(seconds=2)
SILENT_TIMEOUT = timedelta(seconds=15)
"""How long what we sent may stay unacknowledged before the connection counts as lost."""
KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""A peer that a firewall has forgotten is found out in 35 s, though nobody asks."""
USED_AT = "used_at"
SEVERAL_HOSTS = re.compile(
    r"(?P<user>[^:]+://(?:[^:/@]*(?::[^@]*)?@)?)(?P<hosts>[^/?@]+,[^/?@]+)(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Target:
    """Which database, and whether a transaction-mode pooler stands before it."""

    url: URL
    behind_pooler: bool = False

    @property
    def dsn(self) -> str:
        """The same place as a plain DSN for asyncpg or libpq."""
        plain = self.url.set(drivername="postgresql")
        return plain.render_as_string(hide_password=False)

    def __str__(self) -> str:
        return self.url.set(drivername="postgresql").render_as_string()


def parse_target(url: str, *, pooler: bool | None = None) -> Target:
    """Read a DATABASE_URL in any of the usual spellings.

    `pooler` decides when given; otherwise the URL does: `?pgbouncer=true`,
    `?pooler=transaction`, or Supavisor's transaction port. Of several hosts, as libpq has
    them, the one that can be written to is used.
    """
    try:
        found = spread_hosts(url)
    except ArgumentError as error:
        raise ConfigurationError(
            "DATABASE_URL is not a URL.",
            hint="Write it as postgresql://user:password@host:5432/database",
        ) from error
    if found.drivername.split("+")[0] not in {"postgres", "postgresql"}:
        raise ConfigurationError(
            f"DATABASE_URL names '{found.drivername}', but ScraperSky needs PostgreSQL.",
            hint="Write it as postgresql://user:password@host:5432/database, or leave "
            "it out to use the embedded PostgreSQL.",
        )
    says_pooler = found.query.get("pgbouncer") == "true" or (
        found.query.get("pooler") == "transaction"
    )
    if pooler is None:
        pooler = says_pooler or found.port == SUPAVISOR_TRANSACTION_PORT
    plain = found.difference_update_query(["pgbouncer", "pooler"])
    return Target(plain.set(drivername="postgresql+asyncpg"), behind_pooler=pooler)


def spread_hosts(url: str) -> URL:
    """Read `host:1,host:2` where a host stands, in the form that all of our drivers read."""
    if (several := SEVERAL_HOSTS.fullmatch(url)) is None:
        return make_url(url)
    pairs = [make_url(f"postgresql://{one}/") for one in several["hosts"].split(",")]
    if not all(pair.host for pair in pairs):
        raise ArgumentError("a host is missing")
    plain = make_url(f"{several['user']}{several['rest']}")
    spread = {
        "host": ",".join(str(pair.host) for pair in pairs),
        "port": ",".join(str(pair.port or DEFAULT_PORT) for pair in pairs),
        # A replica answers too, and refuses what we write.
        "target_session_attrs": "read-write",
    }
    return plain.set(query={**spread, **plain.query})


class NoPrimaryServer(ConnectionError):
    """Replicas answer, and no server that can be written to: there is none to connect to."""


async def connect_to_any(
    *,
    host: str | list[str] | None = None,
    port: int | list[int] | None = None,
    **arguments: Any,  # noqa: ANN401 - the driver's
) -> Any:  # noqa: ANN401 - the driver's
    """Connect to the first host that is as asked for.

    The driver does so too, but gives all of them together the time of one: a host without
    power would use it up, and the next would never be asked.
    """
    if not isinstance(host, list) or not isinstance(port, list):
        return await asyncpg.connect(host=host, port=port, **arguments)
    refused: list[Exception] = []
    for one, its_port in zip(host, port, strict=True):
        try:
            return await asyncpg.connect(host=one, port=its_port, **arguments)
        except asyncpg.TargetServerAttributeNotMatched as error:
            # That there is a replica says more than that the primary is gone.
            refused.insert(0, NoPrimaryServer(str(error)))
        except (OSError, asyncpg.CannotConnectNowError) as error:
            refused.append(error)
    raise refused[0]


def connect(
    target: Target,
    *,
    name: str = "scrapersky",
    pool_size: int = 5,
    statement_timeout: timedelta | None = STATEMENT_TIMEOUT,
    pool_timeout: timedelta = CONNECT_TIMEOUT,
    role: str | None = None,
    connection_class: type[EnumCachingConnection] = EnumCachingConnection,
) -> AsyncEngine:
    """Make the engine every session comes from; no connection is opened yet.

    `statement_timeout` is how long one statement may take; a migration may take as it needs.
    `pool_timeout` is how long to wait for a free connection, `role` what
    sessions act as (behind a pooler, only transactions that say so themselves), and
    `connection_class` the class of the driver's connections.
    """
    arguments: dict[str, Any] = {
        "timeout": CONNECT_TIMEOUT.total_seconds(),
        "command_timeout": (
            statement_timeout.total_seconds() if statement_timeout else None
        ),
        "connection_class": connection_class.for_engine(),
        "async_creator_fn": connect_to_any,
    }
    url = target.url
    if "sslmode" in url.query:
        arguments["ssl"] = url.query["sslmode"]
        url = url.difference_update_query(["sslmode"])
    if target.behind_pooler:
        # The next transaction may run on another server connection, which knows
        # nothing of statements prepared, or settings made, on this one.
        arguments["statement_cache_size"] = 0
        arguments["prepared_statement_cache_size"] = 0
        arguments["prepared_statement_name_func"] = unnamed_statement
    else:
        arguments["server_settings"] = session_settings(name)
        if role is not None:
            arguments["server_settings"]["role"] = role
    engine = create_async_engine(
        url,
        connect_args=arguments,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout.total_seconds(),
        # A ping of every request would cost three round trips: see PoolCheck.
        pool_pre_ping=False,
        # The connection that was used last has its statements prepared and planned.
        pool_use_lifo=True,
        json_deserializer=orjson.loads,
        # An error is logged; what it was about is people's data, or a secret.
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "handle_error", give_up_broken)
    event.listen(engine.sync_engine, "connect", notice_silence)
    check = PoolCheck()
    event.listen(engine.sync_engine, "checkin", check.checkin)
    event.listen(engine.sync_engine, "checkout", check.checkout)
    event.listen(engine.sync_engine, "close", check.close)
    return engine


def notice_silence(connection: AdaptedConnection, _entry: ConnectionPoolEntry) -> None:
    """Have the system find out that a peer is gone which never said goodbye."""
    found = socket_of(connection.driver_connection)
    if found is None or found.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    silence = SILENT_TIMEOUT // timedelta(milliseconds=1)
    for name, value in {**KEEPALIVE, "TCP_USER_TIMEOUT": silence}.items():
        if (option := getattr(socket, name, None)) is not None:
            found.setsockopt(socket.IPPROTO_TCP, option, value)


class PoolCheck:
    """Hands out no connection that died in the pool."""

    def __init__(self) -> None:
        self._lost_at = -math.inf

    def checkin(self, _connection: object, entry: ConnectionPoolEntry) -> None:
        """Remember when a connection was last known to work."""
        entry.info[USED_AT] = time.monotonic()

    def checkout(
        self, connection: AdaptedConnection, entry: ConnectionPoolEntry, _: object
    ) -> None:
        """Replace a connection that is dead; the others in the pool died with it.

        One that the server has closed is known without asking. One that a firewall has
        forgotten is not: it must answer, unless it was in use a moment ago. So must one
        from which something is to be read: as nothing was asked, it is a goodbye.
        """
        driver: asyncpg.Connection[Any] = connection.driver_connection
        if driver.is_closed():
            raise InvalidatePoolError("closed while it was idle")
        now = time.monotonic()
        idle = now - entry.info.get(USED_AT, now)
        is_doubtful = idle > TRUSTED_FOR.total_seconds() or has_unread(driver)
        if is_doubtful and not connection.run_async(answers):
            self._lost_at = now
            raise InvalidatePoolError("no answer")

    def close(self, connection: AdaptedConnection, entry: ConnectionPoolEntry) -> None:
        """Say no goodbye where nobody answers: it would be waited for, for seconds."""
        if entry.info.get(USED_AT, math.inf) < self._lost_at:
            connection.driver_connection.terminate()


def has_unread(driver: "asyncpg.Connection[Any]") -> bool:
    """Return whether something has arrived that the event loop has not come to yet."""
    found = socket_of(driver)
    if found is None:
        return False
    waiting = select.poll()
    waiting.register(found.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


async def answers(driver: "asyncpg.Connection[Any]") -> bool:
    """Return whether the server at the other end is there."""
    try:
        async with asyncio.timeout(PING_TIMEOUT.total_seconds()):
            await driver.execute("SELECT 1")
    except (
        OSError,
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,
    ):
        return False
    return True


def give_up_broken(context: ExceptionContext) -> None:
    """Throw a connection away whose server died between question and answer.

    The driver calls it busy, not closed; in the pool it would fail its next user too.
    """
    cause = getattr(context.original_exception, "__cause__", None)
    if isinstance(cause, asyncpg.InternalClientError):
        context.is_disconnect = True


def session_settings(name: str) -> dict[str, str]:
    """Return what every session of ours asks the server for."""
    idle = int(IDLE_IN_TRANSACTION_TIMEOUT / timedelta(milliseconds=1))
    return {
        "application_name": name[:63],
        "idle_in_transaction_session_timeout": str(idle),
        "tcp_user_timeout": "15000",
        "timezone": "UTC",
    }


def unnamed_statement() -> str:
    """Name every prepared statement nothing, as a pooler requires."""
    return ""


async def check_server(engine: AsyncEngine) -> None:
    """Connect once; raise what is wrong with the server in words for its operator."""
    where = engine.url.set(drivername="postgresql").render_as_string()
    try:
        async with engine.connect() as connection:
            version = await connection.scalar(text("SHOW server_version_num"))
            encoding = await connection.scalar(text("SHOW server_encoding"))
            query = text(
                "SELECT name FROM pg_settings WHERE name = ANY(:names) "
                "AND setting = 'off' ORDER BY name"
            )
            unsafe = (await connection.scalars(query, {"names": list(DURABLE)})).all()
    except (
        OSError,
        DBAPIError,
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,
    ) as error:
        raise explain_refusal(error, where) from error
    refuse_old_server(int(version or 0), where)
    if encoding != "UTF8":
        raise DatabaseUnsuitable(
            f"The database at {where} is encoded as {encoding}, which cannot hold all "
            "letters.",
            hint="Make one that can: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.",
        )
    if unsafe:
        raise DatabaseUnsuitable(
            f"The database at {where} runs with {', '.join(unsafe)} = off, so an "
            "acknowledged write could vanish in a crash.",
            hint="Switch it on in postgresql.conf and restart PostgreSQL.",
        )


def refuse_old_server(version: int, where: str) -> None:
    """Raise if the server is older than the oldest PostgreSQL we support."""
    if version < OLDEST_SUPPORTED * 10_000:
        raise DatabaseUnsuitable(
            f"The database at {where} is PostgreSQL {version // 10_000}; "
            f"ScraperSky needs {OLDEST_SUPPORTED} or newer.",
            hint="Upgrade it, or leave DATABASE_URL out to use the embedded one.",
        )


@dataclass(frozen=True, slots=True)
class ServerState:
    """A state in which a server is there and says no: what it is, and what to do."""

    error: type[DatabaseProblem]
    what: str
    hint: str


SERVER_STATES: Final = {
    "53100": ServerState(
        DatabaseFull,
        "has no disk space left",
        hint="Free space on its server. Nothing was stored: send the request again then. "
        "What works in the background goes on by itself.",
    ),
    "53200": ServerState(
        DatabaseOverloaded,
        "has no memory left",
        hint="Try again in a moment. If it stays so, give its server more memory, or "
        "lower work_mem or max_connections.",
    ),
    "53300": ServerState(
        DatabaseOverloaded,
        "has no connection left",
        hint="Try again in a moment. If it stays so, raise max_connections, or put a "
        "pooler before it.",
    ),
    "57P03": ServerState(
        DatabaseStarting,
        "is starting up or shutting down",
        hint="Try again in a moment; after a crash it may take minutes.",
    ),
    "25006": ServerState(
        DatabaseReadOnly,
        "can only be read: it is a replica, or was made read-only",
        hint="Connect to the primary server.",
    ),
}
"""By PostgreSQL's code."""


def explain_state(code: str, database: str = "The database") -> DatabaseProblem | None:
    """Say in which state the server is, if it says so by its code."""
    if (state := SERVER_STATES.get(code)) is None:
        return None
    return state.error(f"{database} {state.what}.", hint=state.hint)


def sqlstate_of(error: BaseException) -> str:
    """Return PostgreSQL's code for an error, or nothing."""
    cause = driver_error(error)
    return str(getattr(cause, "sqlstate", None) or "")


def driver_error(error: BaseException) -> BaseException:
    """Return the driver's error that SQLAlchemy has wrapped."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return cause.__cause__ or cause


def explain_refusal(error: BaseException, where: str) -> DatabaseProblem:
    """Translate a failed connection into what happened and what to do."""
    cause = driver_error(error)
    state = explain_state(sqlstate_of(error), f"The database at {where}")
    if state is not None:
        return state
    match cause:
        case NoPrimaryServer():
            return DatabaseReadOnly(
                f"No primary server is among the hosts that answer: {where}.",
                hint="Promote a replica, or start the primary server.",
            )
        case (
            asyncpg.InvalidPasswordError()
            | asyncpg.InvalidAuthorizationSpecificationError()
        ):
            return DatabaseRefused(
                f"The database at {where} refused the user name or password.",
                hint="Check them in DATABASE_URL (special characters as %XX).",
            )
        case asyncpg.InvalidCatalogNameError():
            return DatabaseRefused(
                f"The server answers, but there is no such database: {where}.",
                hint="Create it with `createdb`, or correct the name in DATABASE_URL.",
            )
        case asyncpg.UndefinedFunctionError():
            return DatabaseUnsuitable(
                f"The database at {where} calls what its server does not have: {cause}.",
                hint="It was copied from another version of PostgreSQL: run "
                "`scrapersky migrate`.",
            )
        case socket.gaierror():
            return DatabaseUnreachable(
                f"The host of the database is not known: {where}.",
                hint="Check the host name in DATABASE_URL.",
            )
        case ssl.SSLError():
            return DatabaseRefused(
                f"The database at {where} and we do not agree on TLS.",
                hint="Check sslmode in DATABASE_URL and the server's certificate.",
            )
        case TimeoutError():
            return DatabaseUnreachable(
                f"The database at {where} did not answer within "
                f"{CONNECT_TIMEOUT.seconds} seconds.",
                hint="Check host, port and firewall, or that the server is awake.",
            )
        case (
            asyncpg.InvalidSQLStatementNameError()
            | asyncpg.DuplicatePreparedStatementError()
        ):
            return unannounced_pooler(where)
        case asyncpg.ProtocolViolationError() if "startup parameter" in str(cause):
            return unannounced_pooler(where)
        case (
            asyncpg.PostgresConnectionError()
            | asyncpg.AdminShutdownError()
            | asyncpg.CrashShutdownError()
            | asyncpg.InternalClientError()
        ):
            return DatabaseUnreachable(
                f"The database at {where} broke off in the middle: it is being "
                "restarted, or has crashed.",
                hint="Try again in a moment; what was half done has been undone.",
            )
        case OSError():
            return DatabaseUnreachable(
                f"No database answers at {where}.",
                hint="Start it, correct DATABASE_URL, or leave DATABASE_URL out to use "
                "the embedded PostgreSQL.",
            )
    return DatabaseProblem(
        f"The database at {where} cannot be used: {type(cause).__name__}: {cause}",
        hint="Run `scrapersky doctor` for a closer look.",
    )


def unannounced_pooler(where: str) -> DatabaseUnsuitable:
    """Say that somebody stands between us and the server whom nobody has announced."""
    return DatabaseUnsuitable(
        f"A pooler in transaction mode seems to stand before the database at {where}.",
        hint="Set DATABASE_POOLER=transaction, and DATABASE_LISTEN_URL to a direct address.",
    )
