"""How visits to pages end, and what may be kept of them."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from contact_extraction.contact_card import ContactCard
from contact_extraction.person_card import PersonCard
from contact_extraction.urls import parse_url
from scrapersky.crawler import FetchResult
from scrapersky.pipeline.page_findings import PageFindings, Row, facts_of, read_facts
from scrapersky.pipeline.site import SiteOwner
from scrapersky.pipeline.snapshot import SnapshotDraft
from scrapersky.privacy.card import allowed_cards, allowed_people
from scrapersky.privacy.suppression_filter import SuppressionFilter
from scrapersky.records import Page
from scrapersky.revisits.visit import Silence


@dataclass(frozen=True, slots=True)
class UnreadPage:
    """A page could not be had: its site goes on without it."""

    site: SiteOwner
    silence: Silence | None = None
    """Why, where a website that was read before does not answer any more."""


@dataclass(frozen=True, slots=True)
class UnchangedPage:
    """A page was looked at and is as it was."""

    page: Page
    site: SiteOwner


@dataclass(frozen=True, slots=True)
class GonePage:
    """A link leads to nothing."""

    page: Page
    site: SiteOwner
    status: int


@dataclass(frozen=True, slots=True)
class PageVisit:
    """A page was read."""

    page: Page
    site: SiteOwner
    fetched: FetchResult
    found: PageFindings
    seen_at: datetime
    draft: SnapshotDraft
    facts: Row = field(init=False)

    def __post_init__(self) -> None:
        facts = facts_of(self.fetched, self.found)
        facts |= read_facts(self.found, self.fetched.url.host)
        object.__setattr__(self, "facts", facts)

    @property
    def host(self) -> str:
        """The host that the page was listed under."""
        return parse_url(self.page.url).host

    @property
    def robots(self) -> str:
        """The rule of robots.txt by which the page was read."""
        return self.fetched.robots.rule or "allowed"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it was another site's page in the end."""
        return self.fetched.url.site != parse_url(self.page.url).site


@dataclass(frozen=True, slots=True)
class PageOfSite:
    """What of a page's row is needed to store what it says."""

    id: UUID
    tenant_id: UUID
    domain_id: UUID
    url: str


@dataclass(frozen=True, slots=True)
class RereadPage:
    """A page was read again from where it is kept: nothing was fetched."""

    page: PageOfSite
    site: SiteOwner
    found: PageFindings
    seen_at: datetime
    draft: SnapshotDraft
    robots: str
    facts: Row = field(init=False)

    def __post_init__(self) -> None:
        facts = read_facts(self.found, parse_url(self.draft.url).host)
        object.__setattr__(self, "facts", facts)

    @property
    def host(self) -> str:
        """The host that the page was listed under."""
        return parse_url(self.page.url).host


ReadVisit = PageVisit | RereadPage
AnyVisit = UnreadPage | UnchangedPage | GonePage | PageVisit | RereadPage


@dataclass(frozen=True, slots=True)
class AllowedFindings:
    """What may be kept of a visit."""

    visit: ReadVisit
    is_hidden: bool
    """Whether the whole site is on the suppression list."""
    cards: list[ContactCard]
    people: list[PersonCard]

    @classmethod
    def of(cls, visit: ReadVisit, guard: SuppressionFilter) -> "AllowedFindings":
        """Leave out what is on the list."""
        host = visit.host
        if guard.hides_domain(host):
            return cls(visit, True, [], [])  # noqa: FBT003 - the field says it
        return cls(
            visit,
            False,  # noqa: FBT003 - the field says it
            allowed_cards(visit.found.cards, guard, host),
            allowed_people(visit.found.people, guard, host),
        )

    def is_whole(self, guard: SuppressionFilter) -> bool:
        """Say whether nothing of the page had to be left out."""
        if not guard:
            return True
        found = self.visit.found
        return not self.is_hidden and (self.cards, self.people, self.visit.facts) == (
            found.cards,
            found.people,
            guard.clean(self.visit.facts),
        )
