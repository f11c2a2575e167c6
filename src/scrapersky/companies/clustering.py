"""Decide which records become one company, one record after the other."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from uuid import UUID

from scrapersky.companies.evidence import Facts
from scrapersky.companies.score import (
    MatchScore,
    NameLevel,
    PlaceLevel,
    compare,
    contradict,
    level_of_names,
    place_level,
)
from scrapersky.kit.time_ordered import time_ordered_uuid
from scrapersky.records.status import PairVerdict

OTHERS_OF_A_BRAND: Final = 2
"""So many elsewhere, or of other names, make a website that of a brand or of a host."""
OTHERS_OF_A_SWITCHBOARD: Final = 2
MOST_COMPARED: Final = 12
"""Records of one company that another is compared with: they agree with each other already."""
MOST_ASKED: Final = 3
"""Questions to a person about one record."""
A_PERSON: Final = MatchScore(1.0, ("a person says that they are one company",))

Pair = tuple[UUID, UUID]


def in_order(one: UUID, other: UUID) -> Pair:
    """Return a pair in the order in which it is kept."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class Assignment:
    """To which company a record goes, how surely, and why; no score: it begins it."""

    company_id: UUID
    score: float | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """Two companies that one record shows to be one."""

    one: UUID
    other: UUID
    score: MatchScore


