"""The connectors there are: a connector is a file and a line here."""

from collections.abc import Mapping
from typing import Final

from scrapersky.connectors.brevo import BrevoConnector
from scrapersky.connectors.folder import FolderConnector
from scrapersky.connectors.generic import GenericConnector
from scrapersky.connectors.hubspot import HubspotConnector
from scrapersky.connectors.mautic import MauticConnector
from scrapersky.connectors.pipedrive import PipedriveConnector
from scrapersky.connectors.protocol import Connector, ConnectorInfo
from scrapersky.errors import UnknownConnector

CONNECTORS: Final[Mapping[str, type[Connector]]] = {
    connector.info.name: connector
    for connector in (
        BrevoConnector,
        FolderConnector,
        GenericConnector,
        HubspotConnector,
        MauticConnector,
        PipedriveConnector,
    )
}
"""Every connector, by its name."""


def connector_named(name: str) -> type[Connector]:
    """Return the connector of this name, or say which there are."""
    if name not in CONNECTORS:
        raise UnknownConnector(
            f"There is no connector '{name[:50]}'.",
            hint=f"Choose one of: {', '.join(CONNECTORS)}.",
        )
    return CONNECTORS[name]


def infos() -> list[ConnectorInfo]:
    """Return what there is to know about every connector."""
    return [connector.info for connector in CONNECTORS.values()]
