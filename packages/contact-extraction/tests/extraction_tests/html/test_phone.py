"""Numbers in texts of any length: found where they stand, and only as far as asked for."""

from itertools import islice

import pytest

from contact_extraction.html import phone
from contact_extraction.html.phone import find_phones, phone_detector

GERMANY = phone_detector(("DE",))
NUMBER = "030 901820"


@pytest.mark.parametrize("between", ["\n", " some words ", ", Berlin, "])
def test_a_number_is_found_wherever_a_long_text_is_cut(
    between: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = between.join([NUMBER] * 200)
    whole = [span.start for span in find_phones(GERMANY, text)]

    for piece in range(100, 130):
        monkeypatch.setattr(phone, "PIECE_CHARACTERS", piece)
        found = list(find_phones(GERMANY, text))
        assert [span.start for span in found] == whole
        assert {text[span.start : span.end] for span in found} == {NUMBER}

    assert len(whole) == 200


def test_a_whole_text_of_numbers_was_searched_for_the_first_few() -> None:
    class Detector:
        searched = 0

        def find(self, text: str) -> list[object]:
            self.searched += len(text)
            return list(GERMANY.find(text))

    detector = Detector()
    text = f"{NUMBER}\n" * 20_000

    assert len(list(islice(find_phones(detector, text), 100))) == 100  # type: ignore[arg-type]
    assert detector.searched <= phone.PIECE_CHARACTERS
