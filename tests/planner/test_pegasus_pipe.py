"""A file that is opened before it is written."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest

from pegasus_bb.planner.pegasus.pipe import Feeder, LateFile

TEXT = b"{\n" + b"x" * 300_000 + b"\n}\n"  # more than a pipe holds


@pytest.fixture
def file(tmp_path: Path) -> LateFile:
    return LateFile(tmp_path / "workflow.yml")


class Reader(threading.Thread):
    """Opens a path at once and reads it to its end."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._path = path
        self._opened: SimpleQueue[bytes] = SimpleQueue()
        self._read: SimpleQueue[bytes] = SimpleQueue()
        self.start()

    def run(self) -> None:
        with self._path.open("rb") as source:
            self._opened.put(b"")
            self._read.put(source.read())

    def has_opened(self) -> None:
        self._opened.get(timeout=10)

    def text(self) -> bytes:
        return self._read.get(timeout=10)


def give(file: LateFile) -> None:
    file.write(TEXT)
    file.feed()


def give_to(reader: Reader, file: LateFile) -> None:
    give(file)
    while reader.is_alive():
        file.feed()


def first_line(path: Path) -> bytes:
    with path.open("rb") as source:
        return source.readline()


def test_a_reader_waits_for_the_text(file: LateFile) -> None:
    reader = Reader(file.path)
    reader.has_opened()
    give_to(reader, file)
    comment, _, text = reader.text().partition(b"\n")
    assert comment.startswith(b"# ")
    assert text == TEXT


def test_the_first_line_is_there_for_who_looks_before(file: LateFile) -> None:
    assert first_line(file.path).startswith(b"# ")
    reader = Reader(file.path)
    reader.has_opened()
    give_to(reader, file)
    assert reader.text() == TEXT


def test_who_comes_later_finds_a_file(file: LateFile) -> None:
    give(file)
    assert stat.S_ISREG(file.path.stat().st_mode)
    assert file.path.read_bytes() == file.path.read_bytes() == TEXT
    assert [p.name for p in file.path.parent.iterdir()] == ["workflow.yml"]


def test_who_was_about_to_open_the_pipe_is_given_the_text_as_well(
    file: LateFile,
) -> None:
    first_line(file.path)
    same = file.path.with_name("pipe")
    same.hardlink_to(file.path)
    give(file)  # nobody is there
    reader = Reader(same)
    reader.has_opened()
    while reader.is_alive():
        file.feed()
    assert reader.text() == TEXT
    file.feed()  # and no harm in asking again


def test_who_wants_no_more_ends_it(file: LateFile) -> None:
    with file.path.open("rb", buffering=0) as source:
        assert source.readline().startswith(b"# ")
        writer = threading.Thread(target=give, args=(file,), daemon=True)
        writer.start()
        assert source.read(1) == b"{"
    writer.join(timeout=10)
    assert not writer.is_alive()
    assert file.path.read_bytes() == TEXT


def test_a_reader_of_what_is_given_up_finds_the_end(file: LateFile) -> None:
    reader = Reader(file.path)
    reader.has_opened()
    file.close()
    assert reader.text().startswith(b"# ")
    file.close()


def test_who_opened_several_gets_each_in_his_own_order(tmp_path: Path) -> None:
    files = [LateFile(tmp_path / name) for name in ("one", "two")]
    second, first = Reader(files[1].path), Reader(files[0].path)
    second.has_opened()
    first.has_opened()
    with Feeder(files) as feeder:
        for file in files:
            file.write(TEXT)
        feeder.start()
        assert second.text().endswith(TEXT)
        assert first.text().endswith(TEXT)


def test_who_opens_it_and_does_not_read_keeps_nobody(tmp_path: Path) -> None:
    files = [LateFile(tmp_path / name) for name in ("one", "two")]
    with files[0].path.open("rb"), Feeder(files) as feeder:
        reader = Reader(files[1].path)
        reader.has_opened()
        for file in files:
            file.write(TEXT)
        feeder.start()
        assert reader.text().endswith(TEXT)
