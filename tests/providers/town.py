"""An invented town: businesses that do not exist, on coordinates that do."""

import random
from dataclasses import dataclass, field, replace

from scrapersky.providers.area import Box, Point

BOX = Box(30.10, -97.95, 30.50, -97.55)
FIRST = ("Alder", "Birch", "Cobalt", "Dovetail", "Ember", "Fennel", "Granite", "Harbor")
SECOND = ("& Finch", "Lane", "Hollow", "Brothers", "Works", "& Daughters", "Street")
KINDS = {"dentist": "Dental", "plumber": "Plumbing", "bakery": "Bakery"}


@dataclass(frozen=True, slots=True)
class Business:
    """One business of the town, with all that is true about it."""

    number: int
    kind: str
    name: str
    point: Point | None
    street: str
    phone: str
    website: str | None
    rating: float
    status: str = "OPERATIONAL"
    moved_to: str | None = None
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def google_id(self) -> str:
        return f"ChIJtown{self.number:06}"

    @property
    def osm_id(self) -> str:
        return f"{'way' if self.number % 5 == 0 else 'node'}/{1000 + self.number}"


def a_town(
    count: int = 150,
    *,
    seed: int = 7,
    kind: str = "dentist",
    box: Box = BOX,
    crowd: float = 0.5,
    service_only: int = 0,
) -> list[Business]:
    """Invent businesses: a share of them crowded in the centre, the rest anywhere."""
    dice = random.Random(seed)
    crowded = Point((box.south + box.north) / 2, (box.west + box.east) / 2)
    town = []
    for number in range(count):
        if dice.random() < crowd:
            latitude = crowded.latitude + dice.gauss(0, 0.004)
            longitude = crowded.longitude + dice.gauss(0, 0.004)
        else:
            latitude = dice.uniform(box.south, box.north)
            longitude = dice.uniform(box.west, box.east)
        town.append(
            a_business(
                number,
                kind=kind,
                point=Point(round(latitude, 6), round(longitude, 6)),
            )
        )
    return [
        *town,
        *(a_business(count + n, kind=kind, point=None) for n in range(service_only)),
    ]


def a_business(
    number: int, *, kind: str = "dentist", point: Point | None, **changes: object
) -> Business:
    dice = random.Random(number)
    name = f"{dice.choice(FIRST)} {dice.choice(SECOND)} {KINDS[kind]} {number}"
    business = Business(
        number=number,
        kind=kind,
        name=name,
        point=point,
        street=f"{100 + number} Invented Street",
        phone=f"+1 512-555-{number % 10000:04}",
        website=None if number % 7 == 3 else f"https://{kind}{number}.example/",
        rating=round(dice.uniform(2, 5), 1),
    )
    return replace(business, **changes)  # type: ignore[arg-type]
