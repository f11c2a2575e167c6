import pytest

from contact_extraction.html import parse_page


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp932", "東京都"),
        ("euc_jp", "東京都"),
        ("big5hkscs", "臺北市"),
        ("cp949", "서울시"),
        ("cp874", "กรุงเทพ"),
        ("mac-roman", "Zürich"),
    ],
)
def test_the_codec_the_crawler_decided_on_is_used(codec: str, text: str) -> None:
    page = parse_page(f"<p>{text}</p>".encode(codec), encoding=codec)

    assert [line.text for line in page.lines] == [text]


@pytest.mark.parametrize("encoding", ["no-such", "zlib", "hex", "idna"])
def test_an_encoding_that_is_not_one_is_passed_over(encoding: str) -> None:
    page = parse_page("<p>Café</p>".encode(), encoding=encoding)

    assert [line.text for line in page.lines] == ["Café"]
