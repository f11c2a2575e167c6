"""What a batch may be made of."""

from dataclasses import dataclass

from scrapersky.errors import InvalidSubmission


@dataclass(frozen=True, slots=True)
class BatchKind:
    """What a batch is made of, and the stage that its items go through first."""

    name: str
    stage: str
    link: str
    """The column of a batch item that names the record."""


KINDS = {
    kind.name: kind
    for kind in (
        BatchKind("domains", "domain_metadata", "domain_id"),
        BatchKind("sitemaps", "sitemap_import", "sitemap_file_id"),
        BatchKind("pages", "page_curation", "page_id"),
    )
}


def kind_named(name: str) -> BatchKind:
    """Return what a batch may be made of, or say what there is."""
    if name not in KINDS:
        raise InvalidSubmission(
            f"'{name[:50]}' cannot be submitted.", hint=f"Choose: {', '.join(KINDS)}."
        )
    return KINDS[name]
