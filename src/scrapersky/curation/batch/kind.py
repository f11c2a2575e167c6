"""What a batch may be made of: the kinds of records that say how they are submitted."""

from collections.abc import Mapping

from scrapersky.errors import InvalidSubmission
from scrapersky.records import KINDS, Kind
from scrapersky.records.kind import Submission

SUBMITTED: Mapping[str, Kind] = {
    kind.submission.name: kind for kind in KINDS.values() if kind.submission is not None
}
"""By what a batch of them is called."""


def submission_named(name: str) -> Submission:
    """Return how what a batch is made of is submitted, or say what there is."""
    submission = SUBMITTED[name].submission if name in SUBMITTED else None
    if submission is None:
        raise InvalidSubmission(
            f"'{name[:50]}' cannot be submitted.",
            hint=f"Choose: {', '.join(SUBMITTED)}.",
        )
    return submission
