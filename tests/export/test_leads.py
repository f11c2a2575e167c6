"""Companies as a CRM reads them: a name stands beside the address of nobody else."""

from typing import Any

import pytest

from scrapersky.export.preset import preset_named, take

ROW: dict[str, Any] = {
    "email": "vincent@heron.example",
    "email_person": "Vincent Bellanger",
    "email_person_role": "Réceptionniste",
    "decision_maker": "Étienne Ollivier",
    "decision_maker_role": "Gérant",
    "decision_maker_email": None,
}


def written(preset: str, heading: str, **other: str | None) -> object:
    source = preset_named(preset, "companies")[heading]
    return take(source, "companies")({**ROW, **other})


@pytest.mark.parametrize(
    ("preset", "name", "role", "decides"),
    [
        ("hubspot", "Last Name", "Job Title", "Decision Maker"),
        ("salesforce", "Last Name", "Title", "Decision Maker"),
        (
            "pipedrive", "Person - Name", "Person - Job title",
            "Organization - Decision maker",
        ),
    ],
)  # fmt: skip
def test_a_crm_got_the_decision_makers_name_with_somebody_elses_address(
    preset: str, name: str, role: str, decides: str
) -> None:
    assert str(written(preset, name)).endswith("Bellanger")
    assert written(preset, role) == "Réceptionniste"
    assert written(preset, decides) == "Étienne Ollivier, Gérant"


@pytest.mark.parametrize(
    "own",
    [
        {"email_person": None, "email_person_role": None, "email": "info@heron.example"},
        {"email_person": "Étienne Ollivier", "email": "etienne@heron.example"},
        {"email_person": "E. Ollivier", "decision_maker_email": ROW["email"]},
    ],
)  # fmt: skip
def test_a_shared_address_and_their_own_are_the_decision_makers(
    own: dict[str, str | None],
) -> None:
    assert written("pipedrive", "Person - Name", **own) == "Étienne Ollivier"
    assert written("pipedrive", "Person - Job title", **own) == "Gérant"
    assert written("pipedrive", "Organization - Decision maker", **own) is None
