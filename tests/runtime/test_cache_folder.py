"""The cache of a node: jobs that come at once, are killed, or find no room."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegasus_bb.runtime.job_reservation import cache_folder
from pegasus_bb.runtime.job_reservation.cache_folder import CacheFolder, Lease
from pegasus_bb.runtime.job_reservation.cached_copy import Source, copy_whole
from pegasus_bb.runtime.job_reservation.disk import on_the_disk
from pegasus_bb.runtime.job_reservation.input_cache import InputCache
from tests.support.waiting import until

KIB = 1 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    folder = tmp_path / "nvme"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def cache(disk: Path) -> CacheFolder:
    return CacheFolder(str(disk), 100 * KIB)


def source(disk: Path, name: str = "in.dat", size: int = 40 * KIB) -> Source:
    """An input in the run's scratch."""
    path = disk.parent / name
    if not path.exists():
        path.write_bytes(name[:1].encode() * size)
    found = Source.of(str(path), "")
    assert found is not None
    return found


def bring(cache: CacheFolder, source: Source) -> Lease:
    lease = cache.bring(source)
    assert lease is not None
    assert Path(lease.path).read_bytes() == Path(source.path).read_bytes()
    return lease


def use(cache: CacheFolder, source: Source, used: float = 0.0) -> bool:
    """Bring or find it, as a job does that has ended; whether it was brought."""
    lease = bring(cache, source)
    if used:
        os.utime(lease.handle, (used, used))
    os.close(lease.handle)
    return lease.is_new


def names(cache: CacheFolder) -> list[str]:
    """The inputs that it has, and parts of some."""
    files = (path for path in Path(cache.path).rglob("*") if path.is_file())
    return sorted(path.name for path in files if path.name != ".note")


def folders(cache: CacheFolder) -> list[Path]:
    return list(Path(cache.path).iterdir())


