"""The application of the records' tests, for people's data."""

from tests.api.records.conftest import clean, desk, module_database

__all__ = ["clean", "desk", "module_database"]
