"""The tasks of a cluster run one after the other, and each leaves its record."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

from pegasus_bb.planner.builtin.cluster_nodes import task_line
from pegasus_bb.report.records import parse_records
from pegasus_bb.runtime.programs.exitcode import judge
from tests.support.forked import ended
from tests.support.waiting import until

Site = Any  # tests/runtime/conftest.py


def listed(site: Site, *scripts: str) -> str:
    """A list of tasks under the recorder, as planning writes it."""
    record = site.program("record")
    return "".join(
        f"#@ {number} sh T{number}\n"
        + task_line([record, "-n", "sh", "-N", f"T{number}", "sh", "-c", script])
        + "\n"
        for number, script in enumerate(scripts, 1)
    )


def statuses(text: bytes) -> list[int]:
    """The exit statuses in the lines about the tasks."""
    found = re.findall(rb"^\[cluster-task id=\d+, status=(\d+)", text, re.MULTILINE)
    return [int(status) for status in found]


def test_every_task_runs_in_order_and_leaves_a_record(site: Site) -> None:
    """And reads nothing of the list."""
    tasks = listed(site, "cat; echo one >> ran", "test -s ran; echo 'it''s two' >> ran")
    done = site.start("cluster", "-f", stdin=tasks)
    ended(done)
    assert (site.root / "ran").read_text() == "one\nits two\n"
    records = list(parse_records(done.stdout))
    assert [(r.data or {})["derivation"] for r in records] == ["T1", "T2"]
    assert statuses(done.stdout) == [0, 0]
    assert b'[cluster-summary stat="ok", lines=2, tasks=2, succeeded=2' in done.stdout


def test_the_first_failure_is_the_status_of_the_cluster_and_with_f_ends_it(
    site: Site, tmp_path: Path
) -> None:
    tasks = listed(site, "exit 7", "touch ran")
    done = site.start("cluster", "-f", stdin=tasks)
    assert done.returncode == 7
    assert not (site.root / "ran").exists()
    assert site.start("cluster", stdin=tasks).returncode == 7
    assert (site.root / "ran").exists()
    assert b"tasks=2, succeeded=0, failed=1" in done.stdout
    (tmp_path / "node.out").write_bytes(done.stdout)
    assert "its task T1 failed (exit code 7)" in judge(str(tmp_path / "node.out")).why


def test_a_task_that_cannot_start_fails_the_cluster(site: Site) -> None:
    done = site.start("cluster", "-f", stdin="#@ 1 x X\n/no/such/program a\n")
    assert done.returncode == 127
    assert b"/no/such/program: cannot be started" in done.stderr


def test_a_list_with_an_open_quote_is_refused_before_any_task(site: Site) -> None:
    done = site.start("cluster", "-f", stdin="touch ran\nsh 'open\n")
    assert done.returncode == 2
    assert b"line 2 of the list" in done.stderr
    assert not (site.root / "ran").exists()


def test_a_signal_ends_the_task_and_no_further_one_starts(site: Site) -> None:
    """launch runs the list itself: it starts the task and nothing."""
    tasks = listed(site, "touch begun; sleep 60", "touch ran")
    process = site.begin("launch", site.program("cluster"), stdin=tasks)
    until((site.root / "begun").exists)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    (child,) = children.split()
    below = Path(f"/proc/{child}/task/{child}/children").read_text()
    (task,) = below.split()
    assert Path(f"/proc/{task}/comm").read_text() == "sh\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 128 + signal.SIGTERM
    assert b"tasks=2, succeeded=0, failed=1" in process.stdout.read()
    assert not (site.root / "ran").exists()
