"""What sales people ask for in words is what the list is filtered by."""

from datetime import date
from uuid import UUID

from scrapersky.cli.leads import conditions
from scrapersky.curation.clause import where
from scrapersky.records.company import COMPANIES
from scrapersky.records.status import LeadStatus

NOTHING = {
    "search": None, "named_person": False, "no_website": False, "since": None,
    "status": None,
}  # fmt: skip


def test_who_must_not_be_contacted_is_left_out_unless_asked_for() -> None:
    (usual,) = conditions(**NOTHING)  # type: ignore[arg-type]
    asked = {**NOTHING, "status": LeadStatus.DO_NOT_CONTACT}
    (named,) = conditions(**asked)  # type: ignore[arg-type]

    assert (usual.comparison, usual.value) == ("not_equal", "Do Not Contact")
    assert (named.comparison, named.value) == ("equal", "Do Not Contact")


def test_every_word_is_a_filter_that_the_list_knows() -> None:
    asked = conditions(
        search=UUID(int=1),
        named_person=True,
        no_website=True,
        since=date(2026, 11, 1),
        status=LeadStatus.NEW,
    )

    clause = str(where(COMPANIES, asked))

    assert len(asked) == 5
    for part in ("place_search_hits", "email_kind", "website IS NULL", "first_seen_at"):
        assert part in clause
