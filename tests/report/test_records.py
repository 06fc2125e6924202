"""Text of records: real ones, several in a file, broken ones, hostile ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pegasus_bb.report import records
from pegasus_bb.report.records import parse_records, read_records
from tests.report.made import RECORDED, record_text


def names(text: str) -> list[str | None]:
    return [
        entry.data["transformation"] if entry.data else None
        for entry in parse_records(text.encode())
    ]


def test_one_record_is_one_mapping() -> None:
    assert names(record_text("cat")) == ["cat"]


def test_clustered_jobs_leave_several_records_in_a_file() -> None:
    text = (
        '[cluster-task id=1, name="cat", status=0]\n'
        + record_text("cat")
        + '[cluster-task id=2, name="sort", status=0]\n'
        + record_text("sort")
        + '[cluster-summary stat="ok", tasks=2, succeeded=2]\n'
    )
    assert names(text) == ["cat", "sort"]


def test_a_clustered_task_that_left_no_record_is_listed() -> None:
    summary = '[cluster-summary stat="fail", lines=2, tasks=2, succeeded=1, failed=1]\n'
    told = f"        {summary}"  # by a task, on its stdout
    files = f"  files:\n    stdout:\n      data: |\n{told}"
    (_, lost) = parse_records((record_text("cat") + summary).encode())
    assert lost.why == "of 2 clustered tasks 1 left a record"
    assert names(record_text("cat") + files) == ["cat"]
    assert names(record_text("cat") * 2 + summary) == ["cat", "cat"]


def test_what_follows_a_record_is_not_part_of_it() -> None:
    text = (
        record_text("cat")
        + "---------------pegasus-multipart\n- integrity_summary:\n    failed: 0\n"
    )
    assert names(text) == ["cat"]


def test_a_bad_record_costs_only_itself() -> None:
    torn = record_text("torn").replace("usage:", "usage: [")
    assert names(record_text("cat") + torn + record_text("sort")) == [
        "cat",
        None,
        "sort",
    ]


def test_raw_xml_between_the_rows_of_procs_is_left_out() -> None:
    (entry,) = read_records(RECORDED / "kickstart-5.1.2-z-broken-yaml.yml")
    assert entry.data is not None
    assert entry.data["mainjob"]["procs"][73926]["wchar"] == 8388608


def test_an_unquoted_command_line_does_no_harm() -> None:
    row = "      42:\n        cmd: sh -c: 'a: b\n        rchar: 7\n"
    (entry,) = parse_records((record_text() + row).encode())
    assert entry.data is not None
    assert entry.data["mainjob"]["procs"][42] == {"rchar": 7}


@pytest.mark.parametrize(
    "said",
    [
        "        hello\n        world\n",
        "           indented first\n        and then less\n",
        "        \x1b[31mred\x1b[0m\x00\n",
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


def test_bytes_that_are_not_utf_8_do_no_harm() -> None:
    (entry,) = parse_records(record_text("caf").encode().replace(b"caf", b"caf\xe9"))
    assert entry.data is not None
    assert entry.data["transformation"].startswith("caf")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "left no record"),
        ("  \n\n", "left no record"),
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


def test_a_task_may_have_as_many_brackets_in_its_arguments_as_it_likes() -> None:
    argument = '      - "' + '[{\\"a\\": 1}, ' * 2000 + '"\n'
    text = "- invocation: True\n  mainjob:\n    argument_vector:\n" + argument
    (entry,) = parse_records(text.encode())
    assert entry.data is not None, entry.why
    assert entry.data["mainjob"]["argument_vector"][0].startswith('[{"a": 1}, [{')


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


def test_a_word_without_end_costs_no_time() -> None:
    line = f"\n      <file {'a' * 400_000}/>\n"
    begun = time.process_time()
    (entry,) = parse_records((record_text() + line).encode())
    assert entry.calls == ()
    assert time.process_time() - begun < 2


def test_a_file_above_the_cap_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SIZE_LIMIT", 1 << 20)
    big = tmp_path / "big.out.000"
    big.write_text(record_text() + " \n" * (1 << 20))
    (entry,) = read_records(big)
    assert entry.why == "larger than 1 MiB: not a record"


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (entry,) = read_records(tmp_path / "missing.out.000")
    assert entry.why == "No such file or directory"


@pytest.mark.parametrize("name", ["mode", "user", "task_1.txt", "usage"])
def test_a_file_may_be_called_like_a_field(name: str) -> None:
    stat = "      size: 5\n      mode: 0o100644\n      user: root\n"
    files = f"  files:\n    a.txt:\n{stat}    {name}:\n{stat}"
    (entry,) = parse_records((record_text() + files).encode())
    assert entry.data is not None, entry.why
    assert set(entry.data["files"]) == {"a.txt", name}
