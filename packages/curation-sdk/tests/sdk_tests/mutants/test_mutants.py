"""Tests of the tests: each broken engine is caught, by name, and by the machine."""

import inspect

import pytest

from sdk_tests.conftest import Database
from sdk_tests.faults import test_protocol
from sdk_tests.model.ledger import Ledger
from sdk_tests.model.test_machine import check_machine
from sdk_tests.mutants.mutant import MUTANTS

NAMED = sorted(MUTANTS)
ORDERED = sorted(name for name in MUTANTS if MUTANTS[name].caught_by_machine)


@pytest.mark.parametrize("name", NAMED)
async def test_a_broken_engine_fails_the_test_that_names_it(
    name: str, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = getattr(test_protocol, MUTANTS[name].caught_by)
    MUTANTS[name].apply(monkeypatch.setattr)
    ledger = await Ledger.open(empty_database.url, empty_database.dsn)
    needs_patch = "monkeypatch" in inspect.signature(history).parameters
    extra = {"monkeypatch": monkeypatch} if needs_patch else {}

    try:
        with pytest.raises((AssertionError, TimeoutError)):
            await history(ledger, **extra)
    finally:
        await ledger.close()


@pytest.mark.long
@pytest.mark.parametrize("name", ORDERED)
def test_the_machine_finds_a_broken_engine(
    name: str, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[name].apply(monkeypatch.setattr)

    with pytest.raises((AssertionError, ExceptionGroup)):
        check_machine(empty_database, examples=60, steps=30)
