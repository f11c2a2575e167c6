"""Score contact extraction on an annotated file: FILE.jsonl or FILE.jsonl.gz."""

import argparse
from pathlib import Path

from scrapersky.extraction.scoring import read_pages, render, score_pages


def main() -> None:
    """Read the file, extract every page, print the tables and the misses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", type=int, default=50, help="how many to list")
    arguments = parser.parse_args()
    report = score_pages(read_pages(arguments.file))
    print(render(report, misses=arguments.misses))


if __name__ == "__main__":
    main()
