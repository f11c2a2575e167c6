"""Whether a domain takes mail, asked of the DNS and of nobody else."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import dns.asyncresolver
import dns.exception
import dns.name
import dns.resolver

LOOKUP_SECONDS = 5.0


class MailAnswer(StrEnum):
    """What the DNS says about mail for a domain."""

    TAKES_MAIL = "takes_mail"
    """It has mail servers."""
    MAYBE = "address_only"
    """It has none, but an address, at which mail may be tried (RFC 5321)."""
    REFUSES = "refuses_mail"
    """It says with a null MX that it takes none (RFC 7505)."""
    NO_SUCH_DOMAIN = "no_such_domain"
    NO_SERVER = "no_server"


@dataclass(frozen=True, slots=True)
class MailServersFound:
    """The answer, and the names behind it."""

    answer: MailAnswer
    servers: tuple[str, ...] = ()


class MailServers(Protocol):
    """Finds who takes mail for a domain; tests bring their own."""

    async def lookup(self, domain: str) -> MailServersFound:
        """Return what the DNS says; raise TimeoutError when it says nothing for now."""
        ...


class DnsMailServers:
    """Asks the resolver of this machine, or the name servers it is given."""

    def __init__(
        self,
        nameservers: tuple[str, ...] = (),
        port: int = 53,
        lifetime: float = LOOKUP_SECONDS,
    ) -> None:
        self._resolver = dns.asyncresolver.Resolver(configure=not nameservers)
        if nameservers:
            self._resolver.nameservers = list(nameservers)
            self._resolver.port = port
        self._resolver.lifetime = lifetime
        self._resolver.cache = dns.resolver.LRUCache(10_000)

    async def lookup(self, domain: str) -> MailServersFound:
        """Return who takes mail for a domain."""
        try:
            found = await self._resolver.resolve(domain, "MX")
        except dns.resolver.NXDOMAIN:
            return MailServersFound(MailAnswer.NO_SUCH_DOMAIN)
        except dns.resolver.NoAnswer:
            return await self._by_address(domain)
        except (dns.exception.DNSException, OSError) as error:
            raise TimeoutError(f"no answer about mail for {domain}") from error
        ranked = sorted(found, key=lambda record: record.preference)
        servers = tuple(
            record.exchange.to_text(omit_final_dot=True)
            for record in ranked
            if record.exchange != dns.name.root
        )
        if not servers:
            return MailServersFound(MailAnswer.REFUSES)
        return MailServersFound(MailAnswer.TAKES_MAIL, servers)

    async def _by_address(self, domain: str) -> MailServersFound:
        for kind in ("A", "AAAA"):
            try:
                await self._resolver.resolve(domain, kind)
            except dns.resolver.NoAnswer:
                continue
            except dns.resolver.NXDOMAIN:
                break
            except (dns.exception.DNSException, OSError) as error:
                raise TimeoutError(f"no answer about mail for {domain}") from error
            return MailServersFound(MailAnswer.MAYBE, (domain,))
        return MailServersFound(MailAnswer.NO_SERVER)
