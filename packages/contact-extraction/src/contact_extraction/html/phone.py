"""Find telephone numbers in text with the number plans of the HTML library."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from turbohtml.clean import LinkDetector, PhoneNumbers

PIECE_CHARACTERS: Final = 16 * 1024
"""How much text is searched before the numbers found so far are asked for."""
REACH_CHARACTERS: Final = 400


@dataclass(frozen=True, slots=True)
class PhoneSpan:
    """A telephone number found in a text, and the plan it belongs to."""

    start: int
    end: int
    text: str
    e164: str | None
    region: str | None
    extension: str | None


PhoneDetector = LinkDetector
"""A finder of telephone numbers, made by `phone_detector` and used many times."""


def phone_detector(regions: tuple[str, ...]) -> PhoneDetector:
    """Build a finder of telephone numbers for `find_phones`."""
    phones = PhoneNumbers(regions=regions)
    return LinkDetector(emails=False, bare_domains=False, phones=phones)


def find_phones(detector: PhoneDetector, text: str) -> Iterator[PhoneSpan]:
    """Find the telephone numbers written in a text, as far as they are asked for."""
    start = 0
    while start < len(text):
        end = _end_of_piece(text, start)
        for span in detector.find(text[start:end]):
            if span.phone is not None:
                yield PhoneSpan(
                    start=start + span.start,
                    end=start + span.end,
                    text=span.text,
                    e164=span.phone.e164,
                    region=span.phone.region,
                    extension=span.phone.extension,
                )
        start = end


def _end_of_piece(text: str, start: int) -> int:
    """Choose where to cut: between two lines, or behind a word of a very long one."""
    end = start + PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    if (line := text.rfind("\n", start, end)) > start:
        return line + 1
    behind_words = (
        place
        for place in range(end, max(start, end - REACH_CHARACTERS), -1)
        if text[place - 1].isalpha() and not text[place].isalnum()
    )
    return next(behind_words, end)
