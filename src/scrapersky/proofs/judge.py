"""Judge the values of one exported row against its pages and its record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contact_extraction.mailbox import spells_alone
from contact_extraction.text import name_key
from scrapersky.export.contacts import columns_of
from scrapersky.export.proof import PROOF
from scrapersky.proofs.known_record import KnownRecord, is_named, one_spaced
from scrapersky.proofs.outcome import Judgement, ProofVerdict
from scrapersky.proofs.reading import PageValues, joined
from scrapersky.records import KINDS

Row = Mapping[str, str]
PHONE_FIELDS: Final = ("phone", "mobile", "fax")
OURS: Final = frozenset(
    {
        "id", "created_at", "updated_at", "validation", "confidence", "status", "tags",
        "notes", "searches", "gone_at", "lead_status", "owner", "owner_id", "follow_up_on",
        "worked_at",
        "email_kind", "email_reason", "decision_maker_reason", "deliverability", "own",
        "records_count", "contacts_count", "first_seen_at", "seen_at", "email_contact_id",
        "decision_maker_id", "domain_id", "name_order", "city_order", PROOF,
    }
)  # fmt: skip
"""Columns that are made here, of no page and no source."""
OF_SOURCE: Final = frozenset(
    {
        "business", "domain", "categories", "rating", "reviews_count", "business_phone",
        "website", "latitude", "longitude", "business_status", "region",
    }
)  # fmt: skip
ADDRESS: Final = frozenset({"street", "city", "state", "postal_code", "country"})


@dataclass(frozen=True, slots=True)
class RowJudge:
    """Knows one record, the pages that its row names, and what could not be read of them."""

    row: Row
    kind: str
    record: KnownRecord
    pages: Sequence[PageValues]
    missing: str | None
    """Why some of the pages cannot be read; None if all can be."""
    is_read_alike: bool
    """Whether the readers that read its pages are the present ones."""
    exported_at: datetime | None = None

    def judgements(self) -> Iterator[tuple[str, str, Judgement]]:
        """Yield each value of the row, by column, with what is known of it."""
        known = columns_of(KINDS[self.kind])
        for column, value in self.row.items():
            if value and column not in known:
                yield column, value, Judgement(ProofVerdict.NO_COLUMN)
            elif value and column == "id" and value != str(self.record.id):
                yield column, value, self.not_the_record(str(self.record.id))
            elif value and column not in OURS:
                for part in parts_of(column, value):
                    yield column, part, self.judge(column, part)
            elif value and column != PROOF:
                yield (
                    column,
                    value,
                    self.record.judge_recorded(column, value, self.exported_at),
                )

    def judge(self, column: str, value: str) -> Judgement:
        """Judge one value."""
        if column in OF_SOURCE or (self.kind == "companies" and column == "name"):
            return self.of_source(column, value)
        if column in ADDRESS:
            return self.of_address(column, value)
        if column in self.record.derived:
            return self.of_derived(column, value)
        if (follows := FOLLOWS.get(column)) is None:
            return Judgement(ProofVerdict.NOT_CHECKED)
        if one_spaced(value) in map(one_spaced, follows(self, value)):
            return Judgement(ProofVerdict.PAGE)
        said = self.record.judge_said(column, value) if column == "phone" else None
        return said or self.record.judge_written(value) or self.doubt(column, value)

    def of_source(self, column: str, value: str) -> Judgement:
        """Judge what is no page's to say."""
        said = self.record.judge_said(column, value) or self.record.judge_written(value)
        if said is not None:
            return said
        now = ", ".join(sorted(self.record.said.get(column, ()))[:3]) or "nothing"
        return self.not_the_record(now)

    def of_derived(self, column: str, value: str) -> Judgement:
        """Judge what several pages, or pages and a source, were found to say together."""
        if value in (derived := self.record.derived[column]):
            return Judgement(ProofVerdict.OURS)
        return self.not_the_record(", ".join(sorted(derived)[:3]) or "nothing")

    def not_the_record(self, now: str) -> Judgement:
        """Judge a value that the record does not have: perhaps it had, when it was exported."""
        if self.record.has_changed_since(self.exported_at):
            return Judgement(ProofVerdict.CHANGED_SINCE, f"it says {now}")
        return Judgement(ProofVerdict.NOT_THE_RECORD, f"it says {now}")

    def of_address(self, column: str, value: str) -> Judgement:
        """Judge a part of an address, which is the contact's own or the business's."""
        if value in joined(page.of_contact(self.key, column) for page in self.pages):
            return Judgement(ProofVerdict.PAGE)
        said = self.record.judge_said(column, value) or self.record.judge_written(value)
        if said is None and self.record.has_changed_since(self.exported_at):
            return self.not_the_record("another address")
        return said or self.doubt("address", value)

    def doubt(self, column: str, value: str) -> Judgement:
        """Judge a value that follows from no page that could be read."""
        if self.missing is not None:
            return Judgement(ProofVerdict.NOT_KEPT, self.missing)
        if not self.is_read_alike and self.was_read(column, value):
            return Judgement(ProofVerdict.OTHER_READER)
        return Judgement(ProofVerdict.CONTRADICTED)

    def was_read(self, column: str, value: str) -> bool:
        """Say whether older readers once found this, as the database says."""
        if column.startswith("decision_maker"):
            return is_named(self.record, self.row.get("decision_maker") or value)
        # The kind of an address is as well known as the address is.
        meant = self.key if column == "email_type" else value
        return any(meant == seen for _, seen in self.record.seen)

    @property
    def key(self) -> str:
        """What the row's contact is known by."""
        return self.row.get("email") or self.row.get("phone") or ""

    @property
    def is_its_own(self) -> bool:
        """Whether the row has the contact that its record has, or had."""
        seen = {value for name, value in self.record.seen if name in KNOWN_BY}
        return self.key == self.record.key or self.key in seen

    def field(self, name: str) -> set[str]:
        """Return what the pages say in a field of the row's contact."""
        if not self.is_its_own:
            return set()
        return joined(page.of_contact(self.key, name) for page in self.pages)

    def phones(self) -> set[str]:
        """Return the numbers that the pages give the contact; a company has all of them."""
        if self.kind == "companies":
            return joined(page.phones for page in self.pages)
        return joined(map(self.field, PHONE_FIELDS))

    def socials(self) -> set[str]:
        """Return the profiles that the pages link."""
        if not self.is_its_own:
            return set()
        cards = (p.cards.get(self.key, {}) for p in self.pages)
        return {url for card in cards for urls in card.values() for url in urls}

    def spelt(self, name: str, which: str) -> set[str]:
        """Return what pages say of somebody whose name the contact's address spells."""
        local = self.key.partition("@")[0]
        if not name or "@" not in self.key or not spells_alone(local, name):
            return set()
        return joined(page.of_person(name, which) for page in self.pages)

    def person(self, which: str, column: str = "decision_maker") -> set[str]:
        """Return what the pages say of the person whom a column names."""
        name = self.row.get(column) or ""
        return joined(page.of_person(name, which) for page in self.pages)


