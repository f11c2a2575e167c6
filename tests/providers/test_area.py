import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.providers.area import (
    Box,
    Circle,
    Point,
    Polygon,
    area_from_geojson,
    area_from_json,
    fence,
    metres_between,
)
from scrapersky.providers.cell import box_of, first_cells, may_split, quarters

latitudes = st.floats(-80, 80)
longitudes = st.floats(-180, 180)
points = st.builds(Point, latitudes, longitudes)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    south, north = sorted([draw(latitudes), draw(latitudes)])
    return Box(south, draw(longitudes), north, draw(longitudes))


@settings(deadline=None)
@given(box=boxes(), point=points)
def test_a_point_of_a_box_is_in_one_of_its_quarters(box: Box, point: Point) -> None:
    inside = [box.quarter(which).contains(point) for which in range(4)]

    # An edge may be off by the last bit where the box crosses 180 degrees.
    near = min(abs(point.longitude - edge) for edge in (box.west, box.east)) < 1e-9
    assert any(inside) == box.contains(point) or near


@settings(deadline=None)
@given(box=boxes())
def test_quarters_are_half_as_wide_and_high(box: Box) -> None:
    quarter = box.quarter(2)

    assert quarter.width == pytest.approx(box.width / 2, abs=1e-6)
    assert quarter.north == box.north


@settings(deadline=None)
@given(centre=points, radius=st.floats(10, 200_000), point=points)
def test_the_box_around_a_circle_holds_all_of_it(
    centre: Point, radius: float, point: Point
) -> None:
    circle = Circle(centre, radius)

    assert not circle.contains(point) or circle.bounds.contains(point)


@settings(deadline=None)
@given(centre=points, radius=st.floats(100, 200_000), box=boxes(), point=points)
def test_a_box_with_a_point_of_the_circle_touches_it(
    centre: Point, radius: float, box: Box, point: Point
) -> None:
    circle = Circle(centre, radius)
    shared = box.contains(point) and circle.contains(point)

    assert not shared or circle.touches(box)


def degrees(most: int) -> st.SearchStrategy[float]:
    """Give coordinates as maps have them: to the centimetre, and not to 10^-34 degrees."""
    return st.floats(-most, most).map(lambda exact: round(exact, 7))


@settings(deadline=None)
@given(
    corners=st.lists(
        st.builds(Point, degrees(60), degrees(80)), min_size=3, max_size=8
    ),
    box=boxes(),
    point=st.builds(Point, degrees(60), degrees(80)),
)
def test_a_box_with_a_point_of_the_polygon_touches_it(
    corners: list[Point], box: Box, point: Point
) -> None:
    polygon = Polygon((tuple(corners),))
    shared = box.contains(point) and polygon.contains(point)

    assert fence(polygon)(point) == (
        polygon.bounds.contains(point) and polygon.contains(point)
    )
    assert not shared or polygon.touches(box)


def test_a_hole_is_outside() -> None:
    outer = square(0, 0, 10)
    hole = square(4, 4, 2)
    polygon = Polygon((outer, hole))

    assert polygon.contains(Point(1, 1))
    assert not polygon.contains(Point(5, 5))


def test_a_polygon_across_the_date_line_is_narrow() -> None:
    polygon = Polygon(
        ((Point(-18, 178), Point(-18, -178), Point(-16, -178), Point(-16, 178)),)
    )

    assert polygon.bounds == Box(-18, 178, -16, -178)
    assert polygon.contains(Point(-17, 179.9))
    assert polygon.contains(Point(-17, -179.9))
    assert not polygon.contains(Point(-17, 0))
    assert polygon.touches(Box(-17.5, 179, -16.5, -179))
    assert not polygon.touches(Box(-17.5, 10, -16.5, 20))


@pytest.mark.parametrize(
    "area",
    [
        Box(1, 2, 3, 4),
        Box(-5, 170, 5, -170),
        Circle(Point(1, 2), 300),
        Polygon((((Point(0, 0), Point(0, 1), Point(1, 0))),)),
    ],
)
def test_an_area_survives_json(area: Box | Circle | Polygon) -> None:
    assert area_from_json(area.to_json()) == area


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"box": [1, 2, 3]},
        {"box": [5, 2, 3, 4]},
        {"box": [1, 2, 91, 4]},
        {"box": [1, "x", 3, 4]},
        {"circle": [1, 2, -3]},
        {"circle": [1, 2, math.inf]},
        {"circle": [math.nan, 2, 3]},
        {"polygon": [[[1, 2], [3, 4]]]},
        {"polygon": []},
        {"polygon": [[1, 2, 3]]},
    ],
)
def test_what_is_no_area_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"area|box|polygon|radius|latitude"):
        area_from_json(value)


def test_geojson_is_longitude_first() -> None:
    ring = [[10.0, 1.0], [11.0, 1.0], [11.0, 2.0], [10.0, 1.0]]

    polygon = area_from_geojson({"type": "Polygon", "coordinates": [ring]})

    assert isinstance(polygon, Polygon)
    assert polygon.bounds == Box(1, 10, 2, 11)
    assert len(polygon.rings[0]) == 3


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        {"type": "Point", "coordinates": [1, 2]},
        {"type": "Polygon", "coordinates": [[[1]]]},
        {"type": "Polygon", "coordinates": [[["a", "b"]] * 4]},
        {"type": "MultiPolygon", "coordinates": []},
    ],
)
def test_other_geometry_is_no_area(geometry: object) -> None:
    assert area_from_geojson(geometry) is None


def test_distances_are_about_right() -> None:
    austin, dallas = Point(30.2672, -97.7431), Point(32.7767, -96.7970)

    assert metres_between(austin, dallas) == pytest.approx(293_000, rel=0.01)


def test_cells_outside_the_area_are_not_visited() -> None:
    area = Circle(Point(30.0, -97.0), 1000)
    root = Box(29.0, -98.0, 31.0, -96.0)

    assert len(quarters(area, root, "")) == 4
    assert len(quarters(area, root, "0")) == 1


def test_a_world_wide_area_begins_with_parts_no_wider_than_allowed() -> None:
    world = Box(-60, -180, 70, 180)

    cells = first_cells(world, world)

    assert cells == ["0", "1", "2", "3"]
    assert all(box_of(world, cell).width <= 180 for cell in cells)


def test_the_floor_stops_the_splitting() -> None:
    root = Box(30.0, -97.0, 30.01, -96.99)

    assert may_split(root, "", 150)
    assert not may_split(root, "000", 150)


def square(south: float, west: float, side: float) -> tuple[Point, ...]:
    return (
        Point(south, west),
        Point(south, west + side),
        Point(south + side, west + side),
        Point(south + side, west),
    )
