"""A job on a disk of its node: what it finds there, what it leaves, what is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pegasus_bb.report.run_notes import jobs_on_pfs
from tests.support.forked import ended
from tests.support.job_reservation_site import JOB, NODE, JobSite
from tests.support.waiting import until

from .test_job_reservation import MAKE, refused


@pytest.fixture
def node(tmp_path: Path) -> JobSite:
    return JobSite(tmp_path, "node-local")


def needs(site: JobSite, capacity: int) -> None:
    site.reserve(capacity=capacity)


def folders(site: JobSite) -> list[Path]:
    return list(site.fast.iterdir())


class TestItsOwnFolder:
    def test_results_come_back_and_nothing_is_left(self, node: JobSite) -> None:
        done = node.launch(f"stat -c %a ..; {MAKE}", SLURM_JOB_ID="77")
        assert (done.returncode, done.stdout) == (0, b"700\n")
        assert (node.landing / "out.txt").read_text() == "input\n"
        assert node.note["slurm"] == ""  # Slurm keeps nothing of them
        assert node.launch("echo half > out.txt; exit 3").returncode == 3
        assert folders(node) == []
        assert not (node.root / "ledger.jsonl").exists()

    def test_results_do_not_come_back_to_where_the_pfs_was(self, node: JobSite) -> None:
        node.cwd = node.root
        vanishes = f"mv '{node.scratch.parent}' '{node.root}/away'"
        here = str(node.scratch)
        done = node.launch(f'cd "$1"; {MAKE}; {vanishes}', here)
        assert done.returncode != 0
        assert b"was there when the run began" in done.stderr
        assert not node.scratch.exists()


class TestLeftOver:
    def test_the_folder_of_a_running_job_is_left_alone(self, node: JobSite) -> None:
        go_on = node.root / "go on"
        waits = f"touch here; while [ ! -e '{go_on}' ]; do sleep 0.02; done; {MAKE}"
        with node.start(waits) as other:
            try:
                until(lambda: list(node.fast.glob("*/run/here")))
                ended(node.launch(MAKE, CONDOR_JOBID="8.0"))
                assert len(folders(node)) == 1
            finally:
                go_on.touch()
            assert other.wait(120) == 0
        assert folders(node) == []

    def test_what_is_not_ours_is_left_alone(self, node: JobSite) -> None:
        here = f"pegasus_bb.{os.uname().nodename}."
        kept = node.root / "kept"
        kept.mkdir()
        (node.fast / f"{here}link").symlink_to(kept)
        (node.fast / "pegasus_bb.another-host.x").mkdir()
        (node.fast / "data").mkdir()
        ended(node.launch(MAKE))
        assert {p.name for p in folders(node)} == {
            f"{here}link",
            "pegasus_bb.another-host.x",
            "data",
        }
        assert kept.exists()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/no/nvme", "no node-local disk on"),
        ("$SLURM_TMPDIR", "is not set in this"),
    ],
)
def test_a_disk_that_is_not_there_is_never_made(
    node: JobSite, path: str, words: str
) -> None:
    node.declare(path=path)
    refused(node, words, path)
    assert node.note["status"] != 0
    assert not Path("/no").exists()


class TestFull:
    def test_the_job_works_on_the_pfs_and_says_why_before_it_starts(
        self, node: JobSite
    ) -> None:
        needs(node, 1 << 60)
        done = node.launch(f"pwd; cat {node.bb}/elsewhere/*; {MAKE}")
        ended(done)
        where, note = done.stdout.decode().split("\n", 1)
        assert where.startswith(f"{node.landing}.room/")
        assert b"free, and this job needs 1,024.0 PiB; this job works" in done.stderr
        assert (node.landing / "out.txt").read_text() == "input\n"
        assert not Path(f"{node.landing}.room").exists()
        assert node.note["since"] == 0
        assert folders(node) == []
        said = json.loads(note)
        assert (said["node"], said["job"]) == (NODE, JOB)
        assert said["host"] == os.uname().nodename
        assert "free, and this job needs 1,024.0 PiB" in said["because"]
        ((away,), problems) = jobs_on_pfs(node.bb.parent)
        assert (away.because, problems) == (said["because"], ())

    def test_what_cannot_be_noted_is_not_done(self, node: JobSite) -> None:
        needs(node, 1 << 60)
        (node.bb / "elsewhere").symlink_to(node.root / "nowhere")
        done = node.launch("touch started")
        assert done.returncode != 0
        assert f"{node.bb}/elsewhere".encode() in done.stderr
        assert node.note["status"] != 0
        assert list(node.root.rglob("started")) == []


class TestTemporaryFiles:
    def test_they_are_in_an_empty_folder_on_the_disk_and_go(
        self, node: JobSite
    ) -> None:
        node.declare(temp="true")
        said = 'echo "$TMPDIR $TMP $TEMP"; ls -A "$TMPDIR"; mktemp'
        done = node.launch(f"{said}; {MAKE}", TMPDIR="/var/tmp", TMP="/elsewhere")
        ended(done)
        names, made = done.stdout.decode().splitlines()
        assert len({*names.split()}) == 1
        assert made.startswith(f"{names.split()[0]}/")
        assert made.startswith(f"{node.fast}/pegasus_bb.")
        assert folders(node) == []

    def test_what_a_task_says_is_not_kept_on_the_disk_that_it_fills(
        self, node: JobSite, tmp_path: Path
    ) -> None:
        node.declare(temp="true")
        record = f"'{node.bb}/bin/record' -n x sh -c 'ls -l /proc/$PPID/fd'"
        done = node.launch(f"{record}; {MAKE}", TMPDIR=str(tmp_path))
        ended(done)
        assert f"{tmp_path}/ks.out".encode() in done.stdout

    def test_a_signal_to_the_job_leaves_nothing_of_it(self, node: JobSite) -> None:
        node.declare(temp="true")
        done = node.launch('touch "$TMPDIR/x"; kill -TERM $PPID; sleep 60')
        assert done.returncode == 128 + 15, done.stderr
        assert "temporary" in node.note
        assert folders(node) == []

    def test_off_by_default_and_on_the_pfs_they_stay_where_they_are(
        self, node: JobSite
    ) -> None:
        says = f'echo "$TMPDIR"; {MAKE}'
        assert node.launch(says, TMPDIR="/var/tmp").stdout == b"/var/tmp\n"
        assert "temporary" not in node.note
        node.declare(temp="true")
        needs(node, 1 << 60)
        assert node.launch(says, TMPDIR="/var/tmp").stdout == b"/var/tmp\n"
