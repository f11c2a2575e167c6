"""The asynchronous client: the same operations, awaited."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx

from scrapersky_client import models
from scrapersky_client.async_operations import AsyncOperations
from scrapersky_client.error import ServerUnreachable
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
    async_content_of,
    defaults,
    is_temporary,
    unreachable,
)

AsyncPage = Callable[..., Awaitable[Mapping[str, Any]]]


class AsyncScraperSky(AsyncOperations):
    """A client of one server for one event loop, closed at the end of an `async with` block."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retry: RetryPolicy = DEFAULT_RETRY,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx.AsyncClient(**defaults(url, key, timeout))
        self._retry = retry

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def pages(
        self,
        operation: AsyncPage,
        **query: Any,  # noqa: ANN401 - as the operation takes it
    ) -> AsyncIterator[Any]:
        """Yield every record of a list, page by page."""
        query.setdefault("limit", PAGE_ITEMS)
        cursor = None
        while True:
            answer = await operation(**query, cursor=cursor)
            for item in answer["items"]:
                yield item
            cursor = answer.get("next_cursor")
            if cursor is None:
                return

    async def wait_for_search(
        self,
        search_id: str,
        *,
        progress: Callable[[models.SearchProgressOut], object] | None = None,
        every_seconds: float = SEARCH_POLL_SECONDS,
    ) -> models.SearchProgressOut:
        """Return once nothing is left that stages could do for a search; look at `state`."""
        last = None
        while True:
            found = await self.read_search_progress(search_id)
            if progress is not None and found != last:
                progress(found)
            last = found
            if found["state"] not in UNDER_WAY:
                return found
            await asyncio.sleep(every_seconds)

    async def changes(
        self, since: str = "now", *, kinds: str | None = None, follow: bool = True
    ) -> AsyncIterator[models.ChangesOut]:
        """Yield parts of the change feed, as `ScraperSky.changes` does."""
        while True:
            answer = await self.list_changes(
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

    async def events(self) -> AsyncIterator[StreamEvent]:
        """Yield what changes, as it changes; a lost connection is opened again."""
        reader = EventReader()
        tried = 0
        while True:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": reader.last_id}
            try:
                async with self._http.stream(
                    "GET",
                    "/api/v3/events",
                    headers={name: value for name, value in headers.items() if value},
                    timeout=STREAM_TIMEOUT,
                ) as answer:
                    if answer.status_code >= FIRST_ERROR and not is_temporary(answer):
                        raise error_of(answer.status_code, await answer.aread())
                    async for line in answer.aiter_lines():
                        if event := reader.read(line):
                            tried = 0
                            yield event
            except httpx.TransportError:
                pass
            tried += 1
            await asyncio.sleep(max(self._retry.pause(1, None, {}), 0))
            if tried > self._retry.tries:
                raise ServerUnreachable(
                    "The stream of events could not be opened again."
                )

    async def _json(self, parts: RequestParts) -> Any:  # noqa: ANN401 - of any shape
        async with self._answer(parts) as answer:
            return value_of(await answer.aread())

    async def _download(self, parts: RequestParts) -> AsyncIterator[bytes]:
        async with self._answer(parts) as answer:
            async for part in answer.aiter_bytes():
                yield part

    @asynccontextmanager
    async def _answer(self, parts: RequestParts) -> AsyncIterator[httpx.Response]:
        """Send a request, again where that is harmless, and yield the answer."""
        headers = parts.headers()
        tried = 0
        while True:
            tried += 1
            try:
                answer = await self._http.send(
                    self._request(parts, headers), stream=True
                )
            except httpx.TransportError as error:
                pause = self._retry.pause(tried, None, {})
                if pause < 0 or not parts.is_repeatable:
                    raise unreachable(error) from error
            else:
                if answer.status_code < FIRST_ERROR:
                    try:
                        yield answer
                    finally:
                        await answer.aclose()
                    return
                content = await answer.aread()
                pause = self._retry.pause(tried, answer.status_code, answer.headers)
                if pause < 0 or not parts.is_repeatable:
                    raise error_of(answer.status_code, content)
            await asyncio.sleep(pause)

    def _request(
        self, parts: RequestParts, headers: Mapping[str, str]
    ) -> httpx.Request:
        return self._http.build_request(
            parts.method,
            parts.address,
            params=parts.parameters,
            headers=headers,
            json=parts.body,
            content=async_content_of(parts.file),
        )
