"""The API as the verbs call it: with the caller's own key, rights, tenant and audit."""

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import orjson
from mcp.server.mcpserver.exceptions import ToolError

VERB_SECONDS: Final = 20
CONFIRM_SECONDS: Final = 600
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
FIRST_ERROR: Final = 400


@dataclass(frozen=True, slots=True)
class Gateway:
    """Calls one server with one key."""

    session: aiohttp.ClientSession
    url: str
    key: str

    async def get(self, path: str, **params: Any) -> Any:  # noqa: ANN401 - JSON
        """Ask for something."""
        given = {name: one for name, one in params.items() if one is not None}
        return await self._call("GET", path, params=given)

    async def post(
        self, path: str, body: Mapping[str, Any], idempotency_key: str | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Do something, once for each idempotency key."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return await self._call("POST", path, data=orjson.dumps(body), headers=headers)

    def confirmation(self, what: str, now: float | None = None) -> str:
        """Return what allows exactly this within ten minutes, for this key alone."""
        until = int((now or time.time()) + CONFIRM_SECONDS)
        return f"{until:x}-{self._signature(what, until)}"

    def is_confirmed(self, what: str, given: str) -> bool:
        """Say whether a dry run of exactly this gave that confirmation."""
        until, _, signature = given.partition("-")
        try:
            moment = int(until, 16)
        except ValueError:
            return False
        wanted = self._signature(what, moment)
        return moment > time.time() and hmac.compare_digest(
            wanted.encode(), signature.encode()
        )

    def _signature(self, what: str, until: int) -> str:
        content = f"{until} {what}".encode()
        return hmac.digest(self.key.encode(), content, hashlib.sha256).hex()[:24]

    async def _call(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            **more.pop("headers", {}),
        }
        try:
            async with self.session.request(
                method,
                f"{self.url}/api/v3{path}",
                headers=headers,
                timeout=aiohttp.ClientTimeout(VERB_SECONDS),
                **more,
            ) as answer:
                content = await read_answer(answer)
                status = answer.status
        except TimeoutError:
            raise ToolError(
                f"No answer within {VERB_SECONDS} seconds. Call again with the same "
                "idempotency_key: nothing is done twice."
            ) from None
        except aiohttp.ClientError as error:
            raise ToolError(
                f"ScraperSky was not reached ({type(error).__name__})."
            ) from None
        if status >= FIRST_ERROR:
            raise ToolError(refusal(status, content))
        return orjson.loads(content) if content else {}


async def read_answer(answer: aiohttp.ClientResponse) -> bytes:
    """Read an answer; raise ToolError if it is far longer than any verb needs."""
    content = bytearray()
    async for part in answer.content.iter_any():
        content += part
        if len(content) > MAX_ANSWER_BYTES:
            raise ToolError("ScraperSky's answer is too long. Ask for less.")
    return bytes(content)


def refusal(status: int, content: bytes) -> str:
    """Say in words why the API refused."""
    try:
        problem = orjson.loads(content)
        said = f"{problem['detail']} {problem.get('hint') or ''}".strip()
    except (ValueError, KeyError, TypeError):
        said = "It gave no reason."
    return f"Refused ({status}). {said}"[:600]
