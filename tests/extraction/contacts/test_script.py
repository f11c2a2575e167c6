import pytest

from scrapersky.extraction.contacts.email.script import written_by_script


@pytest.mark.parametrize(
    "source",
    [
        "document.write(['info', 'acme.com'].join('@'));",
        "x = ['info', '@', 'acme.com'].join('');",
        "var u = 'info'; document.write(u + '@' + 'acme' + '.' + 'com');",
        "m = 'moc.emca@ofni'.split('').reverse().join('');",
    ],
)
def test_a_joined_address_is_read_without_running_the_script(source: str) -> None:
    assert "info@acme.com" in list(written_by_script(source))


def test_sums_inside_an_array_are_not_taken_apart_by_its_separator() -> None:
    written = list(written_by_script("['in' + 'fo', 'acme.com'].join('@');"))

    assert "fo@acme.com" not in " ".join(written).replace("info@acme.com", "")
