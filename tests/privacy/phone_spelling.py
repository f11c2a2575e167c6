"""Phone numbers that are made up, and how people write them."""

from random import Random

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

from scrapersky.kit.canonical import e164

REGIONS = (
    "AT", "DE", "GB", "US", "FR", "IT", "ES", "PL", "RU", "HU", "JP", "IN", "AR", "AU",
    "BR", "NL", "SE", "MX", "ZA", "TH", "AE", "NO",
)  # fmt: skip
FULL_WIDTH = {ord(sign): ord(sign) + 0xFEE0 for sign in "0123456789+()-/."}
GAPS = ("", " ", "-", ".", "/", " / ", "\u00a0", "\u2011", "~", " (", ") ")


def made_up_numbers(random: Random, count: int) -> list[tuple[str, PhoneNumber]]:
    """Make up valid numbers, each of another line, with their countries."""
    made: dict[str, tuple[str, PhoneNumber]] = {}
    while len(made) < count:
        region = random.choice(REGIONS)
        kind = random.choice((0, 1))
        example = phonenumbers.example_number_for_type(region, kind)
        assert example is not None
        known = e164(example)
        number = phonenumbers.parse(known[:-6] + f"{random.randrange(10**6):06}")
        if phonenumbers.is_valid_number_for_region(number, region):
            # Whoever looks for one of them must not find it in another.
            made.setdefault(e164(number)[-8:], (region, number))
    return [*made.values()]


def spelt(random: Random, number: PhoneNumber, *, at_home: bool) -> str:
    """Write a number as somebody may, with its country code or as at home."""
    form = PhoneNumberFormat.NATIONAL if at_home else PhoneNumberFormat.INTERNATIONAL
    written = phonenumbers.format_number(number, form)
    if not at_home and random.random() < 0.4:
        digits = e164(number)[1:]
        written = "+" + "".join(one + random.choice(GAPS) for one in digits[:-3])
        written += digits[-3:]
    if not at_home and random.random() < 0.2:
        written = "00" + written[1:].lstrip()
    if random.random() < 0.2:
        written = written.translate(FULL_WIDTH)
    if random.random() < 0.2:
        written += random.choice((" ext. 12", " x12", " Durchwahl 12", "#12"))
    return written
