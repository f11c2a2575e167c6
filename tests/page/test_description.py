"""What the page believes about the API is what the API is."""

import re

from scrapersky.api.records.export import columns_of
from scrapersky.records import KINDS
from scripts.openapi import PLACE, description


def test_the_description_the_page_is_typed_by_is_current() -> None:
    written = PLACE.read_text(encoding="utf-8")

    assert written == description(), (
        "the API has changed: run `python -m scripts.openapi` and "
        "`python scripts/page.py types`"
    )


def test_a_contacts_file_is_offered_with_the_columns_it_may_have() -> None:
    kinds = PLACE.parent / "src" / "screens" / "curate" / "kinds.tsx"
    _, _, after = kinds.read_text(encoding="utf-8").partition("EXPORTED_CONTACT = [")
    offered = re.findall(r'"(\w+)"', after.partition("].flat()")[0])

    assert offered == list(columns_of(KINDS["contacts"]))
