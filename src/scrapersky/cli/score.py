"""`scrapersky score`."""

from pathlib import Path


def score(file: Path, *, misses: int = 50) -> None:
    """Measure contact extraction on annotated pages.

    Prints precision, recall and F1 per label, micro and macro, how well the confidences hold, and
    the list of misses; then how many contact pages are ranked among the first three of their site,
    by address alone and with the texts of links. The format is explained in
    docs/explanation/contacts.md, the ranking in docs/reference/page-types.md.

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
