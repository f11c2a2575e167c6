"""Draw the pipeline from its declarations: which stage feeds which, and every status."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from scrapersky.pipeline.declaration import AnyPipelineStage, Lane

WIDTH, HEIGHT = 264, 64
GAP, ROW = 50, 130
LEFT, TOP = 20, 44
STATUS_WIDTH, STATUS_HEIGHT = 110, 28
COLOURS = {"queued": "#dbeafe", "processing": "#fef3c7", "done": "#dcfce7"}
FAILED = "#fee2e2"
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1e293b}"
    ".small{font-size:11px;fill:#475569}.lane{font-weight:600;fill:#64748b}"
    "rect{stroke:#94a3b8}path{fill:none;stroke:#64748b;stroke-width:1.5}"
)
ARROW = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"'
    ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#64748b"/>'
    "</marker></defs>"
)


@dataclass(frozen=True, slots=True)
class Box:
    """Where a stage stands in the drawing."""

    x: int
    y: int

    @property
    def middle(self) -> int:
        """Return the height at which arrows leave and arrive."""
        return self.y + HEIGHT // 2

    @property
    def centre(self) -> int:
        """Return how far to the right its middle is."""
        return self.x + WIDTH // 2

    @property
    def entry(self) -> int:
        """Return where arrows from above arrive: clear of the lane's name."""
        return self.x + WIDTH - 50


def dependency_graph(stages: Sequence[AnyPipelineStage]) -> str:
    """Draw every stage in its lane, and an arrow to each stage that it feeds."""
    lanes = [lane for lane in Lane if any(one.lane is lane for one in stages)]
    rows = [[one for one in stages if one.lane is lane] for lane in lanes]
    boxes = {
        stage.name: Box(LEFT + column * (WIDTH + GAP), TOP + row * ROW)
        for row, group in enumerate(rows)
        for column, stage in enumerate(group)
    }
    parts = [
        text(LEFT, TOP + row * ROW - 14, lane, "lane") for row, lane in enumerate(lanes)
    ]
    for stage in stages:
        parts += [
            arrow(boxes[stage.name], boxes[fed]) for fed in stage.feeds if fed in boxes
        ]
        parts += stage_box(stage, boxes[stage.name])
    widest = max(len(group) for group in rows)
    return drawing(
        2 * LEFT + widest * (WIDTH + GAP) - GAP, TOP + len(rows) * ROW, parts
    )


def stage_box(stage: AnyPipelineStage, box: Box) -> list[str]:
    """Draw a stage: its title, what it does, and what it claims."""
    claims = f"{stage.model.__tablename__}.{stage.claims.key}"
    return [
        rectangle(box.x, box.y, WIDTH, HEIGHT, "#ffffff"),
        text(box.x + 12, box.y + 20, stage.title),
        text(box.x + 12, box.y + 38, stage.does, "small"),
        text(box.x + 12, box.y + 54, claims, "small"),
    ]


def arrow(start: Box, end: Box) -> str:
    """Draw an arrow: straight within a lane, around the corner to the next."""
    if start.y == end.y:
        return path(f"M{start.x + WIDTH} {start.middle}H{end.x}")
    between = (start.y + HEIGHT + end.y) // 2
    return path(f"M{start.centre} {start.y + HEIGHT}V{between}H{end.entry}V{end.y}")


def status_map(stages: Sequence[AnyPipelineStage]) -> str:
    """Draw the way of a row through the statuses of every stage."""
    step = STATUS_HEIGHT * 3
    parts: list[str] = []
    for number, stage in enumerate(stages):
        y = TOP + number * step
        claims = f"{stage.model.__tablename__}.{stage.claims.key}"
        parts += [
            text(LEFT, y - 8, stage.title, "lane"),
            text(LEFT, y + 14, claims, "small"),
        ]
        parts += statuses(stage, y)
    return drawing(
        LEFT + 250 + 3 * (STATUS_WIDTH + GAP), TOP + len(stages) * step, parts
    )


def statuses(stage: AnyPipelineStage, y: int) -> list[str]:
    """Draw queued, processing, done and failed of one stage."""
    x, parts = LEFT + 250, []
    middle = y + STATUS_HEIGHT // 2
    for role, colour in COLOURS.items():
        if role != "queued":
            parts.append(path(f"M{x - GAP} {middle}H{x}"))
        parts += status_box(x, y, getattr(stage, role), colour)
        x += STATUS_WIDTH + GAP
    last = x - STATUS_WIDTH - GAP
    below = y + STATUS_HEIGHT + 8
    turn = last - GAP // 2
    parts.append(path(f"M{last - GAP} {middle}H{turn}V{below + 14}H{last}"))
    return [*parts, *status_box(last, below, stage.failed, FAILED)]


def status_box(x: int, y: int, status: str, colour: str) -> list[str]:
    """Draw one status."""
    return [
        rectangle(x, y, STATUS_WIDTH, STATUS_HEIGHT, colour),
        text(x + 10, y + 19, status),
    ]


def rectangle(x: int, y: int, width: int, height: int, colour: str) -> str:
    """Draw a box."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{colour}"/>'


def text(x: int, y: int, words: str, kind: str = "") -> str:
    """Write words."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(words)}</text>'


def path(steps: str) -> str:
    """Draw a line that ends in an arrow."""
    return f'<path d="{steps}" marker-end="url(#tip)"/>'


def drawing(width: int, height: int, parts: Iterable[str]) -> str:
    """Put parts on a sheet."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" role="img">'
    )
    sheet = (
        f'<rect width="{width}" height="{height}" style="stroke:none" fill="#f8fafc"/>'
    )
    return "\n".join(
        [head, f"<style>{STYLE}</style>{ARROW}", sheet, *parts, "</svg>\n"]
    )