KNOWN_BY: Final = ("email", *PHONE_FIELDS)
"""Fields that a contact may be known by."""


def decision_maker(judge: RowJudge, name: str) -> set[str]:
    """Return the name if the pages name whom it means; spellings of a name differ."""
    return (
        {name}
        if name_key(name) in {name_key(n) for n in judge.person("name")}
        else set()
    )


def quoted(at: int) -> Callable[[RowJudge, str], set[str]]:
    """Return how methods, or snippets, of the pages' values are looked up."""
    return lambda judge, _: {quote[at] for page in judge.pages for quote in page.quotes}


FOLLOWS: Final[Mapping[str, Callable[[RowJudge, str], set[str]]]] = {
    "email": lambda judge, _: judge.field("email"),
    "email_type": lambda judge, _: judge.field("email_type"),
    "name": lambda judge, name: judge.field("name") | judge.spelt(name, "name"),
    "role": lambda judge, _: (
        judge.field("role") | judge.spelt(judge.row.get("name", ""), "role")
    ),
    "email_person": lambda judge, name: (
        judge.field("name")
        | judge.spelt(name, "name")
        | judge.person("name", "email_person")
    ),
    "email_person_role": lambda judge, _: (
        judge.field("role") | judge.person("role", "email_person")
    ),
    "phone": lambda judge, _: judge.phones(),
    "phones": lambda judge, _: judge.phones(),
    "social_links": lambda judge, _: judge.socials(),
    "decision_maker": decision_maker,
    "decision_maker_role": lambda judge, _: judge.person("role"),
    "decision_maker_email": lambda judge, _: judge.person("email"),
    "source_url": lambda judge, _: {page.url for page in judge.pages},
    "method": quoted(0),
    "snippet": quoted(1),
}
"""How what the pages say in a column is found."""


def parts_of(column: str, value: str) -> list[str]:
    """Return the single values of a cell."""
    return value.split() if column in {"phones", "social_links"} else [value]
