"""What a page calls the business, out of all the names of organisations it has."""

import re
from typing import Final, TypedDict

from scrapersky.extraction.contacts import Contacts
from scrapersky.extraction.contacts.whose import names_other_body
from scrapersky.extraction.html import words
from scrapersky.kit.plain import plain, squeezed
from scrapersky.kit.urls import registrable_domain

SHORTEST: Final = 4


class BusinessName(TypedDict):
    """A name, how it was read, how sure it is, and whether the domain has it too."""

    name: str
    method: str
    confidence: float
    is_in_domain: bool


def business_name(contacts: Contacts, host: str) -> BusinessName | None:
    """Give the likeliest name of the business; headings and chambers are none."""
    for found in contacts.organisations:
        name = found.name.strip("[]{}<> ")
        is_kin = is_in_domain(name, host)
        if is_heading(name) or (names_other_body(name) and not is_kin):
            continue
        return BusinessName(
            name=name,
            method=found.evidence[0].method.value,
            confidence=found.confidence,
            is_in_domain=is_kin,
        )
    return None


def is_in_domain(name: str, host: str) -> bool:
    """Say whether a name and a domain share a word, or are one in the other."""
    label = squeezed((registrable_domain(host) or host).partition(".")[0])
    parts = [part for part in re.split(r"[^a-z0-9]+", plain(name)) if part]
    whole = "".join(parts)
    return (
        (len(whole) >= SHORTEST and whole in label)
        or (len(label) >= SHORTEST and label in whole)
        or any(len(part) > SHORTEST and part in label for part in parts)
    )


def is_heading(name: str) -> bool:
    """Tell what stands above many pages, and the gaps of templates, from a name."""
    parts = plain(name).split()
    return not parts or all(part.strip(".:!") in _HEADINGS for part in parts)


_HEADINGS: Final = words(
    "datenschutz datenschutzerklarung datenschutzhinweise impressum kontakt kontaktformular "
    "startseite home homepage welcome willkommen bienvenue benvenuti bienvenidos witamy "
    "velkommen valkommen about us uber uns contact contacts contatti contacto kontakty "
    "privacy policy terms conditions cookies cookie legal notice disclaimer agb mentions "
    "legales note legali aviso polityka prywatnosci sitemap menu navigation news blog "
    "aktuelles services leistungen team anfahrt lageplan logo kammer nome attivita your "
    "company name business website firma firmenname musterfirma of and the & error 404"
)
