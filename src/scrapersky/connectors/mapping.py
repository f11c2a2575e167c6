"""Which value of ours goes into which field of theirs, and who wins where both have one.

Unless a person says otherwise only empty fields are filled, and fields that hold what we wrote
last. What somebody typed there is left, and shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from scrapersky.connectors.protocol import (
    OWN_ID,
    ConnectorInfo,
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmValue,
    CrmValues,
)
from scrapersky.connectors.values import fitted, normalised

OURS: Final = {
    CrmKind.COMPANY: (
        "name", "domain", "website", "phone", "street", "city", "region", "postal_code",
        "country", "categories", "rating", "lead_status", "owner",
    ),
    CrmKind.PERSON: (
        "name", "first_name", "last_name", "email", "phone", "role", "deliverability",
    ),
}  # fmt: skip
"""The values of ours that can be mapped."""
ORIGINS: Final = {
    "evidence_url": "Evidence (ScraperSky)",
    "verified_on": "Verified on (ScraperSky)",
    "source": "Source (ScraperSky)",
}
"""What always goes along, into fields of our own."""
PREFIX: Final = "scrapersky_"
CHOOSING: Final = frozenset({CrmFieldType.CHOICE, CrmFieldType.CHOICES})


class ConflictRule(StrEnum):
    """Who wins where a field of theirs holds another value than ours."""

    FILL = "fill"
    """Only empty fields are written, and those that hold what we wrote last."""
    OURS = "ours"
    THEIRS = "theirs"
    """Written once, if it is empty."""
    ASK = "ask"
    """As FILL, but the difference waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMapping:
    """Where one value of ours goes."""

    ours: str
    theirs: str
    rule: ConflictRule = ConflictRule.FILL
    choices: Mapping[str, str] = field(default_factory=dict)
    """For a field of theirs with options: our value, and theirs."""


@dataclass(frozen=True, slots=True)
class MappedLead:
    """What of a lead fits into their fields, and what does not."""

    values: dict[str, CrmValue]
    unmatched: dict[str, str]
    """By our names: values that do not fit their field: no option stands for them, or they are of
    another type."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What of a record is to be written, and what was left as it is there."""

    changes: dict[str, CrmValue]
    differs: dict[str, dict[str, Any]]


def own_fields() -> list[CrmField]:
    """Return the fields of ours that every account gets, the own id first."""
    texts = [CrmField(name=OWN_ID, label="ScraperSky ID", is_custom=True)]
    return texts + [
        CrmField(name=PREFIX + name, label=label, is_custom=True)
        for name, label in ORIGINS.items()
    ]


def mappings(
    info: ConnectorInfo,
    kind: CrmKind,
    given: Mapping[str, Any],
    own: Mapping[str, Mapping[str, str]],
) -> list[FieldMapping]:
    """Return the mapping of a kind: the connector's own, changed by what a person said."""
    named = {
        ours: FieldMapping(ours=ours, theirs=theirs)
        for ours, theirs in info.mapping.get(kind, {}).items()
    }
    for ours, said in given.get(kind.value, {}).items():
        if said is None or not said.get("field"):
            named.pop(ours, None)
            continue
        named[ours] = FieldMapping(
            ours=ours,
            theirs=said["field"],
            rule=ConflictRule(said.get("rule", ConflictRule.FILL)),
            choices=said.get("choices", {}),
        )
    for ours in ORIGINS:
        if theirs := own.get(kind.value, {}).get(PREFIX + ours):
            named[ours] = FieldMapping(ours=ours, theirs=theirs, rule=ConflictRule.OURS)
    return list(named.values())


def mapped(
    ours: Mapping[str, CrmValue],
    rules: list[FieldMapping],
    schema: Mapping[str, CrmField],
) -> MappedLead:
    """Put our values into their fields; what is not known or not writable is left out."""
    values: dict[str, CrmValue] = {}
    unmatched: dict[str, str] = {}
    for rule in rules:
        target, value = schema.get(rule.theirs), ours.get(rule.ours)
        if target is None or target.is_read_only or value in (None, "", ()):
            continue
        if target.type in CHOOSING:
            chosen = chosen_options(value, rule, target)
            if chosen is None:
                unmatched[rule.ours] = value_text(value)
                continue
            value = chosen
        elif isinstance(value, tuple):
            value = ", ".join(value)
        fitting = fitted(value, target)
        if fitting is None:
            unmatched[rule.ours] = value_text(value)
            continue
        values[rule.theirs] = fitting
    return MappedLead(values, unmatched)


def chosen_options(value: CrmValue, rule: FieldMapping, target: CrmField) -> CrmValue:
    """Return the options of their field that stand for a value of ours; None: there are none."""
    known = {option.value: option.value for option in target.options}
    known |= {option.label.casefold(): option.value for option in target.options}
    parts = value if isinstance(value, tuple) else (value_text(value),)
    found = []
    for part in parts:
        wanted = rule.choices.get(part, part)
        option = known.get(wanted) or known.get(wanted.casefold())
        if option is not None:
            found.append(option)
    if not found:
        return None
    return found[0] if target.type is CrmFieldType.CHOICE else tuple(sorted({*found}))


def value_text(value: CrmValue) -> str:
    """Return a value as people read it."""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def merged(
    ours: CrmValues,
    snapshot: CrmValues,
    theirs: CrmValues,
    rules: list[FieldMapping],
    schema: Mapping[str, CrmField],
) -> MergeResult:
    """Compare what we have, what we wrote last and what is there now, field by field."""
    changes: dict[str, CrmValue] = {}
    differs: dict[str, dict[str, Any]] = {}
    for name, rule in conflict_rules(rules):
        target = schema.get(name)
        wanted = normalised(ours.get(name), target)
        last, now = (normalised(side.get(name), target) for side in (snapshot, theirs))
        if wanted is None or wanted == now:
            continue
        if may_write(rule, last, now):
            changes[name] = ours[name]
        else:
            differs[name] = {"ours": ours[name], "theirs": theirs.get(name)}
            if rule is ConflictRule.ASK:
                differs[name]["asks"] = True
    return MergeResult(changes, differs)


def may_write(rule: ConflictRule, last: CrmValue, now: CrmValue) -> bool:
    """Say whether a field may be written whose value is not ours."""
    if rule is ConflictRule.OURS:
        return True
    if rule is ConflictRule.THEIRS:
        return now is None and last is None
    # It holds what we wrote, or it is empty and nobody has emptied it.
    return now == last


def conflict_rules(rules: list[FieldMapping]) -> Iterator[tuple[str, ConflictRule]]:
    """Yield each field of theirs once, with its rule."""
    yield from {rule.theirs: rule.rule for rule in rules}.items()
