"""What a role says about how much somebody has to decide."""

import re
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from contact_extraction import wordlist


class Seniority(StrEnum):
    """From those who decide to those who answer the phone."""

    OWNER = "owner"
    EXECUTIVE = "executive"
    MANAGER = "manager"
    PROFESSIONAL = "professional"
    STAFF = "staff"


# "Director of nursing" heads a department, "Director" the firm.
_OF_A_PART: Final = re.compile(
    r"\b(?:vice|deputy|assistant|associate|sub|co-?ordinat\w+|of (?!the (?:company|firm|board))\w+|"
    r"clinical|medical director|sales|marketing|project|office|account|operations|finance|"
    r"technical|creative|art|stellv\w*|adjoint\w*|vice)\b",
    re.IGNORECASE,
)


# "Assistant to the Owner": whose assistant somebody is decides, not they.
_SERVES: Final = re.compile(
    r"(?:executive |personal )?(?:assistant|secretary|assistante|assistent(?:in)?|"
    r"sekretär(?:in)?|segretaria|asistente|"
    r"secretaria|asystent(?:ka)?|asistent(?:ka)?|secrétaire)\s(?:to|of|for|de|du|der|des|del|della|dell'|da|do)\b[^,/&+]*",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(r"(?:an?|my|his|her|their|who|one of)\s", re.IGNORECASE)


@cache
def _pattern(rank: Seniority) -> re.Pattern[str]:
    words = sorted(wordlist.load(f"seniority_{rank.value}"), key=len, reverse=True)
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE
    )


@lru_cache(2_048)
def seniority_of(role: str | None) -> Seniority | None:
    """Report how senior a role is; None if there is no role."""
    # "Ann Lee, a family doctor in Leeds" is mentioned, not presented.
    if not role or _TOLD.match(role):
        return None
    if _SERVES.fullmatch(role):
        return Seniority.STAFF
    if _pattern(Seniority.OWNER).search(role):
        return Seniority.OWNER
    if _pattern(Seniority.EXECUTIVE).search(role):
        is_part = _OF_A_PART.search(role)
        return Seniority.MANAGER if is_part else Seniority.EXECUTIVE
    if _leads_calling(role):
        return Seniority.PROFESSIONAL
    for rank in (Seniority.MANAGER, Seniority.PROFESSIONAL):
        if _pattern(rank).search(role):
            return rank
    return Seniority.STAFF


def _leads_calling(role: str) -> bool:
    """Tell `Head Dentist` and `vedoucí lékařka` from `Head of Accounts`."""
    match = _LEADS.match(role.strip())
    return match is not None and bool(
        _pattern(Seniority.PROFESSIONAL).match(role.strip(), match.end())
    )


_LEADS: Final = re.compile(
    r"(?:head|lead|chief|leitende[rn]?|vedoucí|vedúc[ia]|primář|hlavní|ledende|ledande|ledend|ledelse|chef|jef[ea]|"
    r"kierująca|kierujący|vezető|johtava|vastaava|hoofd|responsabile|responsable|capo)\s",
    re.IGNORECASE,
)
