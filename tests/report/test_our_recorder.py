"""What our own recorder writes is what the readers read: one format."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.model.run import Task
from pegasus_bb.report.kickstart import read_tasks
from tests.report.sample_runs import only_task

MIB = 1 << 20
RECORD = (
    "import sys; from pegasus_bb.runtime.programs.record import main; sys.exit(main())"
)
# A shell whose child does the reading and the writing.
COPY = ["/bin/sh", "-c", "cat in.bin > out.bin; echo '  said: [this'; exit 3"]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task that our recorder saw: a MiB copied by a child, then exit code 3."""
    (tmp_path / "in.bin").write_bytes(b"x" * MIB)
    options = ["-n", "copy", "-N", "ID7", "-R", "cluster", "-s", "out.bin=out.bin"]
    done = subprocess.run(
        [sys.executable, "-c", RECORD, *options, *COPY],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
    )
    assert done.returncode == 3
    path = tmp_path / "copy_ID7.out.000"
    path.write_bytes(done.stdout)
    return only_task(read_tasks(path, "copy_ID7"))


def test_names_exit_code_and_sizes_of_results_come_back(task: Task) -> None:
    assert (task.transformation, task.job, task.site) == ("copy", "ID7", "cluster")
    assert task.exit_code == 3
    (file,) = task.files
    assert (file.name, file.size, file.output) == ("out.bin", MIB, True)


def test_a_childs_bytes_are_counted_once(task: Task) -> None:
    assert task.rchar is not None
    assert task.wchar is not None
    assert MIB <= task.rchar < 1.5 * MIB
    assert MIB <= task.wchar < 1.1 * MIB
