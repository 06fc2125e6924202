"""Text of records: real ones, several in a file, broken ones, hostile ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.report import records
from pegasus_bb.report.records import parse_records, read_records
from tests.report.sample_runs import record_text


def names(text: str) -> list[str | None]:
    return [
        entry.data["transformation"] if entry.data else None
        for entry in parse_records(text.encode())
    ]


def test_clustered_jobs_leave_several_records_in_a_file() -> None:
    text = (
        '[cluster-task id=1, name="cat", status=0]\n'
        + record_text("cat")
        + '[cluster-task id=2, name="sort", status=0]\n'
        + record_text("sort")
        + '[cluster-summary stat="ok", tasks=2, succeeded=2]\n'
    )
    assert names(text) == ["cat", "sort"]


def test_a_bad_record_costs_only_itself() -> None:
    torn = record_text("torn").replace("usage:", "usage: [")
    assert names(record_text("cat") + torn + record_text("sort")) == [
        "cat",
        None,
        "sort",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "           indented first\n        and then less\n",
        "        - invocation: True\n",
        "\n        after a blank line\n",
        "        <html>\n        key: [\n",
    ],
)
def test_whatever_a_task_prints_its_record_is_read(said: str) -> None:
    files = f"  files:\n    stdout:\n      data: |\n{said}    f.txt:\n      size: 11\n"
    (entry,) = parse_records((record_text() + files).encode())
    assert entry.data is not None, entry.why
    assert entry.data["files"]["f.txt"] == {"size": 11}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "left no record"),
        ('<?xml version="1.0"?>\n<html/>\n', "no Kickstart record"),
        ("Segmentation fault\n", "no Kickstart record"),
    ],
)
def test_a_file_without_a_usable_record_says_why(text: str, why: str) -> None:
    (entry,) = parse_records(text.encode())
    assert why in entry.why


def test_a_bomb_of_aliases_is_refused_before_it_unfolds() -> None:
    lines = ["- invocation: True", "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 12):
        parts = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"  a{level}: &a{level} [{parts}]")
    (entry,) = parse_records("\n".join(lines).encode())
    assert entry.data is None
    assert "limit" in entry.why


def test_a_record_nested_without_end_is_refused() -> None:
    for depth, why in ((500, "limit"), (1_000_000, "brackets without end")):
        (entry,) = parse_records(b"- invocation: True\n  a: " + b"[" * depth + b"\n")
        assert entry.data is None
        assert why in entry.why


def test_tags_build_no_objects() -> None:
    text = b"- invocation: True\n  a: !!python/object/apply:os.system [id]\n"
    (entry,) = parse_records(text)
    assert entry.data is None or entry.data["a"] == ["id"]


def test_a_line_that_was_torn_off_tells_no_smaller_number() -> None:
    row = "      42:\n        rchar: 7000\n        wchar: 9000\n"
    whole = (record_text() + row).encode()
    read = {}
    for cut in (1, 2, 3, 4):
        (entry,) = parse_records(whole[:-cut])
        assert entry.data is not None, entry.why
        read[cut] = entry.data["mainjob"]["procs"][42]
    assert set(map(str, read.values())) == {"{'rchar': 7000}"}


def test_a_file_above_the_cap_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SIZE_LIMIT", 1 << 20)
    big = tmp_path / "big.out.000"
    big.write_text(record_text() + " \n" * (1 << 20))
    (entry,) = read_records(big)
    assert entry.why == "larger than 1 MiB: not a record"
