"""Dumps come to their destination, and leave the buffer when they are safe there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.draining import drainer as module
from pegasus_bb.runtime.draining.buffer import WatchedBuffer
from pegasus_bb.runtime.draining.drainer import Drainer, Route
from pegasus_bb.runtime.draining.dumps import Bursts, Interval, Waiting
from pegasus_bb.runtime.draining.safe import Arrivals
from pegasus_bb.runtime.draining.scan import scan
from pegasus_bb.runtime.staging.items import Landed, stamp
from tests.runtime.draining.virtual import Clock


class Job:
    """A program that dumps, and the drainer of its dumps; each is drained at once."""

    def __init__(self, root: Path) -> None:
        self.buffer, self.pfs = root / "buffer", root / "pfs"
        for folder in (self.buffer, self.pfs):
            folder.mkdir()
        self.words: list[str] = []
        here = str(self.buffer)
        there = str(self.pfs)
        self.arrivals = Arrivals(str(root / "journal"), here, there)
        known = Interval(0.0)
        self.drainer = Drainer(
            Route(here, there),
            self.arrivals,
            WatchedBuffer(here, self.arrivals, 1),
            interval=known,
            say=self.words.append,
        )
        self._bursts = Bursts(1.0, known, self.words.append)
        self._bursts.look({}, 0.0)
        self._now = 0.0

    def dump(self, **files: str) -> None:
        """Write these, and drain them. Underscores stand for slashes."""
        for name, text in files.items():
            path = self.buffer / name.replace("_", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.give()
        self.drain()

    def give(self) -> None:
        for _ in range(2):
            self._now += 10
            dump = self._bursts.look(scan(str(self.buffer), pytest.fail), self._now)
            if dump is not None:
                self.drainer.give(dump)

    def drain(self) -> None:
        while self.drainer.behind:
            self.drainer.drain_next()

    def on_buffer(self) -> dict[str, str]:
        return texts(self.buffer)

    def on_pfs(self) -> dict[str, str]:
        return texts(self.pfs)


def texts(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    job = Job(tmp_path)
    yield job
    job.arrivals.close()


def test_the_newest_stays_and_older_ones_go_with_their_folders(job: Job) -> None:
    job.dump(step1_a="1a", step1_b="1b")
    assert job.on_buffer() == {"step1/a": "1a", "step1/b": "1b"}
    job.dump(step2_a="2a")
    assert job.on_buffer() == {"step2/a": "2a"}
    assert not (job.buffer / "step1").exists()
    assert job.on_pfs() == {"step1/a": "1a", "step1/b": "1b", "step2/a": "2a"}
    assert job.drainer.removed == 4


def test_what_is_not_safe_is_never_removed(job: Job) -> None:
    """The destination is away while two dumps are made."""
    job.dump(a="1")
    away = job.pfs.rename(job.pfs.with_name("away"))
    job.dump(b="2")
    job.dump(c="3")
    assert job.on_buffer() == {"a": "1", "b": "2", "c": "3"}, "who knows of a?"
    assert job.drainer.unsafe() == 2
    assert "1 of 1 file did not arrive" in job.words[-1]
    away.rename(job.pfs)
    job.dump(d="4")
    assert job.on_pfs() == {"a": "1", "b": "2", "c": "3", "d": "4"}
    assert job.on_buffer() == {"d": "4"}
    assert job.drainer.unsafe() == 0


def test_nothing_goes_to_the_empty_place_of_a_file_system_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = {"/", str(tmp_path / "pfs")}
    monkeypatch.setattr(os.path, "ismount", mounts.__contains__)
    job = Job(tmp_path)
    job.dump(first="one")
    job.pfs.rename(tmp_path / "away")
    job.pfs.mkdir()
    mounts.discard(str(job.pfs))
    job.dump(second="two")
    job.dump(third="three")
    assert (job.on_pfs(), len(job.on_buffer())) == ({}, 3)
    assert any("was mounted at the start" in each for each in job.words)
    job.pfs.rmdir()
    (tmp_path / "away").rename(job.pfs)
    mounts.add(str(job.pfs))
    job.dump(fourth="four")
    assert job.on_pfs().keys() >= {"first", "fourth"}


def test_a_file_system_that_is_mounted_late_is_drained_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = {"/"}
    monkeypatch.setattr(os.path, "ismount", mounts.__contains__)
    job = Job(tmp_path)
    mounts.add(str(job.pfs))
    job.dump(first="one")
    assert job.on_pfs() == {"first": "one"}


def test_a_copy_that_is_not_what_was_written_is_not_safe(job: Job) -> None:
    job.dump(a="1", b="1")
    (job.pfs / "a").unlink()
    (job.pfs / "b").write_text("something else")
    job.dump(c="2")
    assert job.on_buffer() == {"a": "1", "b": "1", "c": "2"}


def test_a_file_that_is_written_in_place_stays_and_arrives_each_time(job: Job) -> None:
    for number in "123":
        job.dump(restart=number, **{f"log{number}": number})
        assert job.on_pfs()["restart"] == number
    assert job.on_buffer() == {"restart": "3", "log3": "3"}


def test_what_the_program_removes_before_it_is_copied_is_no_failure(job: Job) -> None:
    (job.buffer / "a").write_text("1")
    (job.buffer / "b").write_text("1")
    job.give()
    (job.buffer / "a").unlink()
    job.drain()
    assert job.on_pfs() == {"b": "1"}
    assert job.drainer.unsafe() == 0
    assert "1 of them had been removed" in job.words[-1]


def test_what_is_forgotten_is_not_the_file_that_has_its_inode_by_now(job: Job) -> None:
    one = Landed(1, "sha256:1", [9, 9, 9, 9], stamp(job.buffer.stat()))
    job.arrivals.note("one", one)
    before = (*one.source[:2], 7, 7, 1)
    job.arrivals.forget(before)
    assert job.arrivals.came((*one.source, 1))
    job.arrivals.forget((*one.source, 1))
    assert not job.arrivals.came((*one.source, 1))


def test_a_link_does_not_lead_out_of_the_buffer(job: Job, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    (job.buffer / "out").symlink_to(tmp_path / "precious")
    job.dump(a="1")
    job.dump(b="2")
    assert texts(tmp_path / "precious") == {"file": "mine"}


def test_a_dump_has_time_until_the_next_one_is_expected(job: Job) -> None:
    clock = Clock(0.0)
    interval = Interval(100.0)
    drainer = Drainer(
        Route("", ""),
        job.arrivals,
        WatchedBuffer("", job.arrivals, 1),
        interval=interval,
        say=job.words.append,
        clock=clock,
    )
    dump = module.Dump(1, {}, 100, begun=0.0)
    clock.now = 20
    assert drainer.seconds_for(dump) == 70, "the next may come a tenth earlier"
    clock.now = 120
    assert drainer.seconds_for(dump) == 0, "it is late"
    clock.now = 20
    drainer.give(dump._replace(number=2))
    assert drainer.seconds_for(dump) == 0, "the next one waits"


def test_failures_are_tried_again_less_and_less_often_and_with_each_dump() -> None:
    clock = Clock(0.0)
    waiting = Waiting(clock)
    one, two = (module.Dump(number, {}, 1, 0.0) for number in (1, 2))
    waiting.give(one)
    for seconds in (30, 60, 120, 240, 480, 600, 600):
        assert waiting.next() == one
        assert waiting.fail(one) == seconds
        clock.now += seconds
    assert waiting.next() == one
    waiting.fail(one)
    waiting.give(two)
    assert [waiting.next(), waiting.next()] == [one, two], "the oldest first"


def test_at_the_end_the_newest_goes_first_and_each_is_tried_once() -> None:
    waiting = Waiting()
    dumps = [module.Dump(number, {}, 1, 0.0) for number in range(3)]
    for dump in dumps:
        waiting.give(dump)
    waiting.end()
    for dump in reversed(dumps):
        assert waiting.next() == dump
        assert waiting.fail(dump) == 0
    assert waiting.next() is None
    assert len(waiting.failed) == 3
