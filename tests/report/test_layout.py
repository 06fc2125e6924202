"""Records of the usual layout, read by a shorter way: it says what YAML says."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.report import records
from pegasus_bb.report.kickstart import task_of
from pegasus_bb.report.layout import LIMIT, read_layout
from pegasus_bb.report.records import RecordText, load_yaml, parse_records

Text = Callable[..., str]
REAL = Path(__file__).parent.parent / "recorded"
FILES = "  files:\n    a.txt:\n      lfn: a.txt\n      size: 7\n      output: True\n"


def real() -> list[Path]:
    names = sorted([*REAL.rglob("*.out.000"), *REAL.glob("kickstart/*.yml")])
    assert len(names) > 20
    return names


@pytest.mark.parametrize("path", real(), ids=lambda path: path.name)
def test_a_real_record_gives_the_same_task_either_way(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_bytes()
    short = [task_of(record, "node") for record in parse_records(text)]
    monkeypatch.setattr(records, "read_layout", lambda _: None)

    assert short == [task_of(record, "node") for record in parse_records(text)]


def test_most_real_records_are_read_by_the_shorter_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "load_yaml", lambda _: pytest.fail("YAML"))
    usual = [path for path in real() if "failed" not in path.name]
    usual = [path for path in usual if "broken" not in path.name]

    for path in usual:
        assert all(record.data for record in parse_records(path.read_bytes())), path


ODD = [
    ("duration: 1.5", "duration: 1e3"),
    ("duration: 1.5", "duration: 0x10"),
    ("duration: 1.5", "duration: 01.5"),
    ("duration: 1.5", "duration: .inf"),
    ("duration: 1.5", 'duration: "1.5"'),
    ("duration: 1.5", "duration: 1_000"),
    ("duration: 1.5", "duration: -1.5"),
    ("duration: 1.5", "duration: 1.5\n  duration: 2.5"),
    ('derivation: "ID1"', 'derivation: "a\\tb"'),
    ('derivation: "ID1"', "derivation: yes"),
    ('derivation: "ID1"', "derivation: 12"),
    ('derivation: "ID1"', "derivation: null"),
    ('derivation: "ID1"', "derivation: [ID1]"),
    ('derivation: "ID1"', "derivation: &a ID1"),
    ('derivation: "ID1"', "derivation: !!str ID1"),
    ('derivation: "ID1"', "derivation: ID1 # one"),
    ('derivation: "ID1"', "derivation: 'ID1'"),
    ('derivation: "ID1"', "derivation: |\n    ID1"),
    ("pid: 42", "pid: 0o52"),
    ("pid: 42", "pid: 1:30"),
    ("regular_exitcode: 0", "regular_exitcode: 0x1"),
    ("raw: 0", "raw: -1"),
    ("size: 7", "size: ~"),
    ("output: True", "output: yes"),
    ("lfn: a.txt", 'lfn: "a b: c"'),
    ("a.txt:\n", '"a: b":\n'),
    ("a.txt:\n", "stdin:\n"),
]


@pytest.mark.parametrize(("usual", "odd"), ODD)
def test_what_yaml_might_understand_otherwise_means_what_yaml_says(
    record_text: Text, usual: str, odd: str
) -> None:
    text = (record_text() + FILES).replace(usual, odd).encode()
    (record,) = parse_records(text)
    try:
        (said,) = load_yaml(text)
    except ValueError:
        assert record.data is None
        return

    assert record.data is not None
    assert outcome(record) == outcome(RecordText(said))


def outcome(record: RecordText) -> object:
    """The task, or why there is none."""
    try:
        return task_of(record, "node")
    except Exception as error:
        return str(error)


def test_a_line_that_was_torn_is_no_line(record_text: Text) -> None:
    text = (record_text() + FILES).partition("7\n")[0].encode()  # `size: `

    (record,) = parse_records(text)

    assert record.data is None or "size" not in record.data["files"]["a.txt"]


@pytest.mark.parametrize("end", ["", "  x", "  files: [", '    "'])
def test_text_without_end_that_is_nearly_a_record_costs_little(
    record_text: Text, end: str
) -> None:
    line = "  machine:\n" + "    a: b c d\n" * 9
    text = (record_text() + line * (LIMIT // len(line) - 10) + end).encode()
    begun = time.process_time()

    read_layout(text)

    assert time.process_time() - begun < 1.0


def test_what_is_too_large_is_left_to_the_other_way(record_text: Text) -> None:
    assert read_layout(record_text().encode()) is not None
    assert read_layout(record_text().encode() + b"\n" * LIMIT) is None
