"""Where on Earth to look: boxes, circles and polygons, in degrees."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

METRES_PER_DEGREE = 111_320.0
"""Of latitude everywhere, of longitude at the equator; within 0.6 % of the truth."""
HALF_TURN = 180.0
FULL_TURN = 360.0
RIGHT_ANGLE = 90.0


@dataclass(frozen=True, slots=True)
class Point:
    """A point on Earth."""

    latitude: float
    longitude: float

    def __post_init__(self) -> None:
        is_real = math.isfinite(self.latitude) and math.isfinite(self.longitude)
        if not is_real or abs(self.latitude) > RIGHT_ANGLE:
            raise ValueError(f"no such latitude: {self.latitude}")
        if abs(self.longitude) > HALF_TURN:
            raise ValueError(f"no such longitude: {self.longitude}")


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the map; west is greater than east where it crosses 180 degrees."""

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        Point(self.south, self.west)
        Point(self.north, self.east)
        if self.south > self.north:
            raise ValueError("the south of a box must not lie north of its north")

    @property
    def bounds(self) -> "Box":
        """Return the smallest box around: itself."""
        return self

    @property
    def width(self) -> float:
        """Return the degrees of longitude from west to east."""
        turn = self.east - self.west
        return turn if turn >= 0 else turn + FULL_TURN

    @property
    def height_m(self) -> float:
        """Return the metres from south to north."""
        return (self.north - self.south) * METRES_PER_DEGREE

    @property
    def width_m(self) -> float:
        """Return the metres from west to east where the box is widest."""
        nearest = min(abs(self.south), abs(self.north))
        if self.south <= 0 <= self.north:
            nearest = 0.0
        return self.width * METRES_PER_DEGREE * math.cos(math.radians(nearest))

    def contains(self, point: Point) -> bool:
        """Say whether the point lies in the box or on its edge."""
        if not self.south <= point.latitude <= self.north:
            return False
        if self.west <= self.east:
            return self.west <= point.longitude <= self.east
        return point.longitude >= self.west or point.longitude <= self.east

    def touches(self, box: "Box") -> bool:
        """Say whether the two boxes share a point."""
        if box.south > self.north or box.north < self.south:
            return False
        return any(
            a_west <= b_east and b_west <= a_east
            for a_west, a_east in self.spans()
            for b_west, b_east in box.spans()
        )

    def spans(self) -> Iterator[tuple[float, float]]:
        """Give the ranges of longitude, two where the box crosses 180 degrees."""
        if self.west <= self.east:
            yield self.west, self.east
        else:
            yield self.west, HALF_TURN
            yield -HALF_TURN, self.east

    def quarter(self, which: int) -> "Box":
        """Return one quarter: 0 south-west, 1 south-east, 2 north-west, 3 north-east."""
        latitude = (self.south + self.north) / 2
        longitude = wrapped(self.west + self.width / 2)
        south, north = (
            (self.south, latitude) if which < 2 else (latitude, self.north)  # noqa: PLR2004
        )
        west, east = (
            (self.west, longitude) if which % 2 == 0 else (longitude, self.east)
        )
        return Box(south, west, north, east)

    def to_json(self) -> dict[str, Any]:
        """Return the box as JSON-able values."""
        return {"box": [self.south, self.west, self.north, self.east]}


