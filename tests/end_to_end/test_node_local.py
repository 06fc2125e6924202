"""A folder for each job on the disk of its node: nothing is reserved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site, done_well


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    return site.has_disks(mount="any", granularity="1MiB")


def planned(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def errors_of(folder: Path, node: str) -> str:
    return "".join(f.read_text() for f in folder.glob(f"*/*/{node}.err.*"))


def test_a_full_disk_sends_its_job_to_the_pfs_and_says_so(
    site: Site, disk: Path
) -> None:
    folder = planned(site, "bb", "--bb-capacity", "1000PiB")
    done = site.finishes("bb")
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


def test_temporary_files_of_a_run_are_room_in_the_next_plan(
    site: Site, disk: Path
) -> None:
    site.declare(temp=True)
    task = site.root / "mix.py"
    more = """
with open(os.environ["TMPDIR"] + "/big", "wb") as big:
    big.write(bytes(8 << 20 if out == "e.dat" else 1))
"""
    task.write_text(task.read_text() + more)
    first = planned(site, "first")
    assert done_well(site.run("first"))
    assert list(disk.iterdir()) == []
    second = planned(site, "second", "--bb-history", str(first))
    before, after = (capacities(folder) for folder in (first, second))
    assert after["E"] >= before["E"] + (8 << 20)
    assert after["A"] == before["A"]


def capacities(folder: Path) -> dict[str, int]:
    """Job -> bytes that have to be free on its node."""
    files = (folder / "bb/nodes").glob("*.json")
    notes = (json.loads(file.read_text())["reservation"] for file in files)
    return {note["job"]: note["capacity"] for note in notes}
