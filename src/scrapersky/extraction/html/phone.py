"""Find telephone numbers in text with the number plans of the HTML library."""

from collections.abc import Iterator
from dataclasses import dataclass

from turbohtml.clean import LinkDetector, PhoneNumbers


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
    """Find the telephone numbers written in a text."""
    for span in detector.find(text):
        if span.phone is not None:
            yield PhoneSpan(
                start=span.start,
                end=span.end,
                text=span.text,
                e164=span.phone.e164,
                region=span.phone.region,
                extension=span.phone.extension,
            )
