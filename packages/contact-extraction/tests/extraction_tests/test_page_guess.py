"""Addresses of contact pages that nothing links."""

from contact_extraction.page_guess import (
    contact_guesses,
    people_guesses,
    read_guessed_page,
)


def test_guesses_are_written_as_the_site_writes_its_pages() -> None:
    """With its endings, in its language, two at most."""
    known = ["https://a.example/about.html", "https://a.example/x.html"]
    assert contact_guesses("https://a.example/", language="de-AT", known=known) == [
        "https://a.example/kontakt.html",
        "https://a.example/impressum.html",
    ]
    assert contact_guesses(
        "https://a.example/en/", language=None, known=["https://a.example/shop/"]
    ) == ["https://a.example/contact/", "https://a.example/contact-us/"]
    assert contact_guesses("https://a.example/", language="xx", known=()) == [
        "https://a.example/contact",
        "https://a.example/contact-us",
    ]


def test_a_page_that_says_it_is_not_there_is_missing() -> None:
    """Some sites say so with status 200."""
    there = read_guessed_page(b"<title>Contact</title><p>Call us.</p>", None)
    assert (there.title, there.is_missing) == ("Contact", False)
    gone = b"<title>404 Not Found</title><h1>404 Not Found</h1><p>Page not found</p>"
    assert read_guessed_page(gone, None).is_missing


def test_people_are_looked_for_at_one_place_of_a_site_with_several_pages() -> None:
    """As the site writes its pages; a site of a page or two says all at once."""
    home = "https://a.example/"
    known = [home, *(f"{home}{name}.html" for name in ("contact", "faq", "prices"))]
    assert people_guesses(home, language="en", known=known) == [f"{home}about.html"]
    assert people_guesses(home, language="pl", known=known) == [f"{home}o-nas.html"]
    assert people_guesses(home, language="en", known=known[:3]) == []
