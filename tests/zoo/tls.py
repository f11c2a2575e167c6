"""Cases 57 to 59: certificates and handshakes which must not be accepted."""

import datetime as dt
import functools
import ipaddress
import os
import ssl
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.zoo.case import ON_PLAIN, Exhibit, at_most, exhibit
from tests.zoo.wire import HEALTHY, Exchange, Request, says

RAW = "raw"
"""Listens on the TLS port and does not speak TLS by itself."""


def handshakes() -> Iterator[Exhibit]:
    """Return the cases about TLS."""
    yield exhibit("57-", "a good certificate", slug="tls-good", tls="good", expect="ok")
    for letter, title, kind in (
        ("a", "expired", "expired"),
        ("b", "not yet valid", "future"),
        ("c", "self-signed", "self-signed"),
        ("d", "another host's", "wrong-host"),
        ("e", "of an unknown CA", "unknown-ca"),
        ("f", "with a weak key", "weak-key"),
        ("g", "TLS 1.0 only", "tls10"),
        ("h", "without a SAN", "no-san"),
        ("i", "for the address, not the name", "address-san"),
        ("j", "a wildcard too wide", "wildcard"),
    ):
        yield exhibit(
            f"57{letter}",
            f"certificate {title}" if letter != "g" else title,
            slug=f"tls-{kind}",
            tls=kind,
            expect="bad_tls",
            judge=at_most(0),
        )
    for letter, title, connect, waits in (
        ("a", "handshake never answered", silent, True),
        ("b", "certificate chain of 16 MiB", huge_chain, False),
        ("c", "handshake byte by byte", trickle, True),
        ("e", "closes during the handshake", hang_up, False),
        ("f", "a fatal alert", alert, False),
    ):
        yield exhibit(
            f"58{letter}",
            title,
            slug=f"tls-58{letter}",
            tls=RAW,
            connect=connect,
            expect="bad_tls too_slow" if waits else "bad_tls",
            limit=7 if waits else 5,
            waits=waits,
        )
    settings = b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"
    yield exhibit(
        "58d",
        "ALPN h2 only",
        says(settings * 10),
        robots=says(settings * 10),
        slug="tls-h2",
        tls="h2",
        expect="bad_tls bad_http robots_denied",
    )
    yield exhibit(
        "58g",
        "body cut without close_notify",
        cut,
        slug="tls-cut",
        tls="good",
        expect="ok ok_partial bad_http bad_tls",
    )
    yield exhibit(
        "59a",
        "plain HTTP on the TLS port",
        slug="tls-plain",
        tls=RAW,
        connect=plain_answer,
        expect="bad_tls",
    )
    yield exhibit(
        "59b",
        "TLS on the plain port",
        slug="tls-on-plain",
        tls=ON_PLAIN,
        expect="bad_http robots_denied",
    )


async def plain_answer(exchange: Exchange) -> None:
    await exchange.reader.read(4096)
    await exchange.send(HEALTHY)


async def silent(exchange: Exchange) -> None:
    await exchange.until_gone()


async def hang_up(exchange: Exchange) -> None:
    await exchange.reader.read(64)


async def alert(exchange: Exchange) -> None:
    await exchange.reader.read(4096)
    await exchange.send(b"\x15\x03\x03\x00\x02\x02\x28")


async def trickle(exchange: Exchange) -> None:
    await exchange.reader.read(4096)
    for byte in server_hello() + b"\x16\x03\x03\x40\x00" + bytes(9000):
        await exchange.send(bytes([byte]))
        await exchange.pause(0.5)


async def huge_chain(exchange: Exchange) -> None:
    await exchange.reader.read(4096)
    size = (16 << 20) - 1
    message = b"\x0b" + size.to_bytes(3, "big") + (size - 3).to_bytes(3, "big")
    await exchange.send(server_hello() + record(message))
    for _ in range(1024):
        await exchange.send(record(b"\x30" * 16_000))


async def cut(exchange: Exchange, request: Request) -> None:
    await exchange.send(HEALTHY[:-40])
    exchange.reset()


