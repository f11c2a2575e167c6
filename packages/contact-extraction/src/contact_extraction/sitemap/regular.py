"""Read slabs in which every item has the same children, without building a tree.

Most sitemaps are written by a loop: the same tags in the same order, fifty thousand
times. Splitting such a slab at every "<" gives a list with a period, and slices of it
are the columns. Every part of every item is checked against the first one; whatever
does not fit (an attribute, a comment, a missing tag) leaves the slab to the XML parser.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from contact_extraction.sitemap.model import MAX_PER_PAGE

LEAVES: Final = frozenset((b"loc", b"lastmod", b"changefreq", b"priority"))
IMAGE_LEAVES: Final = frozenset(
    b"image:" + name for name in (b"loc", b"title", b"caption", b"license")
)


Columns = dict[str, list[str | None]]


@dataclass(frozen=True, slots=True)
class RegularColumns:
    """The columns of a regular slab by tag name, and the images of each item."""

    columns: Mapping[str, list[str | None]]
    images: list[tuple[str, ...]] | None = None


def read_regular(slab: bytes, item: bytes) -> RegularColumns | None:
    """Return the columns of a regular slab; None if it is not one."""
    if b"&" in slab and slab.count(b"&") != slab.count(b"&amp;"):
        return None
    if b"<image:image>" in slab:
        return _read_with_images(slab, item)
    columns = _read_plain(slab, item)
    return None if columns is None else RegularColumns(columns)


def _read_plain(slab: bytes, item: bytes) -> Columns | None:
    columns = _read_period(slab, item, LEAVES)
    if columns is None:
        return _read_groups(slab, item)
    return {name: [*texts] for name, texts in columns.items()}


def _read_groups(slab: bytes, item: bytes) -> Columns | None:
    """Read slabs with a few kinds of items, such as pages with and without a date."""
    end = b"</%b>" % item
    parts = slab.split(end)
    if parts.pop().strip():
        return None
    sizes = [part.count(b"<") for part in parts]
    kinds = set(sizes)
    if not 1 < len(kinds) <= _MAX_KINDS:
        return None
    columns: Columns = {}
    for kind in kinds:
        places = [place for place, size in enumerate(sizes) if size == kind]
        group = b"".join([parts[place] + end for place in places])
        found = _read_period(group, item, LEAVES)
        if found is None:
            return None
        for name, texts in found.items():
            column = columns.setdefault(name, [None] * len(parts))
            for place, text in zip(places, texts, strict=True):
                column[place] = text
    return columns


def _read_with_images(slab: bytes, item: bytes) -> RegularColumns | None:
    """Part each item into its plain columns and its images, two regular slabs."""
    end = b"</%b>" % item
    halves = [part.partition(_IMAGE_START) for part in slab.split(end)]
    if halves.pop() != (b"", b"", b"") and slab[slab.rfind(end) + len(end) :].strip():
        return None
    columns = _read_plain(b"".join([half[0] + end for half in halves]), item)
    if columns is None:
        return None
    together = b"".join([start + rest for _, start, rest in halves])
    images = _read_period(together, _IMAGE, IMAGE_LEAVES)
    if images is None or "image:loc" not in images:
        return None
    parts = 2 * len(images) + 2
    counts = [
        divmod(rest.count(b"<") + 1, parts) if start else (0, 0)
        for _, start, rest in halves
    ]
    if any(left for _, left in counts):
        return None
    texts = stripped(images["image:loc"])
    return RegularColumns(columns, sliced(texts, [count for count, _ in counts]))


def stripped(texts: list[str]) -> list[str]:
    """Return the texts without white space around them; mostly they have none."""
    together = "".join(texts)
    if " " in together or "\n" in together or "\t" in together:
        return [text.strip() for text in texts]
    return texts


def sliced(texts: list[str], counts: list[int]) -> list[tuple[str, ...]]:
    """Hand out the texts in order, to each item as many as it has."""
    starts = accumulate(counts, initial=0)
    if max(counts, default=0) > MAX_PER_PAGE:
        counts = [min(count, MAX_PER_PAGE) for count in counts]
    every = tuple(texts)
    return [every[at : at + count] for at, count in zip(starts, counts, strict=False)]


def _read_period(
    slab: bytes, item: bytes, leaves: frozenset[bytes]
) -> dict[str, list[str]] | None:
    layout = _layout(slab[:_FIRST_ITEM].split(b"<", _MOST_PARTS + 1), item, leaves)
    if layout is None:
        return None
    parts = slab.split(b"<")
    period = 2 * len(layout) + 2
    if parts[0].strip() or (len(parts) - 1) % period:
        return None
    if not _is_always(b"%b>" % item, parts[1::period]):
        return None
    if not _is_always(b"/%b>" % item, parts[period::period]):
        return None
    columns: dict[str, list[str]] = {}
    for place, name in enumerate(layout):
        at = 2 + 2 * place
        texts = _texts(name, parts[at::period])
        if texts is None or not _is_always(b"/%b>" % name, parts[at + 1 :: period]):
            return None
        columns[name.decode()] = texts
    return columns


_IMAGE: Final = b"image:image"
_IMAGE_START: Final = b"<image:image>"
_FIRST_ITEM: Final = 16 * 1024
_MAX_KINDS: Final = 4
_MOST_PARTS: Final = 2 + 2 * len(LEAVES)


def _layout(
    parts: Sequence[bytes], item: bytes, leaves: frozenset[bytes]
) -> list[bytes] | None:
    """Return the names of the children of the first item, if all are plain leaves."""
    end = b"/%b>" % item
    names: list[bytes] = []
    for part in parts[2 : 1 + _MOST_PARTS : 2]:
        if part.startswith(end):
            break
        if part.partition(b">")[0] not in leaves:
            return None
        names.append(part.partition(b">")[0])
    return names if names and len(set(names)) == len(names) else None


def _is_always(tag: bytes, parts: Sequence[bytes]) -> bool:
    """Say whether every part is the tag and, at most, white space after it."""
    return all(
        part.startswith(tag) and not part[len(tag) :].strip(b" \t\r\n")
        for part in set(parts)
    )


def _texts(name: bytes, parts: Sequence[bytes]) -> list[str] | None:
    column = b"\0".join((b"", *parts))
    if column.translate(None, _PRINTABLE) != b"\0>" * len(parts):
        # Control characters, or a ">", which is legal in a text but may end a tag.
        return None
    try:
        texts = column.decode().split(f"\0{name.decode()}>")
    except UnicodeDecodeError:
        return None
    if len(texts) - 1 != len(parts):
        return None
    del texts[0]
    if b"&" in column:
        return [text.replace("&amp;", "&") for text in texts]
    return texts


_PRINTABLE: Final = bytes({*range(0x20, 0x7F), *range(0x80, 0x100)} - {ord(">")})
