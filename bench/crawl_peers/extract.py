"""What every crawler takes from a page: its title, its links, its e-mail addresses."""

import re
from dataclasses import dataclass, field

import turbohtml

LOCAL = re.compile(r"[\w.+-]{1,64}$")
DOMAIN = re.compile(r"(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24}")


@dataclass(slots=True)
class Taken:
    """What was found so far; every crawler must come to the same numbers."""

    pages: int = 0
    links: int = 0
    emails: int = 0
    titles: set[str] = field(default_factory=set)

    def add(self, title: str, links: list[str], emails: set[str]) -> None:
        """Count one page."""
        self.pages += 1
        self.links += len(links)
        self.emails += len(emails)
        self.titles.add(title)

    def summary(self) -> dict[str, int]:
        """Return the numbers to compare."""
        return {
            "pages": self.pages,
            "links": self.links,
            "emails": self.emails,
            "titles": len(self.titles),
        }


def find_emails(text: str) -> set[str]:
    """Return the addresses in a text, looking only around each @."""
    found = set()
    at = text.find("@")
    while at >= 0:
        local = LOCAL.search(text[max(at - 64, 0) : at])
        domain = DOMAIN.match(text, at + 1)
        if local and domain:
            found.add(f"{local[0]}@{domain[0]}")
        at = text.find("@", at + 1)
    return found


def read(body: bytes) -> tuple[str, list[str], set[str]]:
    """Return title, links as written, and addresses of a page."""
    text = body.decode("utf-8", "replace")
    document = turbohtml.parse(text, positions=False)
    title = ""
    links = []
    for element in document.iter_elements(("title", "a")):
        if element.tag == "title":
            title = title or element.text
        elif href := element.attr("href"):
            links.append(href)
    return title, links, find_emails(text)
