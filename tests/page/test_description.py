"""What the page believes about the API is what the API is."""

from scripts.openapi import PLACE, description


def test_the_description_the_page_is_typed_by_is_current() -> None:
    written = PLACE.read_text(encoding="utf-8")

    assert written == description(), (
        "the API has changed: run `python -m scripts.openapi` and "
        "`python scripts/page.py types`"
    )
