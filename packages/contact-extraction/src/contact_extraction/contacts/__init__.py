"""Contacts of a page: every value with its evidence, and none invented."""

from contact_extraction.contacts.model import (
    NO_HINTS,
    Address,
    Citation,
    Contacts,
    Email,
    Group,
    Hints,
    Hours,
    Interval,
    Method,
    Organisation,
    OwnerKind,
    PersonEntry,
    PersonLink,
    Phone,
    PhoneKind,
    Social,
)
from contact_extraction.contacts.social import Profile, read_profile

__all__ = [
    "NO_HINTS",
    "Address",
    "Citation",
    "Contacts",
    "Email",
    "Group",
    "Hints",
    "Hours",
    "Interval",
    "Method",
    "Organisation",
    "OwnerKind",
    "PersonEntry",
    "PersonLink",
    "Phone",
    "PhoneKind",
    "Profile",
    "Social",
    "read_profile",
]
