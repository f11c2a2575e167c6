"""How much of what is true about real websites the pipeline finds.

    python bench/sites.py DIR            every site of the directory
    python bench/sites.py DIR --quick    a few of them, under 50 s

The same as `scrapersky score-sites DIR`: the sites are served on loopback, the real
pipeline runs over them with the rules of a new tenant, and what it stored is compared
with `DIR/truth.jsonl`. The last line is one object of JSON.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cyclopts import run

from scrapersky.cli.score_sites import score_sites

if __name__ == "__main__":
    run(score_sites)
