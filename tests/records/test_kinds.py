"""Every kind of record declares itself whole: what it names is there."""

import re
from pathlib import Path

import pytest

from scrapersky.api.records.kinds import described
from scrapersky.export.contacts import columns_of
from scrapersky.records import CURATED, KINDS, Kind
from scrapersky.stages import STAGES

ICONS = Path(__file__).parents[2] / "frontend" / "src" / "kit" / "Icon.tsx"
LAPTOP = (1366 - 232 - 2 * 32 - 2) / 16
"""The room for a list on a small laptop, in the height of a letter."""

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
each_starting = pytest.mark.parametrize(
    "kind",
    [kind for kind in CURATED.values() if kind.deciding.starts],
    ids=lambda kind: kind.name,
)
each_curated = pytest.mark.parametrize(
    "kind", CURATED.values(), ids=lambda kind: kind.name
)


@each_kind
def test_a_kind_names_only_fields_it_has(kind: Kind) -> None:
    columns = {column.field for column in kind.columns}
    beside = {name for c in kind.columns for name in (*c.instead, *c.under)}
    label = set(kind.label) if isinstance(kind.label, tuple) else set()
    known = {*kind.fields, *kind.extras}

    named = columns | beside | label | {*kind.under, *kind.facts}
    assert named <= known
    assert {*kind.facets} <= {*kind.fields}


@each_kind
def test_a_kind_is_related_to_kinds_that_are_there(kind: Kind) -> None:
    related = {relation.kind for relation in kind.related}

    assert related <= {*KINDS}
    for relation in kind.related:
        assert hasattr(KINDS[relation.kind].record, relation.theirs)
        assert relation.ours in kind.fields


@each_starting
def test_a_decision_starts_the_stage_that_claims_its_queue(kind: Kind) -> None:
    decision = kind.deciding
    assert decision.starts
    assert decision.queue
    stage = STAGES[decision.starts]

    assert stage.claims.key == decision.queue.column.key
    assert stage.model is kind.record
    assert decision.on in {choice.status for choice in decision.choices}


@each_curated
def test_the_usual_columns_of_a_kind_fit_a_small_laptop(kind: Kind) -> None:
    widths = [column.width for column in kind.columns if not column.is_hidden]

    assert 2.5 + sum(widths) <= LAPTOP


def test_no_key_means_two_things() -> None:
    screens = [kind.key for kind in CURATED.values() if kind.key]

    assert len(screens) == len({*screens} - {*"hsraxt"})
    for kind in CURATED.values():
        keys = [choice.key for choice in kind.deciding.choices]
        assert len(keys) == len({*keys})


def test_the_page_has_every_icon_that_a_kind_names() -> None:
    drawn = set(
        re.findall(r"^  (\w+):", ICONS.read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = {kind.icon for kind in KINDS.values()}
    named |= {choice.icon for k in CURATED.values() for choice in k.deciding.choices}

    assert named <= drawn


def test_the_page_is_told_every_kind_with_the_columns_of_its_file() -> None:
    reported = {kind.name: kind for kind in described()}

    assert [*reported] == [*KINDS]
    assert reported["contacts"].exported == [*columns_of(KINDS["contacts"])]
    assert reported["places"].decision is not None
    assert reported["searches"].decision is None
    assert {column.show for column in reported["places"].columns} >= {"title", "status"}


SAME_IN_MEANING = ({"Selected", "Queued"}, {"Not a Fit", "Skipped"})
"""What is called otherwise in one list than in another, and is the same decision."""
KEYS_OF_LISTS = {*"aejkoux"}
"""What every list of the page does by a key: assign, export, move, open, undo, select."""


def test_w_n_and_a_decided_something_else_on_each_screen() -> None:
    meanings: dict[str, set[str]] = {}
    for kind in CURATED.values():
        for choice in kind.deciding.choices:
            meanings.setdefault(choice.key, set()).add(str(choice.status))

    for key, statuses in meanings.items():
        assert len(statuses) == 1 or statuses in SAME_IN_MEANING, (key, statuses)
    keys_of = {each: key for key, statuses in meanings.items() for each in statuses}
    assert len(keys_of) == sum(map(len, meanings.values()))  # and one key for each
    assert not meanings.keys() & KEYS_OF_LISTS
