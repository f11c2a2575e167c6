"""The client: every operation of the API as a method, and what programs do with several."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import httpx

from scrapersky_client import models
from scrapersky_client.error import ServerUnreachable
from scrapersky_client.operations import Operations
from scrapersky_client.request import DEFAULT_RETRY, RequestParts, RetryPolicy
from scrapersky_client.response import (
    EventReader,
    StreamEvent,
    error_of,
    value_of,
)
from scrapersky_client.sending import (
    CHANGES_PER_ANSWER,
    FEED_WAIT_SECONDS,
    FIRST_ERROR,
    PAGE_ITEMS,
    SEARCH_POLL_SECONDS,
    STREAM_TIMEOUT,
    UNDER_WAY,
    content_of,
    defaults,
    is_temporary,
    unreachable,
)

Page = Callable[..., Mapping[str, Any]]


class ScraperSky(Operations):
    """A client of one server, with the rights of one API key.

    It may be used by several threads, and is closed at the end of a `with` block.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client(**defaults(url, key, timeout))
        self._retry = retry

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def pages(
        self,
        operation: Page,
        **query: Any,  # noqa: ANN401 - as the operation takes it
    ) -> Iterator[Any]:
        """Yield every record of a list, page by page: `sky.pages(sky.list_companies, q="ada")`."""
        query.setdefault("limit", PAGE_ITEMS)
        cursor = None
        while True:
            answer = operation(**query, cursor=cursor)
            yield from answer["items"]
            cursor = answer.get("next_cursor")
            if cursor is None:
                return

    def wait_for_search(
        self,
        search_id: str,
        *,
        progress: Callable[[models.SearchProgressOut], object] | None = None,
        every_seconds: float = SEARCH_POLL_SECONDS,
    ) -> models.SearchProgressOut:
        """Return once nothing is left that stages could do for a search; look at `state`.

        `progress` is called with what is known each time that it has changed.
        """
        last = None
        while True:
            found = self.read_search_progress(search_id)
            if progress is not None and found != last:
                progress(found)
            last = found
            if found["state"] not in UNDER_WAY:
                return found
            time.sleep(every_seconds)

    def changes(
        self, since: str = "now", *, kinds: str | None = None, follow: bool = True
    ) -> Iterator[models.ChangesOut]:
        """Yield parts of the change feed: keep `cursor` once you have done what one says.

        With `follow=False` it ends when there is nothing more. `StartOver` means that the
        cursor is too old.
        """
        while True:
            answer = self.list_changes(
                since=since,
                kinds=kinds,
                limit=CHANGES_PER_ANSWER,
                wait=FEED_WAIT_SECONDS if follow else 0,
            )
            if answer["changes"] or answer["cursor"] != since:
                yield answer
            since = answer["cursor"]
            if not (follow or answer["more"]):
                return

    def events(self) -> Iterator[StreamEvent]:
        """Yield what changes, as it changes; a lost connection is opened again."""
        reader = EventReader()
        tried = 0
        while True:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": reader.last_id}
            try:
                with self._http.stream(
                    "GET",
                    "/api/v3/events",
                    headers={name: value for name, value in headers.items() if value},
                    timeout=STREAM_TIMEOUT,
                ) as answer:
                    if answer.status_code >= FIRST_ERROR and not is_temporary(answer):
                        raise error_of(answer.status_code, answer.read())
                    for line in answer.iter_lines():
                        if event := reader.read(line):
                            tried = 0
                            yield event
            except httpx.TransportError:
                pass
            tried += 1
            time.sleep(max(self._retry.pause(1, None, {}), 0))
            if tried > self._retry.tries:
                raise ServerUnreachable(
                    "The stream of events could not be opened again."
                )

    def _json(self, parts: RequestParts) -> Any:  # noqa: ANN401 - of any shape
        with self._answer(parts) as answer:
            return value_of(answer.read())

    def _download(self, parts: RequestParts) -> Iterator[bytes]:
        with self._answer(parts) as answer:
            yield from answer.iter_bytes()

    @contextmanager
    def _answer(self, parts: RequestParts) -> Iterator[httpx.Response]:
        """Send a request, again where that is harmless, and yield the answer."""
        headers = parts.headers()
        tried = 0
        while True:
            tried += 1
            try:
                answer = self._http.send(self._request(parts, headers), stream=True)
            except httpx.TransportError as error:
                pause = self._retry.pause(tried, None, {})
                if pause < 0 or not parts.is_repeatable:
                    raise unreachable(error) from error
            else:
                if answer.status_code < FIRST_ERROR:
                    try:
                        yield answer
                    finally:
                        answer.close()
                    return
                content = answer.read()
                pause = self._retry.pause(tried, answer.status_code, answer.headers)
                if pause < 0 or not parts.is_repeatable:
                    raise error_of(answer.status_code, content)
            time.sleep(pause)

    def _request(
        self, parts: RequestParts, headers: Mapping[str, str]
    ) -> httpx.Request:
        return self._http.build_request(
            parts.method,
            parts.address,
            params=parts.parameters,
            headers=headers,
            json=parts.body,
            content=content_of(parts.file),
        )
