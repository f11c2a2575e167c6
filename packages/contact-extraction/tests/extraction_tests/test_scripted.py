"""Pages that only scripts fill are told from those that merely have scripts."""

import pytest

from contact_extraction.contact_page import read_contact_page

URL = "https://okelo-dental.com/contact"
WORDS = "<p>" + "We look after your teeth and those of your family. " * 15 + "</p>"
SCRIPT = "<script src=/app.js></script>"


def why(html: str) -> str | None:
    return read_contact_page(html.encode(), URL, "utf-8", None).needs_script


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (f'<div id="root"></div>{SCRIPT}', "without its scripts the page has 0 words"),
        (
            f'<p>{"Loading the menu of our site. " * 6}</p><div id="app"></div>{SCRIPT}',
            "its scripts fill the element that holds the page",
        ),
        (
            f'{WORDS}<p>Call 212 736 4401</p><span id="contact-email"></span>{SCRIPT}',
            "its scripts fill in the e-mail address",
        ),
        (
            f'{WORDS}<p>jo@okelo-dental.com</p><a class="phone-number"></a>{SCRIPT}',
            "its scripts fill in the telephone number",
        ),
    ],
)
def test_a_page_that_scripts_fill_says_so(html: str, reason: str) -> None:
    assert why(html) == reason


@pytest.mark.parametrize(
    "html",
    [
        "<p>Closed.</p>",
        '<p>Closed.</p><script type="application/ld+json">{}</script>',
        f"{WORDS}{SCRIPT}",
        f'{WORDS}<div id="root"></div>{SCRIPT}',
        f'{WORDS}<p>jo@okelo-dental.com</p><i class="fa fa-envelope"></i>{SCRIPT}',
        f'{WORDS}<p>jo@okelo-dental.com</p><span id="email"></span>{SCRIPT}',
    ],
)
def test_a_page_that_speaks_for_itself_needs_no_browser(html: str) -> None:
    assert why(html) is None