@dataclass(frozen=True, slots=True)
class Circle:
    """All points within a distance of a centre."""

    centre: Point
    radius_m: float

    def __post_init__(self) -> None:
        if not 0 < self.radius_m <= 1_000_000:  # noqa: PLR2004 - 1,000 km
            raise ValueError("a radius is more than 0 and at most 1,000,000 metres")

    @property
    def bounds(self) -> Box:
        """Return the smallest box around the circle."""
        up = self.radius_m / METRES_PER_DEGREE
        south = max(-RIGHT_ANGLE, self.centre.latitude - up)
        north = min(RIGHT_ANGLE, self.centre.latitude + up)
        narrow = math.cos(math.radians(max(abs(south), abs(north))))
        aside = up / narrow if narrow > up / HALF_TURN else HALF_TURN
        if aside >= HALF_TURN:
            return Box(south, -HALF_TURN, north, HALF_TURN)
        west = wrapped(self.centre.longitude - aside)
        return Box(south, west, north, wrapped(self.centre.longitude + aside))

    def contains(self, point: Point) -> bool:
        """Say whether the point is no farther from the centre than the radius."""
        return metres_between(self.centre, point) <= self.radius_m

    def touches(self, box: Box) -> bool:
        """Say whether box and circle share a point."""
        if box.contains(self.centre):
            return True
        latitude = min(max(self.centre.latitude, box.south), box.north)
        edges = [edge for span in box.spans() for edge in span]
        inside = Point(latitude, self.centre.longitude)
        candidates = [Point(latitude, edge) for edge in edges]
        if box.contains(inside):
            candidates.append(inside)
        # The nearest point of a meridian is not quite at the same latitude.
        slack = 1.01
        return any(
            metres_between(self.centre, near) <= self.radius_m * slack
            for near in candidates
        )

    def to_json(self) -> dict[str, Any]:
        """Return the circle as JSON-able values."""
        centre = [self.centre.latitude, self.centre.longitude]
        return {"circle": [*centre, self.radius_m]}


Ring: TypeAlias = tuple[Point, ...]
Edge: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Polygon:
    """One or more outlines, with holes where rings lie within rings (even-odd rule)."""

    rings: tuple[Ring, ...]

    def __post_init__(self) -> None:
        if not self.rings or any(len(ring) < 3 for ring in self.rings):  # noqa: PLR2004
            raise ValueError("a polygon has rings of at least three points")

    @property
    def bounds(self) -> Box:
        """Return the smallest box around all outlines."""
        points = [point for ring in self.rings for point in ring]
        latitudes = [point.latitude for point in points]
        west, east = narrowest_span([point.longitude for point in points])
        return Box(min(latitudes), west, max(latitudes), east)

    def contains(self, point: Point) -> bool:
        """Say whether the point lies inside."""
        west = self.bounds.west
        return is_within(self.edges(west), point, west)

    def touches(self, box: Box) -> bool:
        """Say whether box and polygon share a point."""
        if not self.bounds.touches(box):
            return False
        corners = [(box.south, box.west), (box.north, box.east)]
        corners += [(box.south, box.east), (box.north, box.west)]
        if any(self.contains(Point(*corner)) for corner in corners):
            return True
        west = self.bounds.west
        left = unrolled(box.west, west)
        frames = [(left, box.south, left + box.width, box.north)]
        frames += [
            (left - FULL_TURN, box.south, left - FULL_TURN + box.width, box.north)
        ]
        return any(
            crosses_frame(a, b, frame) for a, b in self.edges(west) for frame in frames
        )

    def edges(self, west: float) -> Iterator[Edge]:
        """Give every edge as (x, y) pairs, unrolled eastwards from `west`."""
        for ring in self.rings:
            flat = [(unrolled(p.longitude, west), p.latitude) for p in ring]
            yield from zip(flat, [*flat[1:], flat[0]], strict=True)

    def to_json(self) -> dict[str, Any]:
        """Return the polygon as JSON-able values."""
        return {
            "polygon": [
                [[point.latitude, point.longitude] for point in ring]
                for ring in self.rings
            ]
        }


Area: TypeAlias = Box | Circle | Polygon


def area_from_json(value: Any) -> Area:  # noqa: ANN401 - whatever JSON holds
    """Read an area as `to_json` wrote it; raise ValueError if it is none."""
    try:
        match value:
            case {"box": [south, west, north, east]}:
                return Box(float(south), float(west), float(north), float(east))
            case {"circle": [latitude, longitude, radius]}:
                return Circle(Point(float(latitude), float(longitude)), float(radius))
            case {"polygon": [*rings]}:
                return Polygon(
                    tuple(
                        tuple(Point(float(lat), float(lng)) for lat, lng in ring)
                        for ring in rings
                    )
                )
    except (TypeError, ValueError) as error:
        raise ValueError(f"no usable area: {error}") from None
    raise ValueError("an area is a box, a circle or a polygon")


