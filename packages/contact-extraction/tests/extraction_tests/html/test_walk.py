from collections.abc import Callable

import pytest

from contact_extraction.html import MAX_TAGS, parse_page


def test_a_template_with_content_does_not_crash_the_reader() -> None:
    page = parse_page(
        "<p>Before</p><template><p>Card of <b>nobody</b></p></template><p>After</p>"
    )

    assert [line.text for line in page.lines] == ["Before", "After"]


def test_a_template_inside_a_hidden_block_and_inside_a_template_is_skipped() -> None:
    page = parse_page(
        "<div hidden><p>Tab</p><template><template>a</template>b</template></div>"
        "<table><template><tr><td>Row</td></tr></template></table><p>End</p>"
    )

    assert [line.text for line in page.lines] == ["End", "Tab"]


def test_a_body_that_a_script_shows_is_read_as_visible() -> None:
    page = parse_page(
        "<style>.wait {visibility: hidden}</style><body class='wait'><p>Text</p>"
    )

    assert [(line.text, line.hidden) for line in page.lines] == [("Text", False)]


def test_a_page_that_is_nothing_but_depth_was_read_to_its_end() -> None:
    nested = parse_page("<div><span>" * 50_000 + "the end")
    usual = parse_page("<div>" * 100 + "<p>a line" * 5_000 + "<p>the end")

    assert nested.truncated
    assert len(nested.parents) < 5_000
    assert usual.lines[-1].text == "the end"
    assert not usual.truncated


@pytest.mark.parametrize("kind", [str, str.encode])
def test_a_page_of_more_tags_than_anybody_writes_was_parsed_whole(
    kind: Callable[[str], bytes | str],
) -> None:
    many = parse_page(kind("<p>one" + "<br>" * MAX_TAGS + "<p>the end"))
    all_there = parse_page(kind("<p>one" + "<br>" * (MAX_TAGS - 2) + "<p>the end"))

    assert [line.text for line in many.lines] == ["one"]
    assert many.truncated
    assert all_there.lines[-1].text == "the end"


def test_a_page_on_which_nothing_is_closed_is_read() -> None:
    page = parse_page("<p>" + "<font size=2>line <br>" * 3_000 + "the end")

    assert page.lines[-1].text == "the end"
