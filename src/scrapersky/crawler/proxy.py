"""Which proxy, if any, carries a request: the usual variables, the usual rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import Url, parse_url
from scrapersky.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ProxyRules:
    """A proxy per scheme, and the hosts that are reached without one."""

    http: Url | None = None
    https: Url | None = None
    direct: tuple[str, ...] = ()

    def choose(self, url: Url) -> Url | None:
        """Return the proxy for this URL, or None to connect ourselves."""
        proxy = self.https if url.scheme == "https" else self.http
        if proxy is None or any(_matches(rule, url) for rule in self.direct):
            return None
        return proxy


NO_PROXY = ProxyRules()


def proxy_rules(environment: Mapping[str, str]) -> ProxyRules:
    """Read HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, lower case first.

    Raises ConfigurationError for a proxy we cannot speak to: only http:// ones.
    """
    either = _variable(environment, "all_proxy")
    direct = _variable(environment, "no_proxy") or ""
    return ProxyRules(
        http=_proxy_url(_variable(environment, "http_proxy") or either),
        https=_proxy_url(_variable(environment, "https_proxy") or either),
        direct=tuple(
            filter(None, (part.strip().lower() for part in direct.split(",")))
        ),
    )


def _variable(environment: Mapping[str, str], name: str) -> str | None:
    return environment.get(name) or environment.get(name.upper()) or None


def _proxy_url(text: str | None) -> Url | None:
    if not text:
        return None
    try:
        url = parse_url(text if "://" in text else f"http://{text}")
    except InvalidUrl as error:
        # The text may hold a password: the message must not repeat it.
        raise ConfigurationError("a proxy variable holds no http:// URL") from error
    if url.scheme != "http" or "@" in text:
        raise ConfigurationError(
            "only http:// proxies without a password are supported",
            hint="run a local proxy that adds the credentials, e.g. cntlm or tinyproxy",
        )
    return url


def _matches(rule: str, url: Url) -> bool:
    if rule == "*":
        return True
    if (address := url.address) is not None:
        try:
            network = ip_network(rule, strict=False)
        except ValueError:
            return rule == url.host
        return network.version == address.version and ip_address(url.host) in network
    name = rule.partition(":")[0].lstrip("*").lstrip(".")
    return url.host == name or url.host.endswith(f".{name}")
