"""Every error ScraperSky raises on purpose.

ScraperSkyError
├── ConfigurationError      a setting is misspelt, invalid or unsafe
├── CurationError           a decision cannot be made as asked (InvalidDecision,
│                           InvalidCondition, InvalidSubmission, UnknownAction,
│                           UnknownBatch)
├── RecordError             records cannot be shown or changed as asked
│   ├── InvalidCursor, ChangesForgotten, SubscriptionTaken, InvalidExport,
│   │   InvalidImport
│   ├── UnknownRecord, IllegalStatus, RecordConflict, RecordChanged, VersionMissing
│   └── ForeignReference, NotStorable, WeakPassword, InvalidUserChange
├── GatewayError            the API does not let a request through
│   ├── NotAuthenticated, NotAllowed, TooManyRequests
│   ├── MalformedRequest, BodyTooBig, BodyTooSlow, EncodedBody, AddressTooLong,
│   │   LoopDetected
│   ├── KeyReused, StillWorking, AnswerNotKept (Idempotency-Key)
│   └── TenantUnknown       a bug of ours, if it is ever seen
├── PrivacyError            people's data cannot be handled as asked
│   (InvalidSubject, Suppressed, UnknownSuppression)
├── SearchFailed            a search could not be brought to its end
├── UnknownJob              the scheduler has no such job
├── AlreadyRunning          another process serves this data directory
├── BackupUnusable          a backup cannot be made, read or restored as asked
├── DatabaseProblem         the database cannot be used as it is
├── StageError              a stage cannot do what was asked (StageNotFound,
│                           InvalidStageSettings, ItemNotFound)
├── PageWithheld            something else stands in the place of a page that was read before
├── FetchError              a URL could not be fetched; each has an outcome word
│   ├── TooSlow, TooBig, BadHttp (ConnectionLost), BadTls (TlsTooSlow)
│   ├── BlockedAddress (BlockedPort), BlockedScheme, BadUrl
│   ├── DnsFailed (NoSuchHost), ConnectFailed, RedirectLimit
│   ├── RobotsDenied (RobotsUnreachable, CrawlDelayTooLong)
│   ├── HostBackoff (HostPaused, HostBusy), Trap, NotHtml, BadXml
│   └── Unforeseen          the net under the rest; a bug if it is ever seen
└── ProviderError           a source of places did not give what was asked
    ├── ProviderBusy        quota, overload, time-out: the same may work later
    ├── BadProviderAnswer   an answer nobody can read; it may be whole next time
    ├── ProviderRefused (PlaceGone), AreaTooBig, UnknownLocation
    ├── BadPlaceQuery, BadPlaceFile
    ├── SourceUnavailable   the source is unknown or switched off
    │   └── KeyMissing      it lacks its key; its stage pauses
    └── BudgetExhausted     the next request would cost more than was allowed
    (ProviderUnusable stands by itself: bad key, billing off, blocked; its stage pauses)

CrmError                    a CRM did not do what was asked, or cannot (a ScraperSkyError too)
├── CrmBusy                 a limit, a lock, an outage: the same may work later
├── CrmAnswerLost           it may have been done: only reading back can tell
├── CrmRejected             the whole request was refused, with the CRM's words
├── CrmTokenRejected, CrmScopeMissing, CrmCannot, UnknownConnector
└── BadCrmAnswer            an answer nobody can read, or an error that says 200

Each says what happened, and in `hint` what to do about it. `retryable` says to the
Curation SDK whether the same work may succeed later, `pauses_stage` that no item of the
stage can succeed now; `status_code` is the HTTP answer.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar, Literal

Scope = Literal["page", "host"]


class ScraperSkyError(Exception):
    """Something went wrong that we foresaw."""

    retryable: ClassVar[bool] = False
    status_code: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ConfigurationError(ScraperSkyError):
    """A setting is misspelt, invalid or unsafe; nothing was started."""


class CurationError(ScraperSkyError):
    """A decision cannot be made as it was asked for."""

    status_code = 422


class InvalidDecision(CurationError):
    """There is no such kind of record, or no such status of it."""


class InvalidCondition(CurationError):
    """A filter names a field or value that does not exist or does not fit."""


class UnknownAction(CurationError):
    """There is no such action to undo, or it is undone already."""

    status_code = 404


class InvalidSubmission(CurationError):
    """Nothing of that kind can be submitted."""


class UnknownBatch(CurationError):
    """There is no such batch of this tenant."""

    status_code = 404


class RecordError(ScraperSkyError):
    """Records cannot be shown or changed as asked."""

    status_code = 422


class InvalidCursor(RecordError):
    """A cursor is forged, or belongs to another list, filter, sort or tenant."""


class ChangesForgotten(RecordError):
    """The change log does not reach back to a cursor any more: whoever has it starts over."""

    status_code = 410


class SubscriptionTaken(RecordError):
    """Another process follows the changes for this row now, or nobody is to any more."""

    status_code = 409


class InvalidExport(RecordError):
    """A list cannot be exported in that form."""


class InvalidImport(RecordError):
    """A file is not the list of lines that it should be."""


class UnknownRecord(RecordError):
    """There is no such record of this tenant."""

    status_code = 404


class IllegalStatus(RecordError):
    """A person may not set this status: the stage sets it."""

    status_code = 409


class RecordConflict(RecordError):
    """The change would make two records of what must be one."""

    status_code = 409


class RecordChanged(RecordError):
    """Someone has changed the record since it was read."""

    status_code = 412


class VersionMissing(RecordError):
    """A change must say which version of the record it was made of."""

    status_code = 428


class ForeignReference(RecordError):
    """The request refers to a record that does not exist for this tenant."""


class NotStorable(RecordError):
    """A value cannot be kept: a character or a number PostgreSQL does not take."""


class InvalidUserChange(RecordError):
    """A change of a user or tenant that changes nothing, or takes away too much."""


class WeakPassword(RecordError):
    """The password could be guessed."""


class GatewayError(ScraperSkyError):
    """The API does not let a request through."""

    status_code = 403


class NotAuthenticated(GatewayError):
    """The request is not authenticated."""

    status_code = 401


class InvalidInvitation(GatewayError):
    """An invitation that was used, is too old, or is not ours."""


class NotAllowed(GatewayError):
    """Whoever sent this request may not do that."""


class ServerStopping(GatewayError):
    """The server stops and cannot finish this; the same request, sent again, goes on."""

    status_code = 503
    retryable = True


class TooManyRequests(GatewayError):
    """The caller asks faster than it may; `retry_after` says when to come back."""

    status_code = 429

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after: timedelta
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class TooManyExports(TooManyRequests):
    """As many exports are under way as one caller, tenant or process may have."""


class MalformedRequest(GatewayError):
    """The request is not what HTTP or JSON asks for, or carries what it must not."""

    status_code = 400


class BodyTooBig(GatewayError):
    """The request's body is larger than this address takes."""

    status_code = 413


