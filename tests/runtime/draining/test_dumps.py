"""What is a dump, and how long it is until the next: by looks at a folder."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.draining.dumps import PATIENCE, Bursts, Dump, Interval
from pegasus_bb.runtime.draining.pace import Drain, Pace
from pegasus_bb.runtime.draining.scan import Found, scan
from tests.runtime.draining.virtual import Clock

MIB = 1 << 20
QUIET = 5.0


class Buffer:
    """A folder whose files are only thought of, looked at once a second."""

    def __init__(self, fixed: float = 0.0) -> None:
        self.interval = Interval(fixed)
        self.words: list[str] = []
        self.bursts = Bursts(QUIET, self.interval, self.words.append)
        self.files: Found = {}
        self.now, self._version = 0.0, 0
        self.dumps: list[Dump] = []
        self.complete: list[float] = []  # when each was
        self.rest(1)

    def write(self, *names: str, size: int = 100 * MIB) -> None:
        for name in names:
            self._version += 1
            self.files[name] = (self._version,), size

    def remove(self, name: str) -> None:
        del self.files[name]

    def rest(self, seconds: int) -> None:
        for _ in range(seconds):
            dump = self.bursts.look(dict(self.files), self.now)
            if dump is not None:
                self.dumps.append(dump)
                self.complete.append(self.now)
            self.now += 1

    def rest_writing(self, name: str, seconds: int) -> None:
        for _ in range(seconds):
            self.write(name)
            self.rest(1)


def names(buffer: Buffer) -> list[list[str]]:
    return [sorted(dump.files) for dump in buffer.dumps]


def test_the_files_of_one_burst_are_a_dump() -> None:
    buffer = Buffer()
    buffer.write("a/0")
    buffer.rest(3)
    buffer.write("a/1")
    buffer.rest(4)
    assert not buffer.dumps, "one of its files has changed 4 s ago"
    buffer.rest(60)
    assert names(buffer) == [["a/0", "a/1"]]


def test_a_burst_lasts_as_long_as_a_file_of_it_is_written() -> None:
    buffer = Buffer()
    buffer.write("a/0")
    buffer.rest_writing("a/1", 60)
    assert not buffer.dumps
    buffer.rest(10)
    assert names(buffer) == [["a/0", "a/1"]]


def test_three_dumps_teach_the_interval() -> None:
    buffer, known = Buffer(), []
    for number in range(3):
        buffer.write(f"step{number}")
        buffer.rest(100 + number)
        known.append(buffer.interval.seconds)
    assert known == [0, 100, 100], "of what was seen, the least: early is better"


def test_the_interval_follows_a_program_that_changes_it() -> None:
    buffer = Buffer()
    for pause in (100, 100, 300, 300, 300, 50, 50):
        buffer.write("ckpt")
        buffer.rest(pause)
    lengths = [round(after - begin) for begin, after in pairwise(begins(buffer))]
    assert lengths == [100, 100, 300, 300, 300, 50]
    assert buffer.interval.seconds == 50


def begins(buffer: Buffer) -> Iterator[float]:
    return (dump.begun for dump in buffer.dumps)


def test_what_was_there_before_teaches_nothing() -> None:
    buffer = Buffer()
    buffer.bursts = Bursts(QUIET, buffer.interval, buffer.words.append)
    buffer.write("old")
    buffer.rest(20)
    buffer.write("new")
    buffer.rest(20)
    assert [dump.begun for dump in buffer.dumps] == [-math.inf, 21.0]
    assert buffer.interval.seconds == 0


def test_each_dump_is_spread_over_the_interval() -> None:
    """By the pace that it gets: the last segment is there before the next dump."""
    buffer = Buffer()
    for number in range(3):
        buffer.write(f"step{number}")
        buffer.rest(200)
    dump, complete = buffer.dumps[-1], buffer.complete[-1]
    seconds = dump.begun + buffer.interval.seconds - complete
    clock = Clock(complete)
    pace = Pace(Drain("run", dump.size, seconds), clock, clock, clock.sleep)
    times, left = [], dump.size
    while left:
        with pace.take(min(left, pace.size)):
            times.append(clock())
        left -= min(left, pace.size)
    assert times[0] == complete
    assert dump.begun + 160 < times[-1] < dump.begun + 200


def test_files_that_are_written_in_place_are_in_every_dump() -> None:
    buffer = Buffer()
    for _ in range(3):
        buffer.write("restart.h5", "mesh.h5")
        buffer.rest(30)
    assert names(buffer) == [["mesh.h5", "restart.h5"]] * 3
    assert len({dump.files["mesh.h5"] for dump in buffer.dumps}) == 3


def test_what_the_program_removes_meanwhile_is_in_no_dump() -> None:
    buffer = Buffer()
    buffer.write("final.tmp", "other")
    buffer.rest(2)
    buffer.remove("final.tmp")
    buffer.write("final")
    buffer.rest(20)
    assert names(buffer) == [["final", "other"]]
    buffer.write("gone")
    buffer.rest(2)
    buffer.remove("gone")
    buffer.rest(20)
    assert len(buffer.dumps) == 1


def test_a_dump_that_never_completes_is_left_alone_with_a_word() -> None:
    buffer = Buffer()
    buffer.rest_writing("never", 3 * int(PATIENCE))
    assert not buffer.dumps
    assert len(buffer.words) == 1
    assert "never: written without a pause" in buffer.words[0]
    buffer.write("step1")
    buffer.rest_writing("never", 20)
    assert names(buffer) == [["step1"]], "others are drained all the same"
    buffer.rest(20)
    assert names(buffer) == [["step1"], ["never"]], "and it is, once it rests"


def test_a_log_that_is_written_now_and_then_is_no_dump() -> None:
    """Else the newest dump would be older than it, and the interval that of the log."""
    buffer = Buffer()
    for number in range(4):
        buffer.write(f"step{number}", "log")
        for _ in range(5):
            buffer.rest(20)
            buffer.write("log", size=MIB)
        buffer.rest(20)
    full = [dump for dump in buffer.dumps if dump.is_full]
    assert [len(dump.files) for dump in full] == [2] * 4
    assert len(buffer.dumps) > 20, "it is copied as well"
    assert buffer.interval.seconds == 120


def test_an_interval_that_is_given_is_not_learned() -> None:
    buffer = Buffer(fixed=50)
    for _ in range(3):
        buffer.write("ckpt")
        buffer.rest(100)
    assert buffer.interval.seconds == 50


def test_a_program_that_sets_times_back_has_written_all_the_same(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ckpt"
    file.write_text("one")
    before = scan(str(tmp_path), pytest.fail)
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_text("two")
    os.utime(file, ns=times)
    after = scan(str(tmp_path), pytest.fail)
    assert before["ckpt"] != after["ckpt"]
    assert scan(str(tmp_path), pytest.fail) == after


def test_any_name_is_seen_and_what_is_no_file_is_not(tmp_path: Path) -> None:
    bad = os.fsdecode(b"\xff\n \x1b[31m")
    (tmp_path / bad).mkdir()
    (tmp_path / bad / bad).write_text("x")
    (tmp_path / "link").symlink_to(bad)
    os.mkfifo(tmp_path / "fifo")
    found = scan(str(tmp_path), pytest.fail)
    assert sorted(found) == sorted([f"{bad}/{bad}", "link"])


def test_a_folder_that_is_gone_is_empty(tmp_path: Path) -> None:
    assert scan(str(tmp_path / "gone"), pytest.fail) == {}


pauses = st.lists(st.integers(10, 200), min_size=3, max_size=8)


@given(pauses=pauses)
def test_no_file_is_ever_forgotten(pauses: list[int]) -> None:
    buffer = Buffer()
    for number, pause in enumerate(pauses):
        buffer.write(f"step{number}", "in place")
        buffer.rest(pause)
    assert [f"step{n}" in each for n, each in enumerate(names(buffer))] == [
        True for _ in pauses
    ]


def learned(*lengths: float) -> Interval:
    """After dumps that began so far from each other."""
    interval, begun = Interval(), 0.0
    for number, length in enumerate((0.0, *lengths)):
        begun += length
        interval.learn(Dump(number, {}, 1, begun))
    return interval


def test_with_a_shared_limit_a_dump_is_early_enough_for_a_shorter_interval() -> None:
    """30 % shorter than the least of the last eight: the limit keeps the peak."""
    assert learned(100, 130, 110).spread(shares_limit=True) == pytest.approx(76)
    assert learned(50, *[100] * 8).spread(shares_limit=True) == pytest.approx(76)


def test_without_one_it_is_spread_over_a_usual_interval() -> None:
    """Its own pace is the peak: one that is always early is always fast."""
    assert learned(100).spread(shares_limit=False) == pytest.approx(90)
    apart = learned(100, 140, 100, 140, 100, 140)
    assert apart.spread(shares_limit=False) == pytest.approx(0.9 * 120)


def test_a_program_that_dumps_more_often_from_now_on_is_followed() -> None:
    """After three intervals; a single one that is short is a chance."""
    once = learned(300, 300, 300, 300, 300, 50)
    assert once.spread(shares_limit=False) > 0.9 * 250
    shorter = learned(300, 300, 300, 50, 50, 50)
    assert shorter.spread(shares_limit=False) == pytest.approx(0.9 * 50)


def test_an_interval_that_is_not_known_spreads_nothing() -> None:
    assert learned().spread(shares_limit=True) == 0
    assert Interval(100.0).spread(shares_limit=False) == pytest.approx(90)
