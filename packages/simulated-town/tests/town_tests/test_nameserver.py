import dns.asyncresolver
import dns.resolver
import pytest

from simulated_town.business import SiteKind
from simulated_town.town import Town


def a_resolver(town: Town) -> dns.asyncresolver.Resolver:
    resolver = dns.asyncresolver.Resolver(configure=False)
    resolver.nameservers = ["127.0.0.1"]
    resolver.port = town.endpoint.dns_port
    resolver.lifetime = 5
    return resolver


def domain_of(town: Town, kind: SiteKind) -> str:
    return next(b.domain or "" for b in town.plan.businesses if b.kind is kind)


async def test_a_business_takes_mail_at_the_post_office(town: Town) -> None:
    domain = domain_of(town, SiteKind.PLAIN)

    (record,) = await a_resolver(town).resolve(domain, "MX")

    assert record.to_text() == "10 mx.quaypost.bv."


async def test_a_parked_name_refuses_mail(town: Town) -> None:
    domain = domain_of(town, SiteKind.PARKED)

    (record,) = await a_resolver(town).resolve(domain, "MX")

    assert record.to_text() == "0 ."


@pytest.mark.parametrize("kind", ["MX", "A"])
async def test_a_name_that_is_gone_does_not_exist(town: Town, kind: str) -> None:
    domain = domain_of(town, SiteKind.NO_SUCH_NAME)

    with pytest.raises(dns.resolver.NXDOMAIN):
        await a_resolver(town).resolve(domain, kind)


async def test_addresses_are_those_of_the_town(town: Town) -> None:
    domain = domain_of(town, SiteKind.WIX)

    (record,) = await a_resolver(town).resolve(f"www.{domain}", "A")

    assert record.to_text() == town.addresses[domain]


async def test_a_name_without_ipv6_says_so_and_exists(town: Town) -> None:
    with pytest.raises(dns.resolver.NoAnswer):
        await a_resolver(town).resolve(domain_of(town, SiteKind.WIX), "AAAA")


async def test_every_true_mailbox_can_be_written_to(town: Town) -> None:
    resolver = a_resolver(town)
    boxes = {box.address for b in town.plan.businesses for box in b.mailboxes}
    domains = {address.partition("@")[2] for address in boxes}

    for domain in sorted(domains)[:40]:
        (record,) = await resolver.resolve(domain, "MX")
        assert record.preference == 10