class BodyTooSlow(GatewayError):
    """The request's body did not arrive in time."""

    status_code = 408


class EncodedBody(GatewayError):
    """The request's body is compressed, or of a kind this address does not take."""

    status_code = 415


class AddressTooLong(GatewayError):
    """The address with its query is longer than any list needs."""

    status_code = 414


class LoopDetected(GatewayError):
    """A message of a webhook was sent back to ScraperSky, where it would never end."""

    status_code = 508


class KeyReused(GatewayError):
    """The Idempotency-Key was used for another request."""

    status_code = 422


class StillWorking(GatewayError):
    """The first request with this Idempotency-Key is not answered yet."""

    status_code = 409


class AnswerNotKept(GatewayError):
    """The request with this Idempotency-Key was done; its answer held a secret."""

    status_code = 409


class TenantUnknown(GatewayError):
    """Work of the API began without saying for whom; it is our bug."""

    status_code = 500


class PrivacyError(ScraperSkyError):
    """People's data cannot be handled as asked."""

    status_code = 422


class InvalidSubject(PrivacyError):
    """A text is not an e-mail address, phone number or domain."""


class Suppressed(PrivacyError):
    """Somebody asked to be left alone: the value is not stored."""


class ErasureUnfinished(PrivacyError):
    """The database went away in the middle of an erasure; sent again, it is finished."""

    status_code = 503
    retryable = True


class InvalidNotice(PrivacyError):
    """A notice to people cannot have been given like this."""


class UnknownSuppression(PrivacyError):
    """There is no such entry in the tenant's suppression list."""

    status_code = 404


class SearchFailed(ScraperSkyError):
    """A search could not be brought to its end."""


class UnknownJob(ScraperSkyError):
    """The scheduler has no job of this name."""

    status_code = 404


class AlreadyRunning(ScraperSkyError):
    """Another ScraperSky serves this data directory, or has the demo town open."""

    status_code = 409


class BackupUnusable(ScraperSkyError):
    """A backup cannot be made, read or restored as asked."""


class OldDatabaseUnusable(ScraperSkyError):
    """A database is not one of the system before this one, or cannot be read."""


class DatabaseProblem(ScraperSkyError):
    """The database cannot be used as it is."""

    status_code = 503


class DatabaseUnreachable(DatabaseProblem):
    """Nothing answers where the database should be; it may later."""

    retryable = True


