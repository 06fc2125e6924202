"""A pool whose nodes have a disk each, and see nothing of the submit host."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.unseen_folder import python_of_nodes, what_is_missing
from tests.support.user_site import Site, done_well, killed_when

TRANSIENT = ("--bb-mode", "transient")


@pytest.fixture
def alone(site: Site) -> Site:
    """Its nodes have a disk each, and do not see the submit directory."""
    site.has_disks(mount="any", submit_dir="local")
    return site


@pytest.fixture
def pool(alone: Site) -> Site:
    if why := what_is_missing():
        pytest.skip(why)
    return alone


def planned(pool: Site, *more: str) -> Path:
    on_nodes = ("--bb-python", str(python_of_nodes(pool.root)))
    return pool.planned("bb", *TRANSIENT, *on_nodes, *more)


@pytest.mark.parametrize("chains", ["off", "on"])
def test_files_come_and_go_with_each_job(pool: Site, chains: str) -> None:
    folder = planned(pool, "--bb-chains", chains)
    pool.finishes("bb")
    assert not list((pool.root / "nvme").iterdir())
    assert list((folder / "bb/stage_out").glob("*.json"))
    assert not list(pool.root.glob("pfs/**/.pegasus_bb_landing/*"))


def test_a_failed_task_is_tried_again_and_its_note_comes_back(pool: Site) -> None:
    folder = planned(pool, "--cleanup", "none")
    pool.trouble.write_text("d.dat")
    pool.fails("bb")
    failed = json.loads((folder / "bb/stage_out/mix_D.json").read_text())
    assert failed["status"] == 1
    said = pool.tasks("bb")["D"]["files"]["stderr"]["data"]
    assert "the disk on my desk is full" in said
    pool.trouble.unlink()
    pool.finishes("bb")
    assert not list(pool.root.glob("pfs/**/.pegasus_bb_landing/*"))


def test_an_input_that_a_task_changes_is_its_own(pool: Site) -> None:
    """Two tasks read what A has made; the first one spoils its copy."""
    task = pool.root / "mix.py"
    spoil = "open(inputs[0], 'a').write('spoilt') if out == 'b.dat' else None"
    task.write_text(f"{task.read_text()}{spoil}\n")
    planned(pool)
    pool.finishes("bb")


def test_a_disk_without_room_fails_its_job_and_nothing_else(pool: Site) -> None:
    folder = planned(pool, "--bb-capacity", "1000PiB")
    pool.fails("bb")
    said = "".join(each.read_text() for each in folder.glob("*/*/mix_A.err.*"))
    assert "this job needs" in said
    assert "on the PFS" not in said


# Lets the disk be a second mount of the file system where the job starts.
SECOND_MOUNT = """#!/bin/sh
[ -n "$PEGASUS_BB_SUBMIT_DIR" ] || exec {python} "$@"
mkdir -p "$_CONDOR_SCRATCH_DIR/disk"
exec unshare --mount --propagation private sh -c '
    mount --bind "$_CONDOR_SCRATCH_DIR/disk" {disk} && exec {python} "$@"
' sh "$@"
"""


def test_a_second_mount_of_one_file_system_is_no_obstacle(pool: Site) -> None:
    """As with HTCondor's MOUNT_UNDER_SCRATCH: no rename leads from one to the other."""
    python = pool.root / "python-of-nodes"
    text = SECOND_MOUNT.format(python=sys.executable, disk=pool.root / "nvme")
    python.write_text(text)
    python.chmod(0o755)
    pool.planned("bb", *TRANSIENT, "--bb-python", str(python))
    pool.finishes("bb")


REFUSED = [
    (("--bb-mode", "off"), "--bb-mode transient, or a plain pegasus-plan"),
    ((*TRANSIENT, "--bb-keep-failed", "on"), "leave --bb-keep-failed out"),
    ((*TRANSIENT, "--bb-darshan", "auto"), "Darshan writes its logs to the submit"),
]


@pytest.mark.parametrize(("options", "says"), REFUSED)
def test_what_needs_the_submit_host_is_refused(
    alone: Site, options: tuple[str, ...], says: str
) -> None:
    assert says in alone.refuses("bb", *options)


def test_a_file_on_the_pfs_is_refused(site: Site) -> None:
    site.has_disks(mount="any", submit_dir="local", outputs="pfs")
    said = site.refuses("bb", *TRANSIENT)
    assert "d.dat lives on the PFS" in said
    assert "nodes see nothing of the submit host" in said


def test_a_name_that_a_list_of_htcondor_cannot_have_is_refused(alone: Site) -> None:
    with alone.edited("workflow.yml") as workflow:
        for use in (use for job in workflow["jobs"] for use in job["uses"]):
            use.update(lfn="a,b.dat") if use["lfn"] == "a.dat" else None
    assert "HTCondor's lists of files have no commas" in alone.refuses("bb", *TRANSIENT)


def test_a_checkpoint_is_refused(alone: Site) -> None:
    with alone.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["uses"].append({"lfn": "saved", "type": "checkpoint"})
    assert "checkpoint saved is saved to the scratch" in alone.refuses("bb", *TRANSIENT)


def test_a_real_pegasus_plans_no_such_run(alone: Site) -> None:
    said = alone.refuses("bb", *TRANSIENT, "--bb-planner", "pegasus")
    assert "pegasus-plan" in said


@pytest.mark.parametrize("name", ["bin", "runtime.zip", "transient.json"])
def test_a_scratch_with_the_name_of_a_file_of_ours_is_refused(
    alone: Site, name: str
) -> None:
    said = alone.refuses("bb", *TRANSIENT, "--relative-dir", f"runs/{name}")
    assert "another last name would do" in said


def test_files_that_the_user_lets_travel_come_and_go_as_well(alone: Site) -> None:
    with alone.edited("workflow.yml") as workflow:
        brings = {"transfer_input_files": "own.cfg, /etc/hosts"}
        brings |= {"transfer_output_files": "own.log"}
        workflow["jobs"][0]["profiles"] = {"condor": brings}
    folder = alone.planned("bb", *TRANSIENT)
    job = (folder / "00/00/mix_A.sub").read_text()
    assert f", {folder}/own.cfg, /etc/hosts\n" in job
    assert ".pegasus_bb_landing/mix_A, own.log\n" in job


def test_auto_takes_no_mode_that_the_pool_refuses(pool: Site) -> None:
    """By the speeds alone it would be off."""
    fast, slow = ({"read": rate, "write": rate} for rate in ("1GB/s", "10KB/s"))
    speeds = {"cluster": {"slots": 2, "pfs": fast, "nvme": slow}}
    (pool.work / "speeds.yml").write_text(json.dumps(speeds))
    auto = ("--bb-mode", "auto", "--bb-speeds", "speeds.yml")
    shown = pool.bb("explain", *auto, "--sites", "cluster", check=True).stdout
    assert "\njob A: " in shown and "\npreferred: transient; " in shown
    done = pool.plan("bb", *auto)
    assert done_well(done)
    assert pool.plan_file("bb")["mode"] == "transient"
    assert "\noff (refused)  " in done.stderr
    assert "off cannot be chosen: " in done.stderr


def test_what_a_killed_engine_has_brought_goes_with_the_next_run(pool: Site) -> None:
    temporary = pool.root / "temporary"
    temporary.mkdir()
    pool.environment["TMPDIR"] = str(temporary)
    planned(pool)
    killed_when(pool, "bb", "mix_B", pool.slow(60, "b.dat"))
    assert list(temporary.glob("pegasus-bb-*"))
    pool.write_task()
    pool.finishes("bb")
    assert not list(temporary.glob("pegasus-bb-*"))
