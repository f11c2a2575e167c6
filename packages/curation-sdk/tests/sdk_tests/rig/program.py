"""Programs of the operating system that some proofs need."""

import os
import shutil
from pathlib import Path

import pytest


def needed(program: str, *, package: str) -> str:
    """Return the program's path; without it fail in CI and skip on a laptop."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        _absent(program, package)
    return str(found)


def faketime_library() -> Path | None:
    """Return libfaketime's shared object, or None where it is not installed."""
    for pattern in ("*/faketime/libfaketime.so.1", "faketime/libfaketime.so.1"):
        for found in Path("/usr/lib").glob(pattern):
            return found
    return None


def _absent(program: str, package: str) -> None:
    said = f"{program} is not installed (apt-get install {package})"
    if os.environ.get("CI"):
        pytest.fail(said)
    pytest.skip(said)