class DatabaseRefused(DatabaseProblem):
    """The database answered and refused us: user, password or database name."""


class DatabaseUnsuitable(DatabaseProblem):
    """The server is too old, or promises less than we promise."""


class DatabaseReadOnly(DatabaseUnsuitable):
    """The database can only be read: it is a replica, or was made read-only."""


class DatabaseStarting(DatabaseUnreachable):
    """The database is starting up, recovering or shutting down; it answers soon."""


class DatabaseOverloaded(DatabaseUnreachable):
    """The server of the database has no memory or no connection left for us."""


class DatabaseFull(DatabaseProblem):
    """The server of the database has no disk space left: nothing can be stored."""

    retryable = True


class DatabaseBusy(DatabaseProblem):
    """Every connection is in use; come back in a moment."""

    retryable = True


class QueryTooSlow(DatabaseProblem):
    """The database was asked to stop: the query takes longer than one may."""


class SchemaMismatch(DatabaseProblem):
    """The schema in the database is not the one this code needs."""


class EmbeddedPostgresFailed(DatabaseProblem):
    """The embedded PostgreSQL could not be prepared, started or stopped."""


class StageError(ScraperSkyError):
    """A stage cannot do what was asked, or cannot run as it is."""


class StageNotFound(StageError):
    """No stage of this name was ever registered in this database."""

    status_code = 404


class InvalidStageSettings(StageError):
    """Settings of a stage cannot be changed so; `wrong` has the reason by setting."""

    status_code = 422

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        wrong: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.wrong = wrong or {}


class ItemNotFound(StageError):
    """The stage's table has no such row, or it is not in the state asked for."""

    status_code = 404


