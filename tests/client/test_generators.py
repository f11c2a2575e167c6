"""What the generators and checkers of others make of the API's description: all of it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts import page
from tests.api.gateway.document import an_app

SPECTRAL = "@stoplight/spectral-cli@6.16.3"
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("described") / "openapi.json"
    file.write_text(json.dumps(an_app().openapi()), encoding="utf-8")
    return file


def document(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=page.environment() | {"PATH": f"{BIN}:{page.environment()['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    return said


def test_a_python_client_lost_every_list(described: Path, tmp_path: Path) -> None:
    generator = BIN / "openapi-python-client"
    said = run(
        generator, "generate", "--path", described, "--output-path", "made",
        "--meta", "none", cwd=tmp_path,
    )  # fmt: skip

    made = {file.stem for file in (tmp_path / "made/api").rglob("*.py")}
    operations = {
        re.sub(r"\W", "_", operation["operationId"])
        for methods in document(described)["paths"].values()
        for operation in methods.values()
    }
    assert "will not be generated" not in said
    assert operations - made == set()
    models = (tmp_path / "made/models/__init__.py").read_text()
    assert "ListOutCompanyOut" in models


def test_every_schema_becomes_a_model(described: Path, tmp_path: Path) -> None:
    run(
        BIN / "datamodel-codegen", "--input", described, "--output", "models.py",
        "--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin",
        cwd=tmp_path,
    )  # fmt: skip

    made = (tmp_path / "models.py").read_text()
    schemas = document(described)["components"]["schemas"]
    names = {re.sub(r"_(\w?)", lambda m: m[1].upper(), name) for name in schemas}
    assert {name for name in names if f"class {name}(" not in made} == set()


def test_a_checker_of_descriptions_finds_nothing(
    described: Path, tmp_path: Path
) -> None:
    (tmp_path / "rules.yaml").write_text('extends: ["spectral:oas"]\n')

    said = run(
        *page.npm(), "exec", "--yes", f"--package={SPECTRAL}", "--",
        "spectral", "lint", described, "--ruleset", "rules.yaml",
        "--fail-severity", "hint", cwd=tmp_path,
    )  # fmt: skip

    assert "No results with a severity of 'hint' or higher found" in said
