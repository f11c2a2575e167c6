"""Pages made up from a seed: business pages with contacts, and pages without any.

The same seed gives the same page, so that figures can be compared over time. All
businesses, people and numbers are invented.
"""

import random

WORDS = tuple(
    """
    about after again along always another around because before between bright
    broad careful center change clean clear close common company complete county
    craft custom daily design detail early easy every family field final finish
    first fresh future garden general gentle great ground group guide handle happy
    history honest house idea inside large learn light little local longer market
    matter method modern morning natural needs never notice often open order other
    paint paper part people perfect place plain plan plenty point power present
    price proud public quality quick quiet rather ready reason record repair result
    right river room round season second sense service shape share short simple
    small smooth solid some sound space special spring stand start steady still
    stone story strong style summer supply sure table team thing though through time
    today together touch trade trust under until upon usual value various visit
    water weather welcome wide winter within without wood work world
    """.split()  # noqa: SIM905
)
STREETS = ("Main Street", "Oak Avenue", "Harbor Road", "Mill Lane", "Cedar Drive")
CITIES = (
    ("Austin", "TX", "78701", "512"),
    ("Portland", "ME", "04101", "207"),
    ("Denver", "CO", "80202", "303"),
    ("Seattle", "WA", "98101", "206"),
    ("Boston", "MA", "02116", "617"),
)
GIVEN = ("Laura", "Peter", "Susan", "David", "Karen", "Brian", "Nancy", "Kevin")
FAMILY = ("Holloway", "Brandt", "Marchetti", "Quimby", "Sorensen", "Dufresne", "Okafor")
UNITS = ("mm", "cm", "kg", "W")
ROLES = ("Owner", "Office Manager", "Sales Director", "Project Manager", "Receptionist")


def business_page(seed: int, size: int = 60_000) -> tuple[str, str]:
    """Give the HTML and the address of one business page of about this many bytes."""
    dice = random.Random(seed)
    name = f"{dice.choice(FAMILY)} {dice.choice(('Roofing', 'Dental', 'Bakery', 'Law Firm'))}"
    host = "".join(name.lower().split()) + ".com"
    city, state, code, area = dice.choice(CITIES)
    street = f"{dice.randint(10, 9900)} {dice.choice(STREETS)}"
    people = "".join(_person(dice, area, host) for _ in range(6))
    head = (
        f"<title>{name} | Contact</title>"
        f'<meta name="description" content="{_prose(dice, 20)}">'
        '<meta property="og:type" content="website">'
        f'<link rel="canonical" href="https://www.{host}/contact">'
        f"<style>{_css(dice, 60)}</style><script>{_script(dice, 60)}</script>"
        f'<script type="application/ld+json">{{"@type":"LocalBusiness","name":"{name}",'
        f'"telephone":"({area}) 472-{dice.randint(1000, 9999)}"}}</script>'
    )
    contact = (
        f'<div class="contact"><h2>Visit us</h2><p>{name} LLC<br>{street}<br>'
        f"{city}, {state} {code}</p><p>Phone: ({area}) 624-{dice.randint(1000, 9999)}<br>"
        f"Fax: ({area}) 624-{dice.randint(1000, 9999)}</p>"
        f'<p><a href="mailto:info@{host}">info@{host}</a></p>'
        "<p>Monday - Friday 8:00am - 5:30pm<br>Saturday 9am - 1pm</p>"
        f'<a href="https://www.facebook.com/{host[:-4]}">Facebook</a>'
        '<a href="https://www.facebook.com/sharer.php?u=x">Share</a></div>'
    )
    menu = "".join(
        f'<li class="menu-item item-{n}"><a href="/{_slug(dice)}/" title="{_prose(dice, 2)}">'
        f"{_prose(dice, 2).title()}</a></li>"
        for n in range(70)
    )
    top = (
        f'<!doctype html><html lang="en"><head>{head}</head><body class="page">'
        f'<div id="header"><a href="/"><img src="/logo.png" class="logo" alt="{name}"></a>'
        f"<ul>{menu}</ul></div><h1>{name}</h1>{contact}<h2>Our team</h2><table>{people}</table>"
    )
    end = f'<div id="footer"><p>© 2026 {name} LLC. All rights reserved.</p></div></body></html>'
    parts = [top]
    length = len(top) + len(end)
    while length < size:
        part = _section(dice)
        parts.append(part)
        length += len(part)
    return "".join((*parts, end)), f"https://www.{host}/contact"


def contactless_page(seed: int) -> str:
    """Give a page full of numbers, names of things and traps, but without a contact."""
    dice = random.Random(seed)
    pieces = [dice.choice(_TRAPS)(dice) for _ in range(dice.randint(8, 25))]
    return (
        f"<!doctype html><html lang='en'><head><title>{_prose(dice, 3)}</title>"
        f"<style>.hp{{display:none}}</style></head><body>{''.join(pieces)}</body></html>"
    )


def _prose(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(count))


def _slug(dice: random.Random) -> str:
    return "-".join(dice.choice(WORDS) for _ in range(2))


def _css(dice: random.Random, rules: int) -> str:
    return "".join(
        f".{dice.choice(WORDS)}-{n}{{margin:{dice.randint(0, 40)}px;"
        f"color:#{dice.randint(0, 0xFFFFFF):06x};text-decoration:none}}"
        for n in range(rules)
    )


def _script(dice: random.Random, lines: int) -> str:
    return "".join(
        f'var {dice.choice(WORDS)}{n}="{_prose(dice, 4)}";if(window.a{n}){{b({n})}}\n'
        for n in range(lines)
    )


