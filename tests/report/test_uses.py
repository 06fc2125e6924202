"""Calls on files, of records and logs: each file once, by its LFN."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse
from pegasus_bb.report.kickstart import read_tasks
from pegasus_bb.report.uses import is_data, with_calls
from tests.report.made import RECORDED, only_task

RECORD = "kickstart-5.1.2-z-broken-yaml.yml"


def use(path: str, read: int | None, written: int | None) -> FileUse:
    return FileUse(path, path, 9, bool(written), read, written)


@pytest.mark.parametrize(
    ("cwd", "name"),
    [("/run", "sub/a.txt"), *((cwd, "/run/sub/a.txt") for cwd in ("", "/ru", "/bb"))],
)
def test_below_the_runs_folder_a_file_is_known_by_its_lfn(cwd: str, name: str) -> None:
    (found,) = with_calls((), [use("/run/sub/a.txt", 5, 0)], cwd)
    assert (found.name, found.path) == (name, "/run/sub/a.txt")


def test_what_the_record_lists_keeps_its_name_and_size() -> None:
    listed = FileUse("out", "/run/x", 11, True)
    (found,) = with_calls([listed], [use("/run/x", 0, 7), use("/run/x", 2, 4)], "/run")
    assert found == FileUse("out", "/run/x", 11, True, 2, 11)


def test_a_process_that_says_nothing_of_a_file_adds_nothing() -> None:
    (found,) = with_calls((), [use("/a", None, 7), use("/a", 2, None)], "")
    assert (found.bytes_read, found.bytes_written, found.output) == (2, 7, True)


def test_calls_that_kickstart_does_not_trace_are_no_zero() -> None:
    """cat copied 8 MiB with copy_file_range: -z says 0 of both files."""
    task = only_task(read_tasks(RECORDED / RECORD, "node"))
    assert task.wchar == 8388608
    assert task.files == ()


def test_calls_that_kickstart_traced_are_of_the_file(tmp_path: Path) -> None:
    text = (RECORDED / RECORD).read_text()
    file = 'name="/tmp/z2" bread="0" nread="0" bwrite="'
    path = tmp_path / "traced.out.000"
    path.write_text(text.replace(f"{file}0", f"{file}4194304"))
    (found,) = only_task(read_tasks(path, "node")).files
    assert (found.name, found.size) == ("z2", 8388608)
    assert (found.bytes_read, found.bytes_written) == (None, 2 * 4194304)


def test_what_a_task_prints_is_no_call(tmp_path: Path) -> None:
    said = '        <file name="/tmp/z2" bread="5" nread="1" bwrite="5" size="5"/>\n'
    text = (RECORDED / RECORD).read_text()
    path = tmp_path / "traced.out.000"
    path.write_text(
        text.replace("    stdout:\n", f"    stdout:\n      data: |\n{said}")
    )
    assert only_task(read_tasks(path, "node")).files == ()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/scratch/a", True),
        ("/dev/shm/tier/a", True),
        ("/var/opt/cray/dws/mounts/batch/1_private_scratch/a", True),
        ("/home/me/venv/lib/python3.11/site-packages/numpy/core.so", False),
        ("/home/me/bin/__pycache__/mix.cpython-311.pyc", False),
        ("/dev/null", False),
        ("/lib64/libc.so.6", False),
        ("/usr/share/zoneinfo/UTC", False),
        ("pipe:[145018]", False),
        ("<STDOUT>", False),
    ],
)
def test_programs_and_devices_are_no_files_of_a_workflow(path: str, data: bool) -> None:
    assert is_data(path) is data
