"""How much somebody has to say in a business, judged by their role."""

from enum import StrEnum


class Seniority(StrEnum):
    """From those who decide to those who answer the phone."""

    OWNER = "owner"
    EXECUTIVE = "executive"
    MANAGER = "manager"
    PROFESSIONAL = "professional"
    STAFF = "staff"
