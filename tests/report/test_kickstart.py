"""Records -> tasks: numbers from the right place, and unknown where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pegasus_bb.model.run import Kind, Problem, Task
from pegasus_bb.report.kickstart import kind_of, read_tasks
from tests.report.sample_runs import RECORDED, only_problem, only_task, record_text

Read = Callable[[str], Iterator["Task | Problem"]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_text(text: str) -> Iterator[Task | Problem]:
        path = tmp_path / "cat_ID1.out.000"
        path.write_text(text)
        return read_tasks(path, "cat_ID1")

    return from_text


def recorded(name: str) -> Task:
    return only_task(read_tasks(RECORDED / name, "node"))


def test_a_shell_that_ran_dd_and_cat_moved_its_bytes_once() -> None:
    # procs has three rows; added up they would say 32 MiB read.
    task = recorded("kickstart-5.1.2-t-procs.yml")
    assert task.rchar == 16_789_660
    assert task.wchar == 16_777_310
    assert (task.rbytes, task.wbytes) == (90_112, 8_392_704)
    assert (task.syscr, task.syscw) == (65, 43)


def test_our_launcher_counted_beside_kickstart() -> None:
    task = recorded("kickstart-5.1.2-counted.yml")
    assert (task.rchar, task.wchar) == (11014, 6)
    assert (task.syscr, task.syscw) == (22, 1)
    assert (task.rbytes, task.wbytes) == (4096, 4096)
    assert task.iowait is None


def test_who_ran_where_and_how_long() -> None:
    task = recorded("gated/00/00/cat1_ID0000002.out.000")
    assert (task.transformation, task.job) == ("cat1", "ID0000002")
    assert (task.site, task.host) == ("cori", "vm")
    assert task.duration == 0.004
    assert task.start == pytest.approx(1795200501.110)
    assert (task.utime, task.stime, task.maxrss) == (0.003, 0.002, 1980 * 1024)
    # Without a process table block I/O comes from the usage.
    assert (task.rbytes, task.wbytes) == (8 * 512, 16 * 512)
    assert (task.rchar, task.wchar, task.iowait) == (None, None, None)
    auxiliary = "gated/00/00/create_dir_demo_0_cori.out.000"
    assert recorded(auxiliary).job == ""
    assert recorded("kickstart-5.1.2-failed.yml").exit_code == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("raw: 2816\n      regular_exitcode: 11", 11),
        ("raw: 9\n      signalled_signal: 9", 137),
        ("raw: -1\n      failure_error: 2   cannot start", -1),
        ("raw: 9", 137),
        ("raw: 256", 1),
    ],
)
def test_every_way_to_end_is_a_code(read: Read, status: str, code: int) -> None:
    text = record_text().replace("raw: 0\n      regular_exitcode: 0", status)
    assert only_task(read(text)).exit_code == code


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mainjob:", "setup:", "no mainjob"),
        ("start: 2026-11-20T18:54:54.000+00:00", "start: soon", "'soon' is not a time"),
        ("    duration: 1.5\n    pid", "    duration: -3\n    pid", "-3, not seconds"),
        ("    duration: 1.5\n    pid", "    duration: .nan\n    pid", "not seconds"),
        ("raw: 0\n      regular_exitcode: 0", "corefile: false", "exit code"),
    ],
)
def test_a_record_without_the_essentials_is_a_problem(
    read: Read, old: str, new: str, why: str
) -> None:
    problem = only_problem(read(record_text().replace(old, new)))
    assert why in problem.why
    assert problem.file.endswith("cat_ID1.out.000")


@pytest.mark.parametrize(
    ("transformation", "node", "kind"),
    [
        ("pegasus::transfer", "transfer_ID1", Kind.COMPUTE),
        ("pegasus::transfer", "stage_in_remote_cori_0_0", Kind.STAGE_IN),
        ("pegasus::transfer", "stage_worker_local_demo_0_cori", Kind.OTHER),
        ("pegasus::cleanup", "clean_up_cori_level_3_0", Kind.CLEANUP),
        ("bb_setup", "bb_setup_ID0000001", Kind.BB_SETUP),
        ("stage_in_images", "stage_in_images_ID1", Kind.COMPUTE),  # the user's own
    ],
)
def test_a_job_is_known_by_its_id_and_our_own_by_their_nodes(
    transformation: str, node: str, kind: Kind
) -> None:
    job = node.partition("_ID")[2]
    assert kind_of(transformation, node, job) is kind
