"""What is a dump, and how long it is until the next: by looks at a folder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.draining.dumps import PATIENCE, Bursts, Dump, Interval
from pegasus_bb.runtime.draining.scan import Found

MIB = 1 << 20
QUIET = 5.0


class Buffer:
    """A folder whose files are only thought of, looked at once a second."""

    def __init__(self) -> None:
        self.interval = Interval(0.0)
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


def test_three_dumps_teach_the_interval() -> None:
    buffer = Buffer()
    known = []
    for number in range(3):
        buffer.write(f"step{number}")
        buffer.rest(100 + number)
        known.append(buffer.interval.seconds)
    assert known == [0, 100, 100], "of what was seen, the least: early is better"


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
