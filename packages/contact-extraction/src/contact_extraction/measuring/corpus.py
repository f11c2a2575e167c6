"""A directory of annotated websites: `truth.jsonl`, and one directory of files a site.

One object a line: `site`, the name of its directory, and what is true about its business,
in the fields of `TrueSite`.
"""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from contact_extraction.errors import BadAnnotations
from contact_extraction.host_kind import site_name

TRUTH: Final = "truth.jsonl"
CLOSED_ENDING: Final = "bv"
"""Where a site is served whose directory is not called by a domain."""
HASH_BYTE: Final = 1
"""Which byte of the hash decides: by the first one directories are often split already."""

Facts = dict[str, Any]


class Part(StrEnum):
    """What a site may be used for."""

    LOOK = "look"
    """Its pages and misses may be read, and rules and weights learnt from them."""
    SCORE = "score"
    """It is only ever scored: nobody reads its pages or what was missed on them."""


@dataclass(frozen=True, slots=True)
class TrueSite:
    """One website and what is true about its business."""

    name: str
    """The name of its directory."""
    root: Path
    organisation: str | None
    part: Part = Part.LOOK
    also_named: tuple[str, ...] = ()
    emails: tuple[Facts, ...] = ()
    phones: tuple[Facts, ...] = ()
    people: tuple[Facts, ...] = ()
    addresses: tuple[Facts, ...] = ()
    contact_pages: tuple[str, ...] = ()
    decision_maker: str | None = None
    third_party: frozenset[str] = field(default_factory=frozenset)
    """Values on its pages that belong to somebody else, in lower case."""

    @property
    def host(self) -> str:
        """Return the host it is served at."""
        bare = self.name.lower().removeprefix("www.")
        return bare if "." in bare else f"{bare}.{CLOSED_ENDING}"

    @property
    def domain(self) -> str:
        """Return the domain under which the pipeline keeps it."""
        return site_name(f"http://{self.host}/") or self.host


def read_corpus(directory: Path) -> list[TrueSite]:
    """Read what is true about every site; raise BadAnnotations if it cannot be."""
    file = directory / TRUTH
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        described = [json.loads(line) for line in lines if line.strip()]
        has_rounds = any("since" in each for each in described)
        return [_site(directory, each, has_rounds=has_rounds) for each in described]
    except OSError as error:
        raise BadAnnotations(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnnotations(
            f"{file} is not one JSON object a line, each with its site: {error}.",
        ) from error


def _site(directory: Path, described: Facts, *, has_rounds: bool) -> TrueSite:
    def many(name: str) -> tuple[Any, ...]:
        return tuple(described.get(name) or ())

    name = str(described["site"])
    # A site that was there before the split had been looked at before it.
    was_looked_at = has_rounds and "since" not in described
    return TrueSite(
        name=name,
        root=directory / name,
        part=Part.LOOK if was_looked_at else part_of(name),
        organisation=described.get("organisation"),
        also_named=many("also_named"),
        emails=many("emails"),
        phones=many("phones"),
        people=many("people"),
        addresses=many("addresses"),
        contact_pages=many("contact_pages"),
        decision_maker=described.get("decision_maker"),
        third_party=frozenset(str(value).lower() for value in many("third_party")),
    )


def part_of(name: str) -> Part:
    """Return the part that a site is in for ever, by a hash of its name."""
    is_odd = hashlib.sha256(name.encode()).digest()[HASH_BYTE] % 2
    return Part.SCORE if is_odd else Part.LOOK
