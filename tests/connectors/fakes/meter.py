"""What a vendor counts before it refuses: a window that rolls, or a day that ends."""

from collections import deque

from tests.connectors.fakes.clock import StillClock


class Meter:
    """So many units within so many seconds, counted back from any moment."""

    def __init__(self, clock: StillClock, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._clock = clock
        self._spent: deque[tuple[float, int]] = deque()
        self._used = 0

    @property
    def used(self) -> int:
        edge = self._clock.seconds - self.seconds
        while self._spent and self._spent[0][0] <= edge:
            self._used -= self._spent.popleft()[1]
        return self._used

    @property
    def left(self) -> int:
        return max(self.most - self.used, 0)

    @property
    def reset(self) -> float:
        """Seconds until something of what was spent is given back."""
        if not self.used:
            return 0.0
        return self._spent[0][0] + self.seconds - self._clock.seconds

    def take(self, units: int = 1) -> bool:
        """Spend, unless it is more than is left."""
        if self.used + units > self.most:
            return False
        self._spent.append((self._clock.seconds, units))
        self._used += units
        return True


class DayMeter:
    """So many units a day; what is left is lost at midnight."""

    def __init__(self, clock: StillClock, most: int) -> None:
        self.most = most
        self._clock = clock
        self._day = clock().date()
        self._used = 0

    @property
    def used(self) -> int:
        if (today := self._clock().date()) != self._day:
            self._day, self._used = today, 0
        return self._used

    @property
    def left(self) -> int:
        return max(self.most - self.used, 0)

    @property
    def reset(self) -> float:
        return self._clock.until_midnight()

    def take(self, units: int = 1) -> bool:
        """Spend, unless it is more than is left; others of the account may go below it."""
        if self.used + units > self.most:
            return False
        self._used += units
        return True
