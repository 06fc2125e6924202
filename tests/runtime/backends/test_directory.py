"""The directory backend keeps the promise, and what is its own."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from tests.runtime.backends.crash import crash_at_every_step
from tests.support.as_root import as_root
from tests.support.backend_contract import OTHER_RUN, REQUEST, Contract, state_of

BIG = REQUEST._replace(name="pbbfiller", capacity=1000 * MIB, uuid="filler")


class DirectoryBench:
    """A folder with a quota of 1 GiB, and another user of it."""

    def __init__(self, root: Path, **settings: str) -> None:
        self.root = root
        self.settings = {"path": str(root), "quota": "1GiB", **settings}
        self.backend = FolderBackend(self.settings)
        self.other = FolderBackend({**self.settings, "owner": "otheruser"})

    def occupy(self, name: str) -> str:
        self.other.create(REQUEST._replace(name=name))
        return "otheruser"

    def fill(self) -> None:
        self.other.create(BIG)

    def free(self) -> None:
        self.other.delete(BIG)

    def go_down(self) -> None:
        self.root.rename(self.root.with_name("away"))
        self.root.symlink_to("nowhere")

    def environ(self, request: Request) -> Mapping[str, str]:
        return {}

    def folder(self) -> Path:
        return self.root / REQUEST.name


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[DirectoryBench]:
    (tmp_path / "tier").mkdir()
    yield DirectoryBench(tmp_path / "tier")


class TestDirectory(Contract):
    """The contract suite."""


def made(bench: DirectoryBench) -> Path:
    bench.backend.create(REQUEST)
    return bench.folder()


def test_only_its_owner_can_look_into_it(bench: DirectoryBench) -> None:
    assert stat.S_IMODE(made(bench).stat().st_mode) == 0o700


def test_the_folder_of_the_tier_is_made_but_not_the_way_to_it(tmp_path: Path) -> None:
    FolderBackend({"path": str(tmp_path / "tier")}).create(REQUEST)
    assert (tmp_path / "tier" / REQUEST.name).is_dir()
    with pytest.raises(ReservationFailed, match="key `path` of the tier"):
        FolderBackend({"path": str(tmp_path / "no" / "tier")}).create(REQUEST)


def test_first_come_first_served_so_no_request_starves(bench: DirectoryBench) -> None:
    bench.fill()
    bench.backend.create(REQUEST)
    small = REQUEST._replace(name="pbbsmall", uuid="small", capacity=8 * MIB)
    bench.backend.create(small)
    assert state_of(bench, small) is State.PENDING
    bench.free()
    assert state_of(bench) is State.READY
    assert state_of(bench, small) is State.READY


# -- what is not a reservation of ours stays as it is


def test_a_link_in_place_of_the_folder_is_never_followed(
    bench: DirectoryBench, tmp_path: Path
) -> None:
    treasure = tmp_path / "elsewhere"
    folder = made(bench)
    folder.rename(treasure)
    (treasure / "data").write_text("precious")
    folder.symlink_to(treasure)
    assert state_of(bench) is State.FAILED
    with pytest.raises(ReservationFailed, match="symbolic link"):
        bench.backend.path(REQUEST, {})
    with pytest.raises(ReservationFailed, match="symbolic link"):
        bench.backend.delete(REQUEST)
    assert (treasure / "data").read_text() == "precious"


@pytest.mark.parametrize(
    "make",
    [Path.mkdir, Path.touch, lambda path: path.symlink_to("/etc")],
    ids=["folder", "file", "link"],
)
def test_what_lies_in_the_way_is_named_and_left_alone(
    bench: DirectoryBench, make: Callable[[Path], object]
) -> None:
    make(bench.folder())
    assert state_of(bench) is State.FAILED
    for call in (bench.backend.create, bench.backend.delete):
        with pytest.raises(ReservationFailed, match="not a reservation"):
            call(REQUEST)
    assert os.path.lexists(bench.folder())


def test_the_identity_of_another_run_in_the_folder_stops_everything(
    bench: DirectoryBench,
) -> None:
    identity = made(bench) / ".pegasus_bb"
    identity.write_text(identity.read_text().replace(REQUEST.uuid, OTHER_RUN.uuid))
    status = bench.backend.status(REQUEST)
    assert status.state is State.FAILED
    assert OTHER_RUN.uuid in status.message
    for call in (
        lambda: bench.backend.path(REQUEST, {}),
        lambda: bench.backend.delete(REQUEST),
        lambda: bench.backend.create(REQUEST),
    ):
        with pytest.raises(ReservationFailed, match=OTHER_RUN.uuid):
            call()
    assert identity.exists()


def test_lost_grants_are_made_anew(bench: DirectoryBench) -> None:
    made(bench)
    (bench.root / ".pegasus_bb.json").unlink()
    status = bench.backend.status(REQUEST)
    assert (status.state, status.uuid) == (State.READY, REQUEST.uuid)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"reservations": {"a": {}}}',
        '{"reservations": {"a": {"uuid": "u", "owner": "o", "size": "1", "created": 1, '
        '"delay": 0, "granted": null}}}',
        '{"reservations": {"a": {"uuid": "u", "owner": "o", "size": 1, "created": NaN, '
        '"delay": 0, "granted": null}}}',
    ],
)
def test_damaged_grants_are_no_answer(bench: DirectoryBench, text: str) -> None:
    made(bench)
    (bench.root / ".pegasus_bb.json").write_text(text)
    status = bench.backend.status(REQUEST)
    assert status.state is State.UNKNOWN
    assert ".pegasus_bb.json" in status.message
    with pytest.raises(SchedulerUnreachable):
        bench.backend.delete(REQUEST)
    assert bench.folder().exists()


def test_a_file_in_place_of_the_folder_is_told_from_storage_that_is_away(
    bench: DirectoryBench,
) -> None:
    """``release --gone`` is named only where it can lose nothing."""
    bench.root.rmdir()
    away = bench.backend.status(REQUEST)
    assert "is it mounted" in away.message
    assert "--gone" not in away.message
    bench.root.touch()
    file = bench.backend.status(REQUEST)
    assert (away.state, file.state) == (State.UNKNOWN, State.UNKNOWN)
    assert f"{bench.root} is no folder, so nothing is reserved in it" in file.message
    assert "pegasus-bb release NAME --discard --gone NAME" in file.message


def test_one_that_cannot_be_removed_at_the_last_moment_keeps_its_identity(
    bench: DirectoryBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that appears in it, or a disk that fails: delete again finds it ours."""
    made(bench)

    def fails(path: object, **_: object) -> None:
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))

    with monkeypatch.context() as patched:
        patched.setattr(os, "rmdir", fails)
        with pytest.raises(ReservationFailed, match=r"not given back.*not empty"):
            bench.backend.delete(REQUEST)
    assert state_of(bench) is State.DELETING
    bench.backend.delete(REQUEST)
    assert state_of(bench) is State.ABSENT


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        '{"name": "pbbother", "size": -1}',
        '{"name": "pbbother", "size": 9, "created": "yesterday"}',
        '{"name": "pbbother", "size": 9, "created": 1e300}',
    ],
)
def test_foreign_files_in_the_tier_stop_no_call(
    bench: DirectoryBench, text: str
) -> None:
    """Everybody may write to a tier that is shared."""
    (bench.root / "pbbother").mkdir()
    (bench.root / "pbbother" / ".pegasus_bb").write_text(text)
    made(bench)
    found = bench.backend.list_reservations([REQUEST])
    assert [row.name for row in found.rows] == [REQUEST.name]
    assert found.statuses[0].state is State.READY


@as_root
def test_a_folder_that_another_user_owns_is_not_used(bench: DirectoryBench) -> None:
    """Its owner reads and changes what is in it, whatever its identity says."""
    os.chown(made(bench), 65534, 65534)
    status = bench.backend.status(REQUEST)
    assert status.state is State.FAILED and "belongs to uid 65534" in status.message
    with pytest.raises(ReservationFailed, match="belongs to uid 65534, not to 0"):
        bench.backend.delete(REQUEST)
    assert bench.folder().exists()


# -- kill -9 at every step


def test_a_create_killed_anywhere_is_never_granted_more_than_there_is(
    tmp_path: Path,
) -> None:
    for step, root in crash_at_every_step(
        tmp_path,
        before=lambda root: DirectoryBench(root).fill(),
        killed=lambda root: DirectoryBench(root).backend.create(REQUEST),
    ):
        bench = DirectoryBench(root)
        found = bench.backend.status(REQUEST).state
        assert found in (State.ABSENT, State.PENDING), step
