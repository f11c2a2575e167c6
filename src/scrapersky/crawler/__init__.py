"""Fetch other people's pages, politely and unharmed."""

from scrapersky.crawler.charset import Charset, CharsetSource
from scrapersky.crawler.fetch import Crawler
from scrapersky.crawler.hosts import (
    HostLedger,
    HostStatistics,
    MemoryLedger,
    RobotsState,
    StoredRobots,
)
from scrapersky.crawler.limits import FetchLimits
from scrapersky.crawler.log import FetchRecord, Listener, OutcomeCounter, log_fetch
from scrapersky.crawler.meter import Meter, measured
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.proxy import ProxyRules, proxy_rules
from scrapersky.crawler.render import RenderedPage, Renderer, RenderLimits, can_render
from scrapersky.crawler.resolver import Resolver, SystemResolver
from scrapersky.crawler.result import (
    Accept,
    CacheValidators,
    FetchResult,
    IncompleteReason,
    Redirect,
    RobotsVerdict,
    Timings,
)
from scrapersky.crawler.sandbox import Sandbox
from scrapersky.crawler.sandbox_process import SandboxLimits
from scrapersky.crawler.sniff import ContentKind
from scrapersky.kit.spool import Spool

__all__ = [
    "Accept",
    "CacheValidators",
    "Charset",
    "CharsetSource",
    "ContentKind",
    "Crawler",
    "CrawlerPolicy",
    "FetchLimits",
    "FetchRecord",
    "FetchResult",
    "HostLedger",
    "HostStatistics",
    "IncompleteReason",
    "Listener",
    "MemoryLedger",
    "Meter",
    "OutcomeCounter",
    "ProxyRules",
    "Redirect",
    "RenderLimits",
    "RenderedPage",
    "Renderer",
    "Resolver",
    "RobotsState",
    "RobotsVerdict",
    "Sandbox",
    "SandboxLimits",
    "Spool",
    "StoredRobots",
    "SystemResolver",
    "Timings",
    "can_render",
    "log_fetch",
    "measured",
    "proxy_rules",
]
