"""Packages of locks/deploy.txt, which only these tests need."""

import os
from importlib import import_module
from types import ModuleType

import pytest


def package(name: str) -> ModuleType:
    """Import one; without it fail in CI and skip elsewhere."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        said = f"{name} is not installed (uv pip install -r locks/deploy.txt)"
    if os.environ.get("CI"):
        pytest.fail(said)
    pytest.skip(said)
