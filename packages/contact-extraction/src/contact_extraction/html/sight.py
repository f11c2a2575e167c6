"""How surely a visitor sees what stands on a page, from 0 to 1."""

from typing import Final

SEEN: Final = 1.0
OPENED: Final = 0.9
"""In closed `details`: one click away, and nobody hides from people there."""
DOUBTED: Final = 0.6
"""In `noscript`, behind `aria-hidden`, for screen readers only, or fully transparent."""
FOLDED: Final = 0.75
"""In a hidden block as large as a tab: most of them are opened, and nobody sees which."""
LEAST_SEEN: Final = 0.8
"""Below it, nobody can be said to have seen a value."""