def _person(dice: random.Random, area: str, host: str) -> str:
    given, family = dice.choice(GIVEN), dice.choice(FAMILY)
    mail = f"{given.lower()}@{host}"
    return (
        f"<tr><td>{given} {family}</td><td>{dice.choice(ROLES)}</td>"
        f"<td>({area}) 624-{dice.randint(1000, 9999)}</td>"
        f"<td><a href='mailto:{mail}'>{mail}</a></td></tr>"
    )


def _section(dice: random.Random) -> str:
    paragraphs = "".join(
        f'<p class="text block-{n}">'
        f'<span style="font-size:14px">{_prose(dice, 45).capitalize()}.</span>'
        f' <a href="/{_slug(dice)}.html">{_prose(dice, 3)}</a> <strong>{_prose(dice, 2)}</strong>'
        f" {_prose(dice, 20)}.</p>"
        for n in range(4)
    )
    images = (
        f'<img src="/img/{_slug(dice)}@2x.jpg" alt="{_prose(dice, 3)}" width="300">'
    )
    facts = "".join(
        f"<li>{dice.choice(WORDS).title()}: {dice.randint(1, 99)}.{dice.randint(10, 99)}</li>"
        for _ in range(4)
    )
    return (
        f'<div class="section"><h3>{_prose(dice, 4).title()}</h3>{images}{paragraphs}'
        f'<ul class="facts">{facts}</ul></div>'
    )


def _digits(dice: random.Random, count: int) -> str:
    return "".join(str(dice.randint(0, 9)) for _ in range(count))


def _date(dice: random.Random) -> str:
    year, month, day = (
        dice.randint(1990, 2026),
        dice.randint(1, 12),
        dice.randint(1, 28),
    )
    return dice.choice(
        (
            f"<p>{year}-{month:02}-{day:02} {dice.randint(0, 23):02}:{dice.randint(0, 59):02}</p>",
            f"<p>{day:02}.{month:02}.{year}</p>",
            f"<p>{month}/{day}/{year} - {month}/{day}/{year + 1}</p>",
        )
    )


def _price(dice: random.Random) -> str:
    return (
        f"<p>${dice.randint(1, 9)},{_digits(dice, 3)}.{_digits(dice, 2)} was "
        f"€ {dice.randint(1, 9)}.{_digits(dice, 3)},{_digits(dice, 2)}</p>"
    )


def _identifier(dice: random.Random) -> str:
    return dice.choice(
        (
            f"<p>Order no. {dice.randint(2000, 2026)}-{_digits(dice, 6)}</p>",
            f"<p>SKU {_digits(dice, 13)}</p>",
            f"<p>ISBN 978-3-16-{_digits(dice, 6)}-0</p>",
            f"<td>{_digits(dice, 10)}</td>",
            f"<p>Article {_digits(dice, 10)} {dice.choice(WORDS)}</p>",
            f"<p>v{dice.randint(1, 9)}.{dice.randint(0, 99)}.{_digits(dice, 4)}</p>",
            f"<p>{dice.randrange(1 << 64):x}</p>",
            f"<p>IP 10.{dice.randint(0, 255)}.{dice.randint(0, 255)}.{dice.randint(0, 255)}</p>",
        )
    )


def _coordinates(dice: random.Random) -> str:
    return f"<p>{dice.uniform(-89, 89):.6f}, {dice.uniform(-179, 179):.6f}</p>"


def _statistics(dice: random.Random) -> str:
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{dice.randint(0, 99999)}</td>" for _ in range(4))
        + "</tr>"
        for _ in range(5)
    )
    return f"<table>{rows}</table><p>{' '.join(str(n) for n in range(1, 11))}</p>"


def _traps(dice: random.Random) -> str:
    host = f"{dice.choice(WORDS)}-{dice.choice(WORDS)}.com"
    return dice.choice(
        (
            f'<p class="hp">trap{dice.randint(1, 99)}@{host}</p>',
            f'<div style="display:none"><a href="mailto:bait@{host}">x</a></div>',
            '<input placeholder="you@yourdomain.com">',
            "<p>for instance name@example.com or your@email.com</p>",
            f'<img src="/{dice.choice(WORDS)}@2x.png" alt="{dice.choice(WORDS)}@2x.png">',
            "<p>call 555-0123 or (555) 555-0199</p>",
            '<a href="https://twitter.com/intent/tweet?url=x">Tweet</a>',
            f"<p>shop-at-{dice.choice(WORDS)}.com</p>",
            f"<p>{_prose(dice, 6)} at {dice.choice(WORDS)}.com {_prose(dice, 3)}</p>",
            f"<script>{_script(dice, 3)} var x='a'+'@'+b;</script>",
        )
    )


def _article(dice: random.Random) -> str:
    title = f"<h2>{_prose(dice, 4).title()}</h2>"
    return f"{title}<p>{_prose(dice, 60).capitalize()}. {_prose(dice, 30).capitalize()}.</p>"


def _catalogue(dice: random.Random) -> str:
    items = "".join(
        f"<li>{_prose(dice, 2).title()} {dice.randint(10, 5000)} {dice.choice(UNITS)}</li>"
        for _ in range(6)
    )
    return f"<ul>{items}</ul>"


_TRAPS = (
    _date,
    _price,
    _identifier,
    _identifier,
    _coordinates,
    _statistics,
    _traps,
    _traps,
    _article,
    _catalogue,
)
