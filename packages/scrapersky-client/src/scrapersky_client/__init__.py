"""A typed client of the ScraperSky API."""

from scrapersky_client.async_client import AsyncScraperSky
from scrapersky_client.client import ScraperSky
from scrapersky_client.error import (
    ApiError,
    ClientError,
    ServerUnreachable,
    StartOver,
)
from scrapersky_client.request import RetryPolicy
from scrapersky_client.response import StreamEvent

__all__ = [
    "ApiError",
    "AsyncScraperSky",
    "ClientError",
    "RetryPolicy",
    "ScraperSky",
    "ServerUnreachable",
    "StartOver",
    "StreamEvent",
]