class FetchError(ScraperSkyError):
    """A URL could not be fetched."""

    status_code = 502
    outcome: ClassVar[str] = "unforeseen"
    """The one word for what happened, in logs, counters and on the record."""
    scope: ClassVar[Scope] = "page"
    """Whether other pages of the same host would meet the same fate."""

    def __init__(
        self, url: str, why: str, *, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(f"{url}: {why}")
        self.url = url
        self.why = why
        self.retry_after = retry_after


class PageWithheld(ScraperSkyError):
    """A page that was read before is not shown to us: something else stands in its place."""

    def __init__(self, url: str, why: str, *, is_replaced: bool) -> None:
        super().__init__(f"{url}: {why}")
        self.is_replaced = is_replaced
        """Whether the site may be somebody else's, or nobody's, by now."""


class TooSlow(FetchError):
    """The server did not keep up: no headers, too few bytes, or no end in time."""

    outcome = "too_slow"
    retryable = True


class TooBig(FetchError):
    """The answer is larger, on the wire or inflated, than we take."""

    outcome = "too_big"


class RenderFailed(FetchError):
    """The scripts of a page could not be run to their end in a browser."""

    outcome = "render_failed"


class BadHttp(FetchError):
    """The answer is not HTTP as the standard has it."""

    outcome = "bad_http"


class ConnectionLost(BadHttp):
    """The server closed or reset the connection before it had answered."""

    retryable = True


class BadTls(FetchError):
    """No trustworthy TLS connection could be made; we never go on without one."""

    outcome = "bad_tls"
    scope = "host"


class TlsTooSlow(BadTls):
    """The TLS handshake did not end in time."""

    retryable = True


class BlockedAddress(FetchError):
    """The host resolves to an address that is not public, so we do not connect."""

    outcome = "blocked_addr"
    scope: ClassVar[Scope] = "host"


class BlockedPort(BlockedAddress):
    """The URL names a port that no web site needs."""

    scope = "page"


class BlockedScheme(FetchError):
    """The URL is neither http nor https."""

    outcome = "blocked_scheme"


class BadUrl(FetchError):
    """The text to fetch is not a URL."""

    outcome = "bad_url"


class DnsFailed(FetchError):
    """The name could not be resolved in time."""

    outcome = "dns_error"
    scope: ClassVar[Scope] = "host"
    retryable = True


class NoSuchHost(DnsFailed):
    """The name does not exist, or has no address; whoever says so may be mistaken."""


class ConnectFailed(FetchError):
    """No address of the host accepted a connection in time."""

    outcome = "connect_error"
    scope = "host"
    retryable = True


class RedirectLimit(FetchError):
    """The server sent us on more often than we follow."""

    outcome = "redirect_limit"


class RobotsDenied(FetchError):
    """The site's robots.txt asks us not to fetch this."""

    outcome = "robots_denied"


class RobotsUnreachable(RobotsDenied):
    """The site could not say what it allows, which means nothing for now."""

    scope = "host"
    retryable = True


class CrawlDelayTooLong(RobotsDenied):
    """The site asks for more time between requests than we can give it."""

    scope = "host"


class Trap(FetchError):
    """The page or the site would cost without end; it was left."""

    outcome = "trap"


class ParserUnavailable(Trap):
    """No process parsed the page in time: our trouble, not the page's."""

    retryable = True


class NotHtml(FetchError):
    """A page was asked for, and something else came."""

    outcome = "not_html"


class BadXml(FetchError):
    """A sitemap or feed was asked for, and something else came."""

    outcome = "bad_xml"


class HostBackoff(FetchError):
    """The host asked us, by 429 or 503, to come back later."""

    outcome = "backoff"
    scope = "host"
    retryable = True


class HostPaused(HostBackoff):
    """The host is paused, by its own wish or an operator's; nothing was sent."""


class HostBusy(HostBackoff):
    """Other requests to the host took all the time we had to wait; nothing was sent."""


class Unforeseen(FetchError):
    """Something happened that no rule foresaw; it is our bug, and it is logged."""


class ProviderError(ScraperSkyError):
    """A source of places did not give what was asked."""

    status_code = 502

    def __init__(
        self,
        provider: str,
        why: str,
        *,
        hint: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(f"{provider}: {why}", hint=hint)
        self.provider = provider
        self.why = why
        self.retry_after = retry_after
        """How long the provider asked us to wait, where it said so."""


class ProviderBusy(ProviderError):
    """The provider is over its quota, overloaded, too slow or away for now."""

    retryable = True


class BadProviderAnswer(ProviderError):
    """The answer was cut, too large, or not the JSON it should be."""

    retryable = True


class ProviderRefused(ProviderError):
    """The provider understood the request and says no; asking again is no use."""


class PlaceGone(ProviderRefused):
    """The provider no longer knows this place."""

    status_code = 404


class AreaTooBig(ProviderError):
    """The provider gave up on an area; it may answer for a part of it."""


class UnknownLocation(ProviderError):
    """No place on the map has the name that was searched in."""

    status_code = 422


class BadPlaceQuery(ProviderError):
    """The search cannot be asked of this source as it is."""

    status_code = 422


class BadPlaceFile(ProviderError):
    """The file holds no places in any form we read."""

    status_code = 422


class SourceUnavailable(ProviderError):
    """The source is unknown or switched off."""

    status_code = 422


class KeyMissing(SourceUnavailable):
    """The source needs a key and has none: no search of it can succeed, so they wait."""

    pauses_stage: ClassVar[bool] = True
    resume_after: ClassVar[timedelta | None] = None


class BudgetExhausted(ProviderError):
    """The next request would cost more than was allowed; it was not made."""

    status_code = 402


class ProviderUnusable(ScraperSkyError):
    """The provider will refuse everyone (bad key, billing off, we are blocked)."""

    status_code = 503
    pauses_stage: ClassVar[bool] = True

    def __init__(
        self,
        provider: str,
        why: str,
        *,
        hint: str | None = None,
        resume_after: timedelta | None = None,
    ) -> None:
        super().__init__(f"{provider}: {why}", hint=hint)
        self.provider = provider
        self.resume_after = resume_after


class CrmError(ScraperSkyError):
    """A CRM did not do what was asked of it."""

    # It is not our failure: whoever asked is to read the reason.
    status_code = 424
    may_be_done = False
    """Whether a write may have been done all the same: an earlier answer to it was lost."""


class CrmBusy(CrmError):
    """A limit, a lock or an outage of the CRM: the same may work later."""

    retryable = True

    def __init__(
        self, message: str, *, after: timedelta, limit: str | None = None
    ) -> None:
        super().__init__(message)
        self.after = after
        """How much later to ask again."""
        self.limit = limit
        """Which limit was hit, if it was one."""


class CrmAnswerLost(CrmError):
    """The answer to a write was lost: it may have been done, and only reading back can tell."""

    retryable = True


class CrmRejected(CrmError):
    """The CRM refused a request as a whole: an invalid value, a conflict, no such record."""

    status_code = 422

    def __init__(self, message: str, *, status: int, body: object = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body
        """What it answered, parsed, without secrets."""


class CrmTokenRejected(CrmError):
    """The credential is not valid (any more): the connection stops until it gets another."""

    status_code = 422


class CrmScopeMissing(CrmError):
    """The credential is valid, but lacks a right; other calls may go on."""

    status_code = 422


class CrmCannot(CrmError):
    """This CRM, or this account of it, has no way to do what was asked."""

    status_code = 422


class BadCrmAnswer(CrmError):
    """The answer was cut, too large, not what it should be, or an error that said 200."""

    retryable = True


class UnknownConnector(CrmError):
    """There is no connector of this name."""

    status_code = 422
