import pytest

from contact_extraction.contacts.hours import read_intervals

WEEKDAYS = range(5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon-Fri 9am-5pm", [(d, "09:00", "17:00") for d in WEEKDAYS]),
        ("Sat 10-2, Sunday closed", [(5, "10:00", "14:00"), (6, None, None)]),
        ("Mo-Fr 08:00-18:00 Uhr", [(d, "08:00", "18:00") for d in WEEKDAYS]),
        ("Maandag gesloten", [(0, None, None)]),
        ("Ma - do 08.30 tot 17.00 uur", [(d, "08:30", "17:00") for d in range(4)]),
        ("Samedi et dimanche 14h00 - 18h30", [(d, "14:00", "18:30") for d in (5, 6)]),
        ("Daily 9am to 9pm", [(d, "09:00", "21:00") for d in range(7)]),
        ("Fri 18:00 - 02:00", [(4, "18:00", "02:00")]),
        ("by arrangement", []),
    ],
)
def test_plain_hours_are_read_by_day(
    text: str, expected: list[tuple[int, str | None, str | None]]
) -> None:
    found = [(i.day, i.opens, i.closes) for i in read_intervals(text)]

    assert found == expected
