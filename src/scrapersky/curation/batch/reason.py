"""Why a line of a batch came to nothing, in words, and what to do about it."""

import re
from dataclasses import dataclass

from scrapersky.curation.batch.submission import (
    CANCELLED,
    NOT_ONE_BUSINESS,
    SUPPRESSED,
)

LATER = "Try the failed lines of the batch again later: POST .../retry."
LOOK = "Open the address in a browser; submit the one that works."
LEAVE = "Leave it out: it cannot be read, now or later."
SELECT = "Select it in its own list to have it worked on."
MEANT = (
    "Nothing, if that was meant. Otherwise submit the domain again, or select the page "
    "or sitemap in its list."
)
FIX = "Correct the line and submit it again."

# What a fetch ended in, in words (docs/reference/outcomes.md), and what to do then.
OUTCOMES = {
    "too_slow": ("the server is too slow", LATER),
    "too_big": ("it is too big to be read", LEAVE),
    "bad_http": ("the server does not speak HTTP as it should", LATER),
    "bad_tls": ("there is no safe connection to the server", LOOK),
    "blocked_addr": ("the name leads to an address that is not public", LEAVE),
    "blocked_scheme": ("it is neither http nor https", FIX),
    "bad_url": ("it is not an address of a page", FIX),
    "dns_error": (
        "the name of the site is not known",
        "Check how it is spelt. " + LATER,
    ),
    "connect_error": ("nobody answers at the server", LATER),
    "redirect_limit": ("it is sent on without end", LOOK),
    "robots_denied": (
        "the site's robots.txt forbids it",
        "Respect it: choose another page, or ask the owner of the site.",
    ),
    "trap": ("the page has no end", LEAVE),
    "not_html": ("it is not a page", LOOK),
    "bad_xml": ("it is not a sitemap", LOOK),
    "backoff": ("the site has asked us to come later", LATER),
    "unforeseen": ("we failed, not the site", "Report it, with the record's history."),
}
CODE = re.compile(r"([a-z]+(?:_[a-z]+)*)(?::\s*(.*))?", re.DOTALL)
ANSWER = re.compile(r"\bthe server answered (\d)\d\d\b")
TROUBLED = "5"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, and what to do."""

    why: str
    hint: str


def why_refused(problem: str) -> Reason:
    """Explain a line that was not taken."""
    if problem == SUPPRESSED:
        return Reason(
            problem, "Remove it from Do not contact first, if its owner has agreed."
        )
    if problem == CANCELLED:
        return Reason(problem, MEANT)
    if problem.endswith(NOT_ONE_BUSINESS):
        return Reason(problem, "Submit the business's own website.")
    return Reason(problem, FIX)


def why_failed(error: str | None) -> Reason:
    """Explain a line whose record was worked on in vain."""
    if error is None:
        return Reason("it failed without a reason", LATER)
    if error == CANCELLED:
        return Reason(error, MEANT)
    found = CODE.fullmatch(error)
    if found is not None and found[1] in OUTCOMES:
        words, hint = OUTCOMES[found[1]]
        return Reason(f"{words}: {found[2]}" if found[2] else words, hint)
    if answered := ANSWER.search(error):
        return Reason(error, LATER if answered[1] == TROUBLED else LOOK)
    return Reason(error, f"Look at the record's history. {LATER}")


def why_skipped(*, is_duplicate: bool) -> Reason:
    """Explain a line whose record is in no queue, and was not worked on."""
    if is_duplicate:
        return Reason("already in your list, and not selected", SELECT)
    return Reason("it was removed from the queue", SELECT)


def reason_of(
    state: str, *, error: str | None, problem: str | None, is_duplicate: bool
) -> Reason | None:
    """Explain what became of a line; None if there is nothing to explain."""
    match state:
        case "refused":
            return why_refused(problem or "it could not be read")
        case "failed":
            return why_failed(error)
        case "skipped":
            return why_skipped(is_duplicate=is_duplicate)
    if is_duplicate:
        return Reason(
            "already in your list", "Nothing: open the record to see its progress."
        )
    return None