def forked(work: Callable[[], object]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def ended_well(pid: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


class TestAtOnce:
    def test_of_forty_starts_one_brings_it(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        given = source(disk)
        go_on = disk.parent / "go on"
        log = disk.parent / "log"

        def job() -> None:
            until(go_on.exists)
            lease = bring(CacheFolder(str(disk), 100 * KIB), given)
            with log.open("a") as lines:
                lines.write(f"{lease.is_new}\n")
            time.sleep(0.1)

        jobs = [forked(job) for _ in range(40)]
        go_on.touch()
        assert [ended_well(pid) for pid in jobs] == [True] * 40
        assert sorted(log.read_text().split()) == ["False"] * 39 + ["True"]
        assert len(folders(cache)) == 1

    def test_one_that_is_killed_while_it_brings_leaves_it_to_the_next(
        self, cache: CacheFolder, disk: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = source(disk)

        def half(source: Source, folder: str) -> bool:
            Path(folder, source.name).write_bytes(b"half")
            begun.touch()
            time.sleep(60)
            return True

        begun = disk.parent / "begun"

        def killed() -> None:
            monkeypatch.setattr(cache_folder, "copy_whole", half)
            cache.bring(given)

        first = forked(killed)
        until(begun.exists)
        others = [forked(lambda: use(cache, given)) for _ in range(3)]
        os.kill(first, signal.SIGKILL)
        assert not ended_well(first)
        assert [ended_well(pid) for pid in others] == [True] * 3
        assert not use(cache, given)
        assert len(folders(cache)) == 1

    def test_a_damaged_copy_in_use_stays_and_is_used_by_no_other_job(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        given = source(disk)
        lease = bring(cache, given)
        Path(lease.path).chmod(0o600)
        Path(lease.path).write_bytes(b"other")
        with pytest.raises(OSError, match="it was changed, and a job reads it"):
            cache.bring(given)
        assert names(cache) == ["in.dat"]
        os.close(lease.handle)
        assert use(cache, given)

    def test_a_damaged_copy_that_another_job_just_looks_at_is_brought_anew(
        self, cache: CacheFolder, disk: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Both find the damage, and the other one still has its lock."""
        given = source(disk)
        lease = bring(cache, given)
        Path(lease.path).chmod(0o600)
        Path(lease.path).write_bytes(b"other")
        ended = [lease.handle]
        monkeypatch.setattr(time, "sleep", lambda _: os.close(ended.pop()))
        assert use(cache, given)
        assert ended == []


class TestRoom:
    def test_the_least_recently_used_goes_first(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        now = time.time()
        for age, name in enumerate(("a", "b"), start=1):
            use(cache, source(disk, name), now - 1000 * age)
        assert use(cache, source(disk, "c"))
        assert names(cache) == ["a", "c"]
        use(cache, source(disk, "a"))  # now it is used last
        os.utime(Path(lease_of(cache, source(disk, "c"))).parent, (now - 9, now - 9))
        use(cache, source(disk, "d"))
        assert names(cache) == ["a", "d"]

    def test_what_a_job_reads_stays_and_the_next_one_helps_itself(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        leases = [bring(cache, source(disk, name)) for name in ("a", "b")]
        assert cache.bring(source(disk, "c")) is None
        assert names(cache) == ["a", "b"]
        assert len(folders(cache)) == 2
        os.close(leases[0].handle)
        assert use(cache, source(disk, "c"))
        assert names(cache) == ["b", "c"]

    def test_one_that_is_larger_than_the_cache_removes_nothing(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        use(cache, source(disk, "a"))
        assert cache.bring(source(disk, "large", 101 * KIB)) is None
        assert names(cache) == ["a"]

    def test_what_no_job_used_for_a_week_is_removed_by_the_next(
        self, cache: CacheFolder, disk: Path
    ) -> None:
        use(cache, source(disk, "a"), time.time() - 8 * 86400)
        use(cache, source(disk, "b"))
        left = Path(cache.path, "0000.5.part")  # of a killed job
        left.mkdir()
        os.utime(left, (0, 0))
        CacheFolder(str(disk), 100 * KIB)
        assert names(cache) == ["b"]
        assert len(folders(cache)) == 1

    def test_a_full_disk_leaves_nothing_and_the_job_brings_it_itself(
        self,
        cache: CacheFolder,
        disk: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        given = source(disk)
        inputs = InputCache(cache, {"in.dat": ""})
        with full_disk(monkeypatch):
            assert not inputs.link("in.dat", given.path, str(disk / "in.dat"))
        assert "No space left on device: this job brings" in capsys.readouterr().err
        assert folders(cache) == []
        assert inputs.link("in.dat", given.path, str(disk / "in.dat"))
        inputs.close()

    def test_what_is_there_needs_no_space_and_what_is_unused_makes_some(
        self, cache: CacheFolder, disk: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use(cache, source(disk, "in.dat"))
        use(cache, source(disk, "other"))
        settings = {"path": str(disk), "mount": "any"}
        inputs = InputCache(cache, {"in.dat": ""})
        inputs.find(str(disk.parent))
        free = 1000 * KIB
        more = 40 * KIB

        def left(_: str) -> tuple[int, bool]:
            return free + (0 if "other" in names(cache) else more), True

        monkeypatch.setattr("pegasus_bb.runtime.job_reservation.disk._free", left)
        with on_the_disk(settings, "n", free + more, {}, inputs):
            assert names(cache) == ["in.dat", "other"]  # nothing had to go
        with on_the_disk(settings, "n", free + 2 * more, {}, inputs):
            assert names(cache) == ["in.dat"]
        inputs.close()


def test_one_that_is_spoiled_before_its_job_has_seen_it_is_found(
    cache: CacheFolder, disk: Path
) -> None:
    """As root a task of another job overwrites it, after this one has its lease."""
    known = source(disk)
    bring(cache, known)
    inputs = InputCache(cache, {"in.dat": ""})
    inputs.find(str(Path(known.path).parent))
    with cached(cache).open("r+b") as file:
        file.write(b"spoiled")
    assert inputs.link("in.dat", known.path, str(disk / "link"))
    assert inputs.check(0, []) == 1


def cached(cache: CacheFolder) -> Path:
    (found,) = Path(cache.path).rglob("in.dat")
    found.chmod(0o600)
    return found


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fails(source: Source, folder: str) -> bool:
        copy_whole(source, folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)

    with monkeypatch.context() as patched:
        patched.setattr(cache_folder, "copy_whole", fails)
        yield


def lease_of(cache: CacheFolder, source: Source) -> str:
    lease = cache.lease(source)
    assert lease is not None
    os.close(lease.handle)
    return lease.path