@dataclass(slots=True)
class Clusters:
    """The companies of some records, and what is decided about them."""

    facts: Mapping[UUID, Facts]
    others: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)
    """More records of some companies: nothing is known of them but a person's word."""
    verdicts: Mapping[Pair, PairVerdict] = field(default_factory=dict)
    worked: frozenset[UUID] = frozenset()
    """Companies that people have written about."""
    assigned: dict[UUID, Assignment] = field(default_factory=dict)
    started: list[UUID] = field(default_factory=list)
    unions: list[Union] = field(default_factory=list)
    questions: dict[Pair, MatchScore] = field(default_factory=dict)
    company_of: dict[UUID, UUID] = field(default_factory=dict)
    members_of: dict[UUID, list[UUID]] = field(default_factory=dict)
    asked: Counter[UUID] = field(default_factory=Counter)
    """Questions to a person about each record."""
    comparisons: int = 0
    """Pairs of records that were compared: what the work is measured by."""

    def __post_init__(self) -> None:
        for one in self.facts.values():
            if one.company_id is not None:
                self._put(one.id, one.company_id)
        for company, members in self.others.items():
            for member_id in members:
                if member_id not in self.facts:
                    self._put(member_id, company)

    def place(self, member_id: UUID, candidates: Iterable[UUID]) -> None:
        """Find the company of one record among those of its candidates."""
        one = self.facts[member_id]
        scores = self._scores(one, candidates)
        best: dict[UUID, MatchScore] = {}
        may_join: dict[UUID, bool] = {}
        for other, score in sorted(scores.items(), key=lambda pair: -pair[1].share):
            company = self.company_of[other]
            if score.links and company not in may_join:
                may_join[company] = self._may_join(member_id, company)
            if not score.links or not may_join[company]:
                self._ask(member_id, other, score)
                continue
            best.setdefault(company, score)
        self._settle(member_id, best)

    def _settle(self, member_id: UUID, best: Mapping[UUID, MatchScore]) -> None:
        others = [*best.items()]
        if member_id not in self.company_of:
            if not others:
                self._start(member_id)
                return
            company, score = others.pop(0)
            self._put(member_id, company)
            self.assigned[member_id] = Assignment(company, score.share, score.reasons)
        mine = self.company_of[member_id]
        for company, score in others:
            is_both_worked = {mine, company} <= self.worked
            if is_both_worked or not self._may_unite(mine, company):
                other = min(each.id for each in self._known(company))
                self._ask(member_id, other, score)
                continue
            self.unions.append(Union(mine, company, score))
            for moved in self.members_of.pop(company):
                self._put(moved, mine)

    def _start(self, member_id: UUID) -> None:
        company = time_ordered_uuid()
        self.started.append(company)
        self._put(member_id, company)
        self.assigned[member_id] = Assignment(company)

    def _put(self, member_id: UUID, company: UUID) -> None:
        self.company_of[member_id] = company
        self.members_of.setdefault(company, []).append(member_id)

    def _known(self, company: UUID) -> list[Facts]:
        """Return the first records of a company of which more than their key is known."""
        known = (
            self.facts[each] for each in self.members_of[company] if each in self.facts
        )
        return [*islice(known, MOST_COMPARED)]

    def _scores(self, one: Facts, candidates: Iterable[UUID]) -> dict[UUID, MatchScore]:
        """Compare a record with some of each company but its own."""
        others = [self.facts[each] for each in candidates if each in self.facts]
        mine, compared = self.company_of.get(one.id), Counter[UUID]()
        strangers: list[Facts] = []
        for other in others:
            company = self.company_of.get(other.id)
            if company is None or company == mine:
                continue
            compared[company] += 1
            if compared[company] <= MOST_COMPARED:
                strangers.append(other)
        self.comparisons += len(strangers)
        is_brand = is_shared_domain(one, others)
        is_switchboard = is_shared_phone(one, others)
        return {
            other.id: self._said(one, other)
            or compare(one, other, is_switchboard=is_switchboard, is_brand=is_brand)
            for other in strangers
        }

    def _said(self, one: Facts, other: Facts) -> MatchScore | None:
        verdict = self.verdicts.get(in_order(one.id, other.id))
        if verdict is PairVerdict.SAME:
            return A_PERSON
        if verdict is PairVerdict.DIFFERENT:
            return MatchScore(0.0, ("a person says that they are two",), is_apart=True)
        return None

    def _may_join(self, member_id: UUID, company: UUID) -> bool:
        """Say whether no record of a company contradicts one, whatever another says."""
        one, members = self.facts[member_id], self.members_of[company]
        pairs = (in_order(member_id, each) for each in members if self.verdicts)
        said = {self.verdicts.get(pair) for pair in pairs}
        if PairVerdict.DIFFERENT in said:
            return False
        if PairVerdict.SAME in said:
            return True
        known = self._known(company)
        moved = {other.moved_to for other in known} | {one.moved_to}
        if moved & {one.id, *members}:
            return True
        self.comparisons += len(known)
        return not any(contradict(one, other) for other in known)

    def _may_unite(self, one: UUID, other: UUID) -> bool:
        """Say whether no record of one company contradicts the other, nor does a person."""
        said = (
            self.verdicts.get(in_order(each, beside))
            for each in self.members_of[one]
            for beside in self.members_of[other]
            if self.verdicts
        )
        if PairVerdict.DIFFERENT in said:
            return False
        return all(self._may_join(each.id, other) for each in self._known(one))

    def _ask(self, member_id: UUID, other: UUID, score: MatchScore) -> None:
        pair = in_order(member_id, other)
        is_open = score.asks or score.links
        is_settled = self._is_brand_site(*pair) or self._is_answered(member_id, other)
        if is_settled or not is_open:
            return
        if self.asked[member_id] < MOST_ASKED:
            self.asked.update(() if pair in self.questions else pair)
            self.questions[pair] = score

    def _is_brand_site(self, one_id: UUID, other_id: UUID) -> bool:
        """Say whether one is the website of both: of a brand, which is not a question."""
        one, other = self.facts[one_id], self.facts[other_id]
        return (one.is_domain or other.is_domain) and one.domain == other.domain

    def _is_answered(self, one_id: UUID, other_id: UUID) -> bool:
        """Say whether a person has spoken about one and somebody of the other's company."""
        beside = self.members_of[self.company_of[other_id]] if self.verdicts else ()
        return any(in_order(one_id, each) in self.verdicts for each in beside)


def is_shared_domain(one: Facts, others: Iterable[Facts]) -> bool:
    """Say whether a website is that of many: a brand's, or a host nobody listed."""
    strangers = (
        other
        for other in others
        if one.domain
        and other.domain == one.domain
        and not other.is_domain
        and (is_far(one, other) or level_of_names(one, other) is NameLevel.DIFFERENT)
    )
    return len([*islice(strangers, OTHERS_OF_A_BRAND)]) == OTHERS_OF_A_BRAND


def is_far(one: Facts, other: Facts) -> bool:
    """Say whether a record with a place of its own is far from another one."""
    return not one.is_domain and place_level(one, other) is PlaceLevel.FAR


def is_shared_phone(one: Facts, others: Iterable[Facts]) -> bool:
    """Say whether a phone number is that of many companies."""
    names: set[str] = set()
    for other in others:
        # What a website claims makes nobody's number that of many.
        if one.phone and other.phone == one.phone and not other.is_domain:
            level = level_of_names(one, other)
            if level in {NameLevel.DIFFERENT, NameLevel.PARTIAL}:
                names.add(other.read_name.key)
    return len(names) >= OTHERS_OF_A_SWITCHBOARD