def server_hello() -> bytes:
    """Return a TLS 1.2 answer that a client believes so far."""
    secure_renegotiation = b"\xff\x01\x00\x01\x00"
    body = b"\x03\x03" + os.urandom(32) + b"\x00" + b"\xc0\x2f" + b"\x00"
    body += len(secure_renegotiation).to_bytes(2, "big") + secure_renegotiation
    return record(b"\x02" + len(body).to_bytes(3, "big") + body)


def record(payload: bytes) -> bytes:
    return b"\x16\x03\x03" + len(payload).to_bytes(2, "big") + payload


class Authority:
    """The throw-away CA of one run, and the contexts of its servers."""

    def __init__(self) -> None:
        self.ca = trustme.CA()
        self.stranger = trustme.CA()

    def save(self, path: Path) -> None:
        """Write the certificate that clients are to trust."""
        self.ca.cert_pem.write_to_path(path)

    def context(self, kind: str, host: str) -> ssl.SSLContext | None:
        """Return what a server of this kind says in its handshake."""
        if kind == RAW:
            return None
        return MAKERS.get(kind, good)(self, host)


def server_side() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def good(authority: Authority, host: str) -> ssl.SSLContext:
    context = server_side()
    authority.ca.issue_cert(host).configure_cert(context)
    return context


def dated(authority: Authority, host: str, *, days: int) -> ssl.SSLContext:
    context = server_side()
    start = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    end = start + dt.timedelta(days=1)
    cert = authority.ca.issue_cert(host, not_before=start, not_after=end)
    cert.configure_cert(context)
    return context


def wrong_host(authority: Authority, host: str) -> ssl.SSLContext:
    return good(authority, "another-host.com")


def wildcard(authority: Authority, host: str) -> ssl.SSLContext:
    return good(authority, "*.com")


def unknown_ca(authority: Authority, host: str) -> ssl.SSLContext:
    context = server_side()
    authority.stranger.issue_cert(host).configure_cert(context)
    return context


def tls10(authority: Authority, host: str) -> ssl.SSLContext:
    context = good(authority, host)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def h2(authority: Authority, host: str) -> ssl.SSLContext:
    context = good(authority, host)
    context.set_alpn_protocols(["h2"])
    return context


def self_signed(authority: Authority, host: str) -> ssl.SSLContext:
    return hand_made(host, ec.generate_private_key(ec.SECP256R1()))


def weak_key(authority: Authority, host: str) -> ssl.SSLContext:
    key = rsa.generate_private_key(65537, 1024)
    return hand_made(host, key, issuer=authority.ca)


def no_san(authority: Authority, host: str) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    return hand_made(host, key, issuer=authority.ca, san=None)


def address_san(authority: Authority, host: str) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    san = x509.IPAddress(ipaddress.ip_address("93.184.216.34"))
    return hand_made(host, key, issuer=authority.ca, san=san)


MAKERS: dict[str, Callable[[Authority, str], ssl.SSLContext]] = {
    "good": good,
    "expired": functools.partial(dated, days=-30),
    "future": functools.partial(dated, days=30),
    "self-signed": self_signed,
    "wrong-host": wrong_host,
    "unknown-ca": unknown_ca,
    "weak-key": weak_key,
    "tls10": tls10,
    "no-san": no_san,
    "address-san": address_san,
    "wildcard": wildcard,
    "h2": h2,
}


def hand_made(
    host: str,
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey,
    *,
    issuer: trustme.CA | None = None,
    san: x509.GeneralName | str | None = "",
) -> ssl.SSLContext:
    """Return a context with a certificate that no honest CA would issue."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer_name(issuer) if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
    )
    if san is not None:
        general = x509.DNSName(host) if isinstance(san, str) else san
        names = x509.SubjectAlternativeName([general])
        builder = builder.add_extension(names, critical=False)
    signer = issuer_key(issuer) if issuer else key
    certificate = builder.sign(signer, hashes.SHA256())
    return loaded(certificate, key)


def issuer_name(issuer: trustme.CA) -> x509.Name:
    return x509.load_pem_x509_certificate(issuer.cert_pem.bytes()).subject


def issuer_key(issuer: trustme.CA) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(issuer.private_key_pem.bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError
    return key


def loaded(
    certificate: x509.Certificate,
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey,
) -> ssl.SSLContext:
    context = server_side()
    # A weak key is refused by the server's own library unless it is told otherwise.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(pem + secret)
        file.flush()
        context.load_cert_chain(file.name)
    return context
