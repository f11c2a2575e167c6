"""Read microdata, RDFa and hCards into one kind of item."""

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import turbohtml

from contact_extraction.html.text import clean

MAX_ITEMS: Final = 2_000
MAX_TEXT: Final = 20_000
MAX_CARD: Final = 200
"""Elements looked at in one hCard; cards inside cards would else cost their square."""


@dataclass(frozen=True, slots=True)
class Item:
    """A thing described by microdata, RDFa or a microformat.

    Property names have no vocabulary prefix: `name`, not `https://schema.org/name`.
    """

    types: tuple[str, ...]
    properties: Mapping[str, tuple["str | Item", ...]]
    line: int = -1

    def texts(self, name: str) -> tuple[str, ...]:
        """Give the plain text values of a property."""
        return tuple(v for v in self.properties.get(name, ()) if isinstance(v, str))

    def items(self, name: str) -> tuple["Item", ...]:
        """Give the nested items of a property."""
        return tuple(v for v in self.properties.get(name, ()) if isinstance(v, Item))


def attributes_of(element: turbohtml.Element) -> dict[str, str]:
    """Give the attributes of an element as plain text."""
    return {
        name: " ".join(value) if isinstance(value, list) else value or ""
        for name, value in element.attrs.items()
    }


def read_items(read: Callable[[], Sequence[Any]]) -> tuple[Item, ...]:
    """Read top-level items from the library; none if they are nested beyond reason."""
    try:
        found = read()
    except (RecursionError, ValueError):
        # The library refuses items nested hundreds deep; no honest page has them.
        return ()
    return tuple(_item(thing, depth=0) for thing in found[:MAX_ITEMS])


_MAX_DEPTH: Final = 20


def _item(thing: Any, depth: int) -> Item:  # noqa: ANN401
    kinds = thing.type if isinstance(thing.type, list) else (thing.type or "").split()
    properties: dict[str, list[str | Item]] = {}
    for name, values in thing.properties.items():
        kept = properties.setdefault(_local(name), [])
        for value in values:
            if isinstance(value, str):
                kept.append(clean(value[:MAX_TEXT]))
            elif depth < _MAX_DEPTH:
                kept.append(_item(value, depth + 1))
    return Item(
        types=tuple(_local(kind) for kind in kinds),
        properties={name: tuple(values) for name, values in properties.items()},
    )


def _local(name: str) -> str:
    """Cut the vocabulary from a property or type: `schema:Person` gives `Person`."""
    return re.split(r"[/#:]", name.rstrip("/#"))[-1]


_HCARD_CLASSES: Final = {
    "fn": "name",
    "p-name": "name",
    "n": "name",
    "org": "org",
    "p-org": "org",
    "organization-name": "org",
    "title": "role",
    "p-job-title": "role",
    "role": "role",
    "p-role": "role",
    "tel": "telephone",
    "p-tel": "telephone",
    "u-tel": "telephone",
    "fax": "faxNumber",
    "email": "email",
    "u-email": "email",
    "url": "url",
    "u-url": "url",
    "street-address": "streetAddress",
    "p-street-address": "streetAddress",
    "extended-address": "extendedAddress",
    "p-extended-address": "extendedAddress",
    "post-office-box": "postOfficeBoxNumber",
    "locality": "addressLocality",
    "p-locality": "addressLocality",
    "region": "addressRegion",
    "p-region": "addressRegion",
    "postal-code": "postalCode",
    "p-postal-code": "postalCode",
    "country-name": "addressCountry",
    "p-country-name": "addressCountry",
}


def read_hcard(card: turbohtml.Element, unseen: AbstractSet[turbohtml.Node]) -> Item:
    """Read a microformat card into the names schema.org uses, without what is hidden."""
    properties: dict[str, list[str]] = {}
    for count, element in enumerate(card.iter_elements(include_self=True)):
        if count > MAX_CARD:
            break
        if unseen and element in unseen:
            continue
        classes = element.attrs.get("class")
        for name in classes or () if isinstance(classes, list) else ():
            prop = _HCARD_CLASSES.get(name.lower())
            if prop:
                properties.setdefault(prop, []).append(_hcard_value(element, prop))
    return Item(
        types=("hCard",),
        properties={name: tuple(values) for name, values in properties.items()},
    )


def _hcard_value(element: turbohtml.Element, prop: str) -> str:
    href = element.attr("href") or ""
    if prop == "email" and href.lower().startswith("mailto:"):
        return clean(href[7:].split("?")[0])
    if prop == "url":
        return href
    if prop == "telephone":
        parts = element.select(".value")[:5]
        if parts:
            return clean(" ".join(part.text for part in parts))
    if element.tag == "abbr" and element.attr("title"):
        return clean(element.attr("title") or "")
    return clean(element.text[:1000])
