"""What a page calls the business, out of all the names of organisations it has."""

import re
from collections.abc import Iterator
from typing import Final, TypedDict

from contact_extraction.contacts import Contacts
from contact_extraction.contacts.ownership import names_other_body
from contact_extraction.html import words
from contact_extraction.text import compact, fold
from contact_extraction.urls import registrable_domain

MIN_LETTERS: Final = 4
MIN_CONFIDENCE_SHARE: Final = 0.6
"""The share of the surest name's confidence that a name of the domain needs."""


class BusinessName(TypedDict):
    """A name, how it was read, how sure it is, and whether the domain has it too."""

    name: str
    method: str
    confidence: float
    is_in_domain: bool


def business_name(contacts: Contacts, host: str) -> BusinessName | None:
    """Give the likeliest name of the business; headings and chambers are none.

    A name that the domain has too is preferred to a somewhat surer one that it has not:
    the hoster's, an insurer's.
    """
    found = [*_names(contacts, host)]
    if not found:
        return None
    enough = found[0]["confidence"] * MIN_CONFIDENCE_SHARE
    kin = (one for one in found if one["is_in_domain"] and one["confidence"] >= enough)
    return next(kin, found[0])


def _names(contacts: Contacts, host: str) -> Iterator[BusinessName]:
    for found in contacts.organisations:
        name = found.name.strip("[]{}<> ")
        is_kin = is_in_domain(name, host)
        if is_heading(name) or (names_other_body(name) and not is_kin):
            continue
        yield BusinessName(
            name=name,
            method=found.evidence[0].method.value,
            confidence=found.confidence,
            is_in_domain=is_kin,
        )


def is_in_domain(name: str, host: str) -> bool:
    """Say whether a name and a domain share a word, or are one in the other."""
    label = compact((registrable_domain(host) or host).partition(".")[0])
    parts = [part for part in re.split(r"[^a-z0-9]+", fold(name)) if part]
    whole = "".join(parts)
    return (
        (len(whole) >= MIN_LETTERS and whole in label)
        or (len(label) >= MIN_LETTERS and label in whole)
        or any(len(part) > MIN_LETTERS and part in label for part in parts)
    )


def is_heading(name: str) -> bool:
    """Distinguish what stands above many pages, and the gaps of templates, from a name."""
    parts = fold(name).split()
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
