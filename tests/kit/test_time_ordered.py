"""Keys that this process makes lie beside those of the database."""

from uuid import RFC_4122

from scrapersky.kit.time_ordered import time_ordered_uuid


def test_companies_that_began_together_lay_all_over_their_indexes() -> None:
    made = [time_ordered_uuid() for _ in range(1_000)]

    stamps = [key.int >> 80 for key in made]
    assert stamps == sorted(stamps)
    assert {(key.version, key.variant) for key in made} == {(7, RFC_4122)}
    assert len({*made}) == len(made)
