"""The columns that common CRMs read without mapping anything by hand."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from scrapersky.errors import InvalidExport
from scrapersky.export.industry import (
    HUBSPOT_COLUMN,
    SALESFORCE_COLUMN,
    category_of,
    industry_of,
)
from scrapersky.export.leads import HUBSPOT_STATUSES, LEADS, SALESFORCE_STATUSES
from scrapersky.kit.plain_text import split_name

Row = Mapping[str, Any]
Take = Callable[[Row], object]

PRESETS: Final[Mapping[str, Mapping[str, str]]] = {
    "hubspot": {
        "Email": "email",
        "First Name": "first_name",
        "Last Name": "last_name",
        "Phone Number": "phone",
        "Job Title": "role",
        "Company Name": "company",
        "Company Domain Name": "domain",
        "Website URL": "website",
        "Street Address": "street",
        "City": "city",
        "State/Region": "state",
        "Postal Code": "postal_code",
        "Country/Region": "country",
        "Industry": "categories",
        "Deliverability": "validation",
        "Notes": "origin",
    },
    "salesforce": {
        "First Name": "first_name",
        "Last Name": "last_name",
        "Company": "company",
        "Title": "role",
        "Email": "email",
        "Phone": "phone",
        "Website": "website",
        "Street": "street",
        "City": "city",
        "State/Province": "state",
        "Zip/Postal Code": "postal_code",
        "Country": "country",
        "Industry": "categories",
        "Deliverability": "validation",
        "Lead Source": "lead_source",
        "Description": "origin",
    },
    "pipedrive": {
        "Person - Name": "name",
        "Person - Email - Work": "email",
        "Person - Phone - Work": "phone",
        "Person - Job title": "role",
        "Organization - Name": "company",
        "Organization - Address": "address",
        "Organization - Website": "website",
        "Organization - City": "city",
        "Organization - Industry": "categories",
        "Person - Deliverability": "validation",
        "Note - Content": "origin",
    },
    "mailchimp": {
        "Email Address": "email",
        "First Name": "first_name",
        "Last Name": "last_name",
        "Phone Number": "phone",
        "Address": "address",
        "Company": "company",
        "City": "city",
        "Category": "categories",
        "Deliverability": "validation",
        "Tags": "tags",
    },
    "zoho": {
        "First Name": "first_name",
        "Last Name": "last_name",
        "Company": "company",
        "Title": "role",
        "Email": "email",
        "Phone": "phone",
        "Website": "website",
        "Street": "street",
        "City": "city",
        "State": "state",
        "Zip Code": "postal_code",
        "Country": "country",
        "Industry": "categories",
        "Deliverability": "validation",
        "Lead Source": "lead_source",
        "Description": "origin",
    },
    "google-contacts": {
        "First Name": "first_name",
        "Last Name": "last_name",
        "Organization Name": "company",
        "Organization Title": "role",
        "E-mail 1 - Value": "email",
        "Phone 1 - Value": "phone",
        "Website 1 - Value": "website",
        "Address 1 - Formatted": "address",
        "Address 1 - City": "city",
        "Custom Field 1 - Value": "categories",
        "Custom Field 2 - Value": "validation",
        "Labels": "tags",
        "Notes": "origin",
    },
}
"""Heading and what stands below it, for each program that reads contacts."""


PRESETS_OF: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "contacts": PRESETS,
    "companies": LEADS,
}
"""The presets of every kind that has some."""
REQUIRED: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "contacts": {
        "hubspot": ["email"],
        "salesforce": ["name"],
        "pipedrive": ["name"],
        "mailchimp": ["email"],
        "zoho": ["name"],
    },
    "companies": {"hubspot": ["name"], "salesforce": ["name"], "pipedrive": ["name"]},
}
"""The fields without which a program refuses a row, or cannot tell it from others."""


def preset_named(name: str, kind: str = "contacts") -> Mapping[str, str]:
    """Return a preset of a kind, or say which there are."""
    known = PRESETS_OF[kind]
    if name not in known:
        raise InvalidExport(
            f"There is no preset '{name[:50]}'.", hint=f"Choose: {', '.join(known)}."
        )
    return known[name]


def take(source: str, kind: str = "contacts") -> Take:
    """Return how a value is taken out of a record's cells."""
    return MADE_OF[kind].get(source, itemgetter(source))


def first_name(row: Row) -> str | None:
    """Return all but the last word of a name; a single word is a last name."""
    return split_name(row["name"])[0]


def last_name(row: Row) -> str | None:
    """Return the last word of a name."""
    return split_name(row["name"])[1]


def company(row: Row) -> object:
    """Return the name of the business; its domain where no name is known."""
    return row["business"] or row["domain"]


def address(row: Row) -> str | None:
    """Return the address in one line."""
    parts = (
        row["street"],
        row["postal_code"],
        row["city"],
        row["state"],
        row["country"],
    )
    return ", ".join(part for part in parts if part) or None


def origin(row: Row) -> str | None:
    """Say where the contact was found, as whoever is written to may ask."""
    return f"Found at {row['source_url']}" if row["source_url"] else None


def reaches_decision_maker(row: Row) -> bool:
    """Say whether the best address is the decision maker's, or a shared one."""
    return (
        row["email_person"] in {None, row["decision_maker"]}
        or row["email"] == row["decision_maker_email"]
    )


def person(row: Row) -> str | None:
    """Return who is reached by the best address."""
    named = "decision_maker" if reaches_decision_maker(row) else "email_person"
    name: str | None = row[named]
    return name


def person_role(row: Row) -> object:
    """Return what that person does."""
    named = "decision_maker" if reaches_decision_maker(row) else "email_person"
    return row[f"{named}_role"]


def other_decision_maker(row: Row) -> str | None:
    """Return who decides, where the best address is somebody else's."""
    if reaches_decision_maker(row):
        return None
    named = (row["decision_maker"], row["decision_maker_role"])
    return ", ".join(filter(None, named)) or None


OF_COMPANY: Final[Mapping[str, Take]] = {
    "person": person,
    "person_role": person_role,
    "other_decision_maker": other_decision_maker,
    "person_first_name": lambda row: split_name(person(row))[0],
    "person_last_name": lambda row: split_name(person(row))[1],
    "category": lambda row: category_of(row["categories"]),
    "hubspot_industry": lambda row: industry_of(row["categories"], HUBSPOT_COLUMN),
    "salesforce_industry": lambda row: industry_of(
        row["categories"], SALESFORCE_COLUMN
    ),
    "hubspot_status": lambda row: HUBSPOT_STATUSES.get(row["lead_status"]),
    "salesforce_status": lambda row: SALESFORCE_STATUSES.get(row["lead_status"]),
    "lead_source": lambda _row: "ScraperSky",
}
"""What is made of a company's values."""
MADE: Final[Mapping[str, Take]] = {
    "first_name": first_name,
    "last_name": last_name,
    "company": company,
    "address": address,
    "origin": origin,
    "lead_source": lambda _row: "ScraperSky",
}
MADE_OF: Final = {"contacts": MADE, "companies": OF_COMPANY}
