"""Signatures: which process holds something, and whether it has certainly ended."""

import os
import subprocess
from collections.abc import Iterator
from uuid import UUID

import pytest

from curation_sdk import process
from curation_sdk.process import START_BITS, is_dead, sign, sign_for
from curation_sdk.reap import has_ended

ONE_TICK = 1 << process.RANDOM_BITS
ANOTHER_MACHINE = 1 << process.RANDOM_BITS + START_BITS + process.PROCESS_BITS


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as running:
        yield running
        running.kill()


def test_a_process_that_lives_is_not_dead(child: subprocess.Popen[bytes]) -> None:
    assert not is_dead(sign())
    assert not is_dead(sign_for(child.pid))


def test_a_killed_process_is_dead_even_if_nobody_asked_for_its_end(
    child: subprocess.Popen[bytes],
) -> None:
    signature = sign_for(child.pid)

    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    unasked = is_dead(signature)
    child.wait()

    assert (unasked, is_dead(signature)) == (True, True)


def test_the_number_of_a_dead_process_may_be_in_use_again() -> None:
    earlier = UUID(int=sign().int - ONE_TICK)

    assert is_dead(earlier)


def test_of_other_machines_a_signature_says_nothing(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = sign_for(child.pid)
    child.kill()
    child.wait()

    assert not is_dead(UUID(int=signature.int ^ ANOTHER_MACHINE))
    monkeypatch.setattr(process, "this_machine", lambda: None)
    assert not is_dead(signature)
    assert not is_dead(sign())


def test_no_two_signatures_are_the_same() -> None:
    assert len({sign() for _ in range(20)}) == 20


@pytest.mark.parametrize("worker", ["", "the dead", "host-1234-9f3e21ab", "-"])
def test_a_worker_without_a_signature_is_never_known_to_be_dead(worker: str) -> None:
    assert not has_ended(worker)
