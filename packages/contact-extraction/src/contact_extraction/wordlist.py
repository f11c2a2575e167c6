"""Word lists that ship with the package, one word or phrase a line, `#` comments."""

from functools import cache
from importlib.resources import files


@cache
def load(name: str) -> frozenset[str]:
    """Read the list `data/<name>.txt`, folded to lower case."""
    return frozenset(word.casefold() for word in load_ordered(name))


@cache
def load_words(name: str) -> frozenset[str]:
    """Read the list `data/<name>.txt` of single words, several a line, folded."""
    return frozenset(
        word.casefold() for line in load_ordered(name) for word in line.split()
    )


@cache
def load_ordered(name: str) -> tuple[str, ...]:
    """Read the list `data/<name>.txt` in its order, as written."""
    text = (
        files("contact_extraction").joinpath("data", f"{name}.txt").read_text("utf-8")
    )
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)
