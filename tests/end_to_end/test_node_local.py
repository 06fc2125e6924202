"""A folder for each job on the disk of its node: nothing is reserved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report.run_folder import read_run
from pegasus_bb.run.engine.processes import end_left_over
from tests.support.user_site import Site, done_well, expected, killed_when


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    """Every node of this site has one: the only node is this machine."""
    folder = site.root / "nvme"
    folder.mkdir()
    tier = {"name": "nvme", "backend": "node-local", "path": str(folder)}
    declare(site, {**tier, "mount": "any", "granularity": "1MiB"})
    return folder


def declare(site: Site, *tiers: dict[str, str]) -> None:
    sites = site.document("sites.yml")
    sites["x-storage-tiers"]["cluster"] = list(tiers)
    site.save("sites.yml", sites)


def planned(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def errors_of(folder: Path, node: str) -> str:
    return "".join(f.read_text() for f in folder.glob(f"*/*/{node}.err.*"))


def test_a_full_disk_sends_its_job_to_the_pfs_and_says_so(
    site: Site, disk: Path
) -> None:
    folder = planned(site, "bb", "--bb-capacity", "1000PiB")
    done = site.run("bb")
    assert done_well(done)
    assert site.content("bb") == expected()
    assert f"{disk} on " in errors_of(folder, "mix_A")
    assert "this job works on the PFS" in errors_of(folder, "mix_A")
    said = "ON THE PFS, BECAUSE THE TIER WAS FULL: 5 of 5 jobs"
    told = site.bb("status", str(folder)).stdout
    assert said in done.stderr and said in told
    assert f"mix_A: {disk} on " in told
    status = json.loads(site.bb("status", "--json", str(folder)).stdout)
    assert [job["node"][:5] for job in status["on_pfs"]] == [
        f"mix_{n}" for n in "ABCDE"
    ]
    reported = site.bb("report", "--pfs", str(folder), "--bb", str(folder)).stdout
    assert "*** BB run 1: 5 OF 5 JOBS WERE ON THE PFS: " in reported
    started_over_with_room_all_is_well(site, folder)


def started_over_with_room_all_is_well(site: Site, folder: Path) -> None:
    for file in (folder / "bb/nodes").glob("*.json"):
        data = json.loads(file.read_text())
        data["reservation"]["capacity"] = 1
        file.write_text(json.dumps(data))
    done = site.bb("run", "--restart", str(folder))
    assert done_well(done)
    assert "moved aside: " in done.stderr and "elsewhere.000" in done.stderr
    assert json.loads(site.bb("status", "--json", str(folder)).stdout)["on_pfs"] == []
    assert not (site.root / "ledger.jsonl").exists()
    assert read_run(folder).reserved is None


def test_a_disk_that_is_not_there_fails_its_jobs_by_name(
    site: Site, disk: Path
) -> None:
    folder = planned(site, "bb", "-Ddagman.retry=0")
    disk.rmdir()
    failed = site.run("bb")
    assert failed.returncode == 80
    assert f"{disk} (path {disk}) is no folder" in errors_of(folder, "mix_A")
    disk.mkdir()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()


@pytest.mark.sweep
def test_a_killed_run_goes_on_and_its_folder_goes(site: Site, disk: Path) -> None:
    begun = site.slow(60)
    folder = planned(site, "bb")
    killed_when(site, "bb", "mix_A", begun)
    end_left_over(folder / "bb" / "engine.jsonl")
    assert list(disk.iterdir()) != []
    site.write_task()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize("mode", ["persistent", "hybrid"])
def test_what_several_jobs_share_cannot_live_there(site: Site, mode: str) -> None:
    done = site.plan("bb", "--bb-mode", mode)
    assert done.returncode == 2
    lines = (site.work / "sites.yml").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "backend:" in text)
    assert f"sites.yml:{line}: the disk of a node holds nothing" in done.stderr
    assert "x-storage-tiers.cluster.0.backend" in done.stderr
    assert not site.submit_dir("bb").exists()


def test_a_job_that_needs_more_than_one_may_take_is_named(site: Site) -> None:
    sites = site.document("sites.yml")
    sites["x-storage-tiers"]["cluster"][0]["quota"] = "100KiB"
    site.save("sites.yml", sites)
    done = site.plan("bb", "--bb-mode", "transient")
    assert done.returncode == 2
    assert "workflow.yml:" in done.stderr
    assert "needs 1.0 MiB (1048576 bytes) on tier nvme for itself" in done.stderr


def test_explain_and_check_and_plan_say_that_nothing_is_reserved(site: Site) -> None:
    words = ("--sites", "cluster", "--bb-mode", "transient")
    told = site.bb("explain", *words, check=True).stdout
    assert "job A: 1.0 MiB for 66.4 KiB, 1 file in, 1 out" in told
    assert "capacity: up to 1.0 MiB for each job" in told
    assert "has to be free on its node, nothing is reserved" in told
    told = site.bb("check", *words, "--bb-planner", "builtin").stdout
    assert "is looked at on each node, when a job starts there" in told
    planned = site.plan("bb", "--bb-mode", "transient")
    said = planned.stdout + planned.stderr
    assert "free on its node: nothing is reserved" in said


def test_auto_chooses_among_the_modes_that_such_a_disk_has(site: Site) -> None:
    speed = {"read": "1GB/s", "write": "1GB/s"}
    sites = site.document("sites.yml")
    sites["x-storage-speeds"] = {"cluster": {"pfs": speed, "nvme": speed}}
    site.save("sites.yml", sites)
    words = ("--sites", "cluster", "--bb-mode", "auto", "--json")
    found = json.loads(site.bb("explain", *words, check=True).stdout)["predicted"]
    assert sorted(found["refused"]) == ["hybrid", "persistent"]
    by_mode = {mode["mode"]: mode for mode in found["modes"]}
    assert by_mode["transient"]["byte_hours"] == 0
