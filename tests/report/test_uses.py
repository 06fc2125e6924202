"""Calls on files, of records and logs: each file once, by its LFN."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse
from pegasus_bb.report.kickstart import read_tasks
from pegasus_bb.report.uses import with_calls
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


def test_calls_that_kickstart_traced_are_of_the_file(tmp_path: Path) -> None:
    text = (RECORDED / RECORD).read_text()
    file = 'name="/tmp/z2" bread="0" nread="0" bwrite="'
    path = tmp_path / "traced.out.000"
    path.write_text(text.replace(f"{file}0", f"{file}4194304"))
    (found,) = only_task(read_tasks(path, "node")).files
    assert (found.name, found.size) == ("z2", 8388608)
    assert (found.bytes_read, found.bytes_written) == (None, 2 * 4194304)
