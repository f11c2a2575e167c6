"""Measure the whole pipeline on annotated websites: serve them, run it, compare."""

from scrapersky.measuring.corpus import TrueSite, read_corpus
from scrapersky.measuring.judge import Score, judge
from scrapersky.measuring.pipeline import measure
from scrapersky.measuring.report import figures, render

__all__ = [
    "Score",
    "TrueSite",
    "figures",
    "judge",
    "measure",
    "read_corpus",
    "render",
]