def area_from_geojson(geometry: Any) -> Area | None:  # noqa: ANN401 - other people's JSON
    """Read a GeoJSON Polygon or MultiPolygon; return None for anything else."""
    match geometry:
        case {"type": "Polygon", "coordinates": [*rings]}:
            outlines: Sequence[Any] = rings
        case {"type": "MultiPolygon", "coordinates": [*polygons]}:
            outlines = [ring for polygon in polygons for ring in polygon]
        case _:
            return None
    try:
        rings_of_points = [
            tuple(Point(float(position[1]), float(position[0])) for position in ring)
            for ring in outlines
        ]
        return Polygon(tuple(open_ring(ring) for ring in rings_of_points))
    except (TypeError, ValueError, IndexError):
        return None


def fence(area: Area) -> Callable[[Point], bool]:
    """Return a quick test for many points: whether they lie inside."""
    if not isinstance(area, Polygon):
        return area.contains
    bounds = area.bounds
    edges = tuple(area.edges(bounds.west))

    def is_inside(point: Point) -> bool:
        return bounds.contains(point) and is_within(edges, point, bounds.west)

    return is_inside


def is_within(edges: Iterable[Edge], point: Point, west: float) -> bool:
    """Say whether a point lies inside of edges, by the even-odd rule."""
    x, y = unrolled(point.longitude, west), point.latitude
    inside = False
    for (ax, ay), (bx, by) in edges:
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def metres_between(a: Point, b: Point) -> float:
    """Return the distance over ground (haversine)."""
    lat_a, lat_b = math.radians(a.latitude), math.radians(b.latitude)
    half_lat = (lat_b - lat_a) / 2
    half_lng = math.radians(b.longitude - a.longitude) / 2
    chord = (
        math.sin(half_lat) ** 2
        + math.cos(lat_a) * math.cos(lat_b) * math.sin(half_lng) ** 2
    )
    radius = METRES_PER_DEGREE * math.degrees(1)
    return 2 * radius * math.asin(min(1.0, math.sqrt(chord)))


def wrapped(longitude: float) -> float:
    """Bring a longitude back between -180 and 180."""
    if -HALF_TURN <= longitude <= HALF_TURN:
        return longitude
    return (longitude + HALF_TURN) % FULL_TURN - HALF_TURN


def unrolled(longitude: float, west: float) -> float:
    """Return the longitude counted eastwards from `west`, so that edges do not wrap."""
    return longitude if longitude >= west else longitude + FULL_TURN


def narrowest_span(longitudes: Sequence[float]) -> tuple[float, float]:
    """Return west and east of the narrowest range that holds all longitudes."""
    ordered = sorted(set(longitudes))
    gaps = [
        (following - here, following, here) for here, following in pairwise(ordered)
    ]
    around = ordered[0] + FULL_TURN - ordered[-1]
    widest = max(gaps, default=(0.0, 0.0, 0.0))
    # Only a gap of more than half a turn can mean that the range wraps around.
    if widest[0] > HALF_TURN and widest[0] > around:
        return widest[1], widest[2]
    return ordered[0], ordered[-1]


def open_ring(ring: Ring) -> Ring:
    """Drop the closing point, which GeoJSON repeats."""
    return ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring


def crosses_frame(
    a: tuple[float, float],
    b: tuple[float, float],
    frame: tuple[float, float, float, float],
) -> bool:
    """Say whether the line from a to b has a point in the rectangle (Liang-Barsky)."""
    left, bottom, right, top = frame
    dx, dy = b[0] - a[0], b[1] - a[1]
    enter, leave = 0.0, 1.0
    for run, gap in (
        (-dx, a[0] - left),
        (dx, right - a[0]),
        (-dy, a[1] - bottom),
        (dy, top - a[1]),
    ):
        if run == 0:
            if gap < 0:
                return False
        elif run < 0:
            enter = max(enter, gap / run)
        else:
            leave = min(leave, gap / run)
    return enter <= leave
