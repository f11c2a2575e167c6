"""Tell somebody outside: a webhook, an e-mail, or both."""

import asyncio
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import orjson
import structlog
from pydantic import SecretStr

TIMEOUT_SECONDS: Final = 15.0
SUBMISSION_PORT: Final = 587
SMTPS_PORT: Final = 465

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody is sent."""

    title: str
    text: str
    details: dict[str, object]


@dataclass(frozen=True, slots=True)
class AlertSender:
    """Knows whom to notify, and how."""

    webhook: SecretStr | None = None
    smtp: SecretStr | None = None
    sender: str = "scrapersky@localhost"
    recipients: Sequence[str] = ()

    @property
    def has_anyone(self) -> bool:
        """Whether there is anybody to notify."""
        return self.webhook is not None or bool(self.smtp and self.recipients)

    async def send(self, message: Message) -> bool:
        """Tell everybody; False if one way failed, so that it is tried again."""
        done = True
        ways = []
        if self.webhook is not None:
            ways.append((post, self.webhook.get_secret_value()))
        if self.smtp is not None and self.recipients:
            ways.append((self._mail, self.smtp.get_secret_value()))
        for way, address in ways:
            try:
                await asyncio.to_thread(way, address, message)
            except (OSError, smtplib.SMTPException, ValueError) as error:
                # Its address may hold a secret: only what kind of failure it was is said.
                log.warning(
                    "alert.not_sent", by=way.__name__, error=type(error).__name__
                )
                done = False
        return done

    def _mail(self, url: str, message: Message) -> None:
        mail = EmailMessage()
        mail["Subject"] = f"[ScraperSky] {message.title}"
        mail["From"] = self.sender
        mail["To"] = ", ".join(self.recipients)
        mail.set_content(message.text)
        place = urlsplit(url)
        with connect_to(place) as server:
            if place.username:
                server.login(unquote(place.username), unquote(place.password or ""))
            server.send_message(mail)


def connect_to(place: SplitResult) -> smtplib.SMTP:
    """Connect to a mail server: `smtps://` from the start, `smtp://` with STARTTLS if offered."""
    host, context = place.hostname or "localhost", ssl.create_default_context()
    if place.scheme == "smtps":
        return smtplib.SMTP_SSL(
            host, place.port or SMTPS_PORT, timeout=TIMEOUT_SECONDS, context=context
        )
    server = smtplib.SMTP(host, place.port or SUBMISSION_PORT, timeout=TIMEOUT_SECONDS)
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=context)
        server.ehlo()
    return server


def post(url: str, message: Message) -> None:
    """Post a message as JSON; `text` is what chat services show."""
    body = {"text": f"{message.title}\n{message.text}", **message.details}
    request = urllib.request.Request(  # noqa: S310 - an operator's own setting, checked to be http(s)
        url, orjson.dumps(body), {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
        answer.read(1)
