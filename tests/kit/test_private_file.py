"""Files of ours are ours alone, and no link leads us to others."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from scrapersky.kit.private_file import (
    appearing_whole,
    make_private_directory,
    open_lock,
    open_log,
    why_untrusted,
)

ME = (os.geteuid(), os.getegid())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("precious")
    path.chmod(0o644)
    return path


def test_a_lock_could_be_held_by_any_user_of_the_machine(tmp_path: Path) -> None:
    old = tmp_path / "old.lock"
    old.touch(mode=0o644)

    for path in (old, tmp_path / "new.lock"):
        with open_lock(path) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

        assert mode_of(path) == 0o600


@pytest.mark.parametrize("open_it", [open_lock, open_log])
def test_a_link_led_to_a_file_of_somebody_else(
    tmp_path: Path, victim: Path, open_it: object
) -> None:
    link = tmp_path / "up.lock"
    link.symlink_to(victim)

    with pytest.raises(OSError, match=r"up\.lock"):
        open_it(link)  # type: ignore[operator]

    assert (victim.read_text(), mode_of(victim)) == ("precious", 0o644)


def test_a_pipe_is_not_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "up.lock"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="plain file"):
        open_lock(pipe)


def test_an_export_was_written_through_a_link(tmp_path: Path, victim: Path) -> None:
    out = tmp_path / "contacts.csv"
    (tmp_path / ".contacts.csv.unfinished").symlink_to(victim)
    out.symlink_to(victim)

    with appearing_whole(out) as file:
        file.write(b"people")
        names = {path.name for path in tmp_path.iterdir()}

    assert (out.read_text(), mode_of(out), out.is_symlink()) == ("people", 0o600, False)
    assert victim.read_text() == "precious"
    assert len(names - {"contacts.csv", ".contacts.csv.unfinished", "victim"}) == 1


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with appearing_whole(tmp_path / "a.csv") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_temporary_directory_gave_a_directory_away(
    tmp_path: Path,
) -> None:
    theirs, link = tmp_path / "etc", tmp_path / "scrapersky-1"
    theirs.mkdir(mode=0o755)
    link.symlink_to(theirs)

    assert not make_private_directory(link, *ME)
    assert mode_of(theirs) == 0o755


def test_a_directory_of_ours_is_closed_to_others(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)

    assert make_private_directory(open_to_all, *ME)
    assert make_private_directory(tmp_path / "new", *ME)
    assert {mode_of(open_to_all), mode_of(tmp_path / "new")} == {0o700}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 12_345, 12_345)

    assert not make_private_directory(theirs, *ME)


def written(*, uid: int, gid: int, mode: int) -> os.stat_result:
    return os.stat_result((mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("uid", "gid", "mode", "why"),
    [
        (4711, 4711, 0o100600, None),
        (4711, 4711, 0o100644, None),
        (0, 0, 0o100644, None),
        (0, 0, 0o100664, None),
        (0, 0, 0o120777, None),
        (4712, 4712, 0o100600, "belongs to user 4712"),
        (4712, 4712, 0o120777, "belongs to user 4712"),
        (4711, 4711, 0o100602, "can be written by everyone"),
        (4711, 4713, 0o100660, "can be written by the group 4713"),
        (4711, 4711, 0o100660, "can be written by the group 4711"),
        (0, 4713, 0o100664, "can be written by the group 4713"),
    ],
)
def test_a_file_is_trusted_that_only_its_reader_and_root_may_write(
    uid: int, gid: int, mode: int, why: str | None
) -> None:
    found = written(uid=uid, gid=gid, mode=mode)

    assert why_untrusted(found, 4711) == why
