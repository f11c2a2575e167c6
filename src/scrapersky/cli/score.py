"""`scrapersky score`."""

from pathlib import Path


def score(file: Path, *, misses: int = 50) -> None:
    """Extract every page of an annotated file and print how well it went.

    Also says how many of the contact pages are ranked among the first three of their site.

    Parameters
    ----------
    file
        Annotated pages, one JSON object a line, plain or gzip.
    misses
        How many misses to list.
    """
    # Heavy, and `--help` needs none of it.
    from contact_extraction.measuring.pages import (  # noqa: PLC0415
        read_pages,
        render,
        score_pages,
    )
    from contact_extraction.measuring.ranking import (  # noqa: PLC0415
        render_ranking,
        score_ranking,
    )
    from scrapersky.kit.plain_text import plain_lines  # noqa: PLC0415

    pages = list(read_pages(file))
    print(plain_lines(render(score_pages(pages), misses=misses)))
    print()
    print(plain_lines(render_ranking(score_ranking(pages), misses=misses)))
