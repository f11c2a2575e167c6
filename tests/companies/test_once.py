"""A property that is worked out once."""

from dataclasses import dataclass, field

from scrapersky.companies.evidence import once


@dataclass(frozen=True)
class Sum:
    parts: tuple[int, ...]
    asked: list[str] = field(default_factory=list)

    @once
    def total(self) -> int:
        """Add the parts."""
        self.asked.append("total")
        return sum(self.parts)


def test_a_property_is_worked_out_when_it_is_first_asked_for() -> None:
    one, other = Sum((1, 2)), Sum((3,))

    assert one.asked == []
    assert (one.total, one.total, other.total) == (3, 3, 3)
    assert one.asked == ["total"]
