"""`scrapersky score`."""

from pathlib import Path

from scrapersky.extraction.scoring import read_pages, render, score_pages


def score(file: Path, *, misses: int = 50) -> None:
    """Extract every page of an annotated file and print how well it went.

    Parameters
    ----------
    file
        Annotated pages, one JSON object a line, plain or gzip.
    misses
        How many misses to list.
    """
    print(render(score_pages(read_pages(file)), misses=misses))
