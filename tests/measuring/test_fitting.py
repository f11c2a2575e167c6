from pathlib import Path

import pytest

from scripts import fit_people

SITES = Path(__file__).parent / "sites"


def test_the_weights_can_be_fitted_on_any_directory_of_annotated_sites(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fit_people", str(SITES)])

    fit_people.main()

    reported = capsys.readouterr().out
    assert "left out in turn, whole sites" in reported
    assert "confidence from" in reported
