"""Cases 63 to 67: sites that always have one more page."""

import random
from collections.abc import Iterator
from datetime import date, timedelta

from tests.zoo.case import Site
from tests.zoo.wire import Exchange, Request, answer, page


def endless_sites() -> Iterator[Site]:
    """Return the sites that only a budget can leave."""
    yield Site(slug="endless-calendar", serve=calendar)
    yield Site(slug="endless-path", serve=path)
    yield Site(slug="endless-session", serve=session)
    yield Site(slug="endless-honeypot", serve=honeypot)


async def calendar(exchange: Exchange, request: Request) -> bool:
    """Link to the next ten days, whatever day is asked for."""
    words = [word for word in request.target.strip("/").split("/") if word.isdigit()]
    try:
        day = date(*map(int, words[:3])) if len(words) == 3 else date(2026, 11, 15)
    except ValueError:
        day = date(2026, 11, 15)
    days = (day + timedelta(days=n) for n in range(1, 11))
    return await links(exchange, f"{day}", (f"/events/{d:%Y/%m/%d}" for d in days))


async def path(exchange: Exchange, request: Request) -> bool:
    """Link deeper into the same directories, as a wrong relative link does."""
    base = request.target.rstrip("/")
    return await links(exchange, base, (f"{base}/offers/", f"{base}/news/"))


async def session(exchange: Exchange, request: Request) -> bool:
    """Show one and the same page under an address that is new every time."""
    chance = random.Random(request.target)
    ids = (f"/shop/{chance.getrandbits(64):016x}" for _ in range(10))
    body = "<p>Welcome</p>" if request.target != "/" else "<p>Start</p>"
    hrefs = "".join(f'<a href="{each}">x</a>' for each in ids)
    # What the reader sees is the same; only the addresses differ.
    same = page(body) if request.target != "/" else page(body + hrefs)
    await exchange.send(answer(same))
    return True


async def honeypot(exchange: Exchange, request: Request) -> bool:
    """Answer anything with random text and ten links to more of it."""
    chance = random.Random(request.target)

    def word() -> str:
        return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9))

    text = " ".join(word() for _ in range(100))
    return await links(exchange, text, (f"/{word()}/{word()}" for _ in range(10)))


async def links(
    exchange: Exchange, text: str, targets: Iterator[str] | tuple[str, ...]
) -> bool:
    hrefs = "".join(f'<a href="{target}">{target}</a> ' for target in targets)
    await exchange.send(answer(page(f"<p>{text}</p>{hrefs}", title=text[:40])))
    return True
