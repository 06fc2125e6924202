"""What reached its destination, line by line."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.runtime import manifest
from pegasus_bb.staging.items import Landed, stamp
from pegasus_bb.staging.onefile import copy_file


def arrive(folder: Path, lfn: str, text: str, uuid: str = "run-1") -> None:
    (folder / "source").write_text(text)
    dest = str(folder / "dest")
    copied = copy_file(str(folder / "source"), dest)
    landed = Landed(copied.size, copied.digest, stamp(copied.stat), [])
    lines = [manifest.line(lfn, dest, landed, uuid)]
    manifest.append(str(folder / "manifest.jsonl"), lines)


def test_a_line_says_what_lies_there(tmp_path: Path) -> None:
    arrive(tmp_path, "out.txt", "result")
    line = manifest.read(str(tmp_path / "manifest.jsonl"), "run-1")["out.txt"]
    found = (tmp_path / "dest").stat()
    times = [found.st_mtime_ns, found.st_ctime_ns]
    assert line["stat"] == [found.st_dev, found.st_ino, *times]
    assert (line["size"], line["dest"]) == (6, str(tmp_path / "dest"))
    assert line["digest"].startswith("sha256:")


def test_the_last_line_of_this_run_wins(tmp_path: Path) -> None:
    arrive(tmp_path, "out.txt", "first")
    arrive(tmp_path, "out.txt", "the second attempt")
    arrive(tmp_path, "out.txt", "somebody else's run", uuid="run-0")
    entries = manifest.read(str(tmp_path / "manifest.jsonl"), "run-1")
    assert entries["out.txt"]["size"] == len("the second attempt")


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    arrive(tmp_path, "a", "1")
    with (tmp_path / "manifest.jsonl").open("a") as journal:
        journal.write('{"lfn": "b", "dest": "/o')
    arrive(tmp_path, "c", "3")
    assert set(manifest.read(str(tmp_path / "manifest.jsonl"), "run-1")) == {"a", "c"}


def test_any_name_can_be_noted(tmp_path: Path, hostile: str) -> None:
    arrive(tmp_path, hostile, "x")
    assert list(manifest.read(str(tmp_path / "manifest.jsonl"), "run-1")) == [hostile]


def test_no_manifest_is_an_empty_one(tmp_path: Path) -> None:
    assert manifest.read(str(tmp_path / "none"), "run-1") == {}
