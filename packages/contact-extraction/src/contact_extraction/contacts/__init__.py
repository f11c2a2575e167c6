"""Contacts of a page: every value with its evidence, and none invented."""

from contact_extraction.contacts.model import (
    NO_HINTS,
    Address,
    Contacts,
    Email,
    Evidence,
    Group,
    Hints,
    Hours,
    Interval,
    Method,
    Organisation,
    Person,
    Phone,
    PhoneKind,
    Social,
    Whose,
)
from contact_extraction.contacts.social import Profile, read_profile

__all__ = [
    "NO_HINTS",
    "Address",
    "Contacts",
    "Email",
    "Evidence",
    "Group",
    "Hints",
    "Hours",
    "Interval",
    "Method",
    "Organisation",
    "Person",
    "Phone",
    "PhoneKind",
    "Profile",
    "Social",
    "Whose",
    "read_profile",
]
