"""Texts and trees made to stall an extractor, each scalable to any size."""

from collections.abc import Callable

MIB = 1024 * 1024


def _repeat(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


EMAIL_SOUP: dict[str, Callable[[int], str]] = {
    "a@b": _repeat("a@b"),
    "one local part": lambda size: "a" * size + "@b.com",
    "a@a.a.a.a": lambda size: "a@" + "a." * (size // 2),
    "addresses": _repeat("ab@cd.com "),
    "retina names": _repeat("logo@2x.png "),
    "ip hosts": _repeat("user@127.0.0.1 "),
    "only @": _repeat("@"),
}
"""Text for the e-mail finder: at most 50 ms a MiB."""

PAGES: dict[str, Callable[[int], str]] = {
    **EMAIL_SOUP,
    "nested div": _repeat("<div>"),
    "nested aria-hidden": _repeat('<span aria-hidden="true">word'),
    "nested noscript": _repeat("<noscript>word"),
    "nested details": _repeat("<details><summary>word"),
    "nested white on white": _repeat('<div style="color:#fff">'),
    "nested without size": lambda size: (
        "<style>.z{font-size:0}</style>" + "<b class=z>" * (size // 11)
    ),
    "nested of colour": lambda size: (
        "<style>.z{color:#fff}.y{background:#fff}</style>"
        + "<b class=z>" * (size // 11)
    ),
    "colours of many classes": lambda size: (
        "<style>"
        + "".join(f".a{n}{{color:#fff;background:#fff}}" for n in range(size // 64))
        + "</style>"
        + "".join(f"<p class=a{n}>a" for n in range(size // 64))
    ),
    "colours and spaces": lambda size: (
        f"<style>{('background' + ' ' * 200 + 'color' + ' ' * 200) * (size // 415)}"
    ),
    "people and mailboxes": lambda size: "".join(
        f"<div><h3>Ann Lee{chr(97 + n % 26)}</h3><p>Owner</p><p>a{n}@acme.com</p></div>"
        for n in range(size // 62)
    ),
    "names with e-mails": lambda size: "".join(
        f"<p>Ann Lee{chr(97 + n % 26)}, ann.lee{n}@acme.com</p>"
        for n in range(size // 42)
    ),
    "people and numbers": lambda size: "".join(
        f"<div><h3>Ann Lee{chr(97 + n % 26)}</h3><p>Tel. 0207946{n % 10000:04}</p></div>"
        for n in range(size // 58)
    ),
    "chambers and numbers": lambda size: "".join(
        f"<h2>Kammer</h2><p>Tel. 0207946{n % 10000:04}</p>" for n in range(size // 42)
    ),
    "one line of people": _repeat("Ann Lee, Owner, ann@acme.com, 020 7946 0018; "),
    "long words in labels": lambda size: "".join(
        f"<p>{'k' * 380}</p><p>Tel. 0207946{n % 10000:04}</p>"
        for n in range(size // 410)
    ),
    "nested b": _repeat("<b>"),
    "nested b i": _repeat("<b><i>"),
    "misnested": _repeat("<a><b><i><u>"),
    "links": _repeat("<a href=x>y</a>"),
    "open links": _repeat("<a href=x>"),
    "attributes": lambda size: (
        "<a " + " ".join(f"a{n}=1" for n in range(size // 9)) + ">"
    ),
    "tables": _repeat("<table><tr><td>"),
    "hidden": _repeat('<div style="display:none">x</div>'),
    "nested hidden": _repeat('<div style="display:none">x'),
    "mirrored": _repeat("<bdo dir=rtl>x"),
    "itemscope": _repeat("<div itemscope itemprop=a>"),
    "typeof": _repeat("<div typeof=a property=b>"),
    "vcards": _repeat("<div class=vcard>"),
    "a!": lambda size: "a" * size + "!",
    "spaces": _repeat(" "),
    "nbsp": _repeat("\u00a0"),
    "<": _repeat("<"),
    "(((( digits": _repeat("(1"),
    "digits": _repeat("1"),
    "digits and spaces": _repeat("1 "),
    "+1-+1-": _repeat("+1-"),
    "codes of countries": _repeat("+49 30 901820 "),
    "codes without spaces": _repeat("+4930901820"),
    "capital words": _repeat("Anna "),
    "capital letters": _repeat("A"),
    "A. A. A.": _repeat("A. "),
    "numbers and names": _repeat("12 Main "),
    "streets": _repeat("12 Main Street, "),
    "postcodes": _repeat("12345 Berlin "),
    "house numbers": _repeat("Aa 1, "),
    "days": _repeat("Mon 9:00-"),
    "hours": _repeat("9:00 "),
    "at words": _repeat("a at b dot "),
    "brackets": _repeat("[at]"),
    "parentheses": _repeat("("),
    "legal forms": _repeat("Aa Ltd "),
    "copyright": _repeat("\u00a9 2020 "),
    "css": lambda size: "<style>" + ".a{display:none}" * (size // 16) + "</style>",
    "css open": lambda size: "<style>" + "{display:none" * (size // 13) + "</style>",
    "script strings": lambda size: "<script>" + "'a'+'@'+" * (size // 8) + "</script>",
    "script quotes": lambda size: "<script>@" + "'" * size + "</script>",
    "json-ld": lambda size: (
        "<script type='application/ld+json'>" + "[" * size + "</script>"
    ),
    "json-ld commas": lambda size: (
        "<script type='application/ld+json'>" + ", " * (size // 2) + "</script>"
    ),
    "options": _repeat("<option>Anna Lee"),
    "lines": _repeat("<br>a"),
}
"""Whole pages: at most one second a MiB."""
