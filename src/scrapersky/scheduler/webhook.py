"""What webhooks are delivered with, as the settings say."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from scrapersky.changes.subscriber import Subscriber
from scrapersky.crawler import CrawlerPolicy
from scrapersky.crawler.guard import parse_networks
from scrapersky.db.connection import Target, connect
from scrapersky.errors import ConfigurationError
from scrapersky.kit.cipher import Cipher
from scrapersky.kit.secret_file import make_secret, read_secret
from scrapersky.settings import Settings
from scrapersky.webhooks.delivery import webhook_subscriber
from scrapersky.webhooks.sender import WebhookSender

FILE: Final = "encryption.key"
POOL_SIZE: Final = 3
"""Connections for all endpoints together: none is held while a message is under way."""


@asynccontextmanager
async def open_webhooks(
    settings: Settings, target: Target, policy: CrawlerPolicy
) -> AsyncIterator[Subscriber]:
    """Open what delivers to the endpoints of all tenants, over connections of its own."""
    engine = connect(target, name="scrapersky-webhooks", pool_size=POOL_SIZE)
    sender = webhook_sender(settings, policy)
    try:
        yield webhook_subscriber(engine, sender, partial(find_cipher, settings))
    finally:
        await sender.close()
        await engine.dispose()


def webhook_sender(settings: Settings, policy: CrawlerPolicy) -> WebhookSender:
    """Make what posts messages; it reaches no more than the crawler and what is allowed."""
    try:
        networks = parse_networks(settings.webhook_networks)
    except ValueError as error:
        raise ConfigurationError(f"WEBHOOK_NETWORKS is invalid: {error}.") from error
    return WebhookSender(policy, networks)


def find_cipher(settings: Settings, *, make: bool = False) -> Cipher:
    """Return what encrypts secrets; where there is no key yet, one may be made."""
    others = settings.encryption_other_keys
    older = (
        [one.strip() for one in others.get_secret_value().split(",")] if others else []
    )
    if settings.encryption_key is not None:
        return Cipher([settings.encryption_key.get_secret_value(), *older])
    path = settings.data_dir / FILE
    if make:
        make_secret(path)
    return Cipher([*file_secrets(path), *older])


def file_secrets(path: Path) -> list[str]:
    """Read the secret in the file of this installation, if it has one."""
    name, if_lost = "the encryption key", "new webhooks get a new one."
    try:
        return [read_secret(path, name, if_lost=if_lost)]
    except FileNotFoundError:
        return []
