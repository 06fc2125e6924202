"""Jobs that run when the reservation may be gone, and copies for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.errors import RESERVATION_FAILED
from pegasus_bb.runtime.guard import unsafe_results

PREFIX = "/bb/pbb4f1c2a9e"
NODE = "work_ID0000001"
Site = Any  # tests/runtime/conftest.py


def go_beyond(site: Site, *nodes: str) -> None:
    (site.bb / "beyond").write_text("".join(f"{node}\n" for node in nodes))


def carry(site: Site, *lfns: str) -> None:
    (site.bb / "carry").mkdir(exist_ok=True)
    copies = {lfn: str(site.pfs_scratch / lfn) for lfn in lfns}
    (site.bb / f"carry/{NODE}.json").write_text(json.dumps(copies))
    (site.bb / "plan.json").write_text(json.dumps({"scratch": f"{PREFIX}/run0001"}))


def test_such_a_job_finds_the_pfs_where_there_is_no_reservation(
    site_without_reservation: Site,
) -> None:
    site = site_without_reservation
    refused = site.start("launch", "echo", PREFIX)
    assert refused.returncode == RESERVATION_FAILED
    go_beyond(site, "other", NODE)
    done = site.start(
        "launch", "sh", "-c", f"echo {PREFIX}/run0001 $PLACE", PLACE=PREFIX
    )
    scratch = site.pfs / "scratch"
    assert done.stdout.decode() == f"{site.pfs_scratch} {scratch}\n"


@pytest.mark.parametrize("other", ["x" + NODE, NODE + "1", "ID0000001"])
def test_a_name_that_is_like_it_is_another_one(site: Site, other: str) -> None:
    go_beyond(site, other)
    done = site.start("launch", "echo", PREFIX)
    assert done.stdout.decode() == f"{site.real}\n"


def test_a_task_leaves_a_copy_of_what_such_jobs_read(site: Site) -> None:
    carry(site, "sub/a.txt")
    (site.scratch / "sub").mkdir()
    made = site.scratch / "sub/a.txt"
    done = site.start("launch", "sh", "-c", f"echo new > {made}")
    assert done.returncode == 0, done.stderr
    copy = site.pfs_scratch / "sub/a.txt"
    assert copy.read_text() == made.read_text() == "new\n"
    assert not copy.is_symlink()
    assert not made.is_symlink()


def test_an_older_try_s_copy_and_what_it_left_are_replaced(site: Site) -> None:
    carry(site, "a.txt")
    site.pfs_scratch.mkdir(parents=True)
    (site.pfs_scratch / "a.txt").write_text("old")
    (site.pfs_scratch / ".a.txt.123.abcdef.part").write_text("half of it")
    site.start("launch", "sh", "-c", f"echo new > {site.scratch}/a.txt")
    assert [p.name for p in site.pfs_scratch.iterdir()] == ["a.txt"]
    assert (site.pfs_scratch / "a.txt").read_text() == "new\n"


def test_a_task_that_fails_leaves_none(site: Site) -> None:
    carry(site, "a.txt")
    done = site.start("launch", "sh", "-c", f"echo x > {site.scratch}/a.txt; exit 3")
    assert done.returncode == 3
    assert not site.pfs_scratch.exists()


def test_a_job_without_its_copy_has_failed(site: Site) -> None:
    carry(site, "never-made.txt")
    done = site.start("launch", "true")
    assert done.returncode == 1
    assert b"not copied to the PFS, where later jobs read it" in done.stderr


def test_without_its_copy_the_node_has_failed_whatever_the_batch_system_says(
    site: Site,
) -> None:
    carry(site, "a.txt")
    record = (site.program("record"), "-n", "work", "sh", "-c")
    make = f"echo new > {site.scratch}/a.txt"
    done = site.start("launch", *record, make)
    out = site.root / f"{NODE}.out"
    judge = ("exitcode", "-r", "0", str(out))
    out.write_bytes(done.stdout)
    assert site.start(*judge).returncode == 0
    assert list(unsafe_results(site.bbdir, "run-1", False)) == []
    failed = site.start("launch", *record, "exit 3")  # a later try: the note is gone
    assert failed.returncode == 3
    out.write_bytes(done.stdout)
    assert site.start(*judge).returncode == 1
    (unsafe,) = unsafe_results(site.bbdir, "run-1", False)
    assert unsafe.lfn == "a.txt"
    assert "has not copied it to the PFS" in unsafe.why


def test_where_nobody_is_told_to_copy_it_the_reservation_is_kept(site: Site) -> None:
    site.place({"a.txt": "bb write"})
    placement = json.loads((site.bb / "placement.json").read_text())
    placement["carried"] = ["a.txt"]
    (site.bb / "placement.json").write_text(json.dumps(placement))
    (unsafe,) = unsafe_results(site.bbdir, "run-1", False)
    assert "nothing in bb/carry says who copies it" in unsafe.why
    carry(site, "a.txt")
    (site.bb / "carried").mkdir()
    (site.bb / f"carried/{NODE}").write_text("")
    assert list(unsafe_results(site.bbdir, "run-1", False)) == []


def job_list(*entries: dict[str, Any]) -> str:
    return json.dumps([{"id": n, **entry} for n, entry in enumerate(entries, 1)])


def bring(lfn: str, source: str, dest: str) -> dict[str, Any]:
    places = {"src_urls": [{"site_label": "cori", "url": f"file://{source}"}]}
    places["dest_urls"] = [{"site_label": "local", "url": f"file://{dest}"}]
    return {"type": "transfer", "linkage": "output", "lfn": lfn, **places}


def transfer(site: Site, *entries: dict[str, Any]) -> None:
    launched = ("launch", site.program("transfer"))
    done = site.start(*launched, stdin=job_list(*entries))
    assert done.returncode == 0, done.stderr


def test_the_run_s_folder_is_made_on_both_sides(site: Site) -> None:
    go_beyond(site, "other")
    root = f"file://{PREFIX}/run0001"
    entries = [{"type": "mkdir", "target": {"url": u}} for u in (root, f"{root}/sub")]
    transfer(site, *entries)
    assert (site.scratch / "sub").is_dir()
    assert (site.pfs_scratch / "sub").is_dir()


def test_stage_out_beyond_the_cut_notes_what_bb_delete_does_not_ask_for(
    site: Site,
) -> None:
    dest = site.out / "late.txt"
    site.place({"late.txt": "pfs write"}, {"soon.txt": f"file://{site.out}/soon.txt"})
    placement = json.loads((site.bb / "placement.json").read_text())
    placement["later"] = {"late.txt": f"file://{dest}"}
    (site.bb / "placement.json").write_text(json.dumps(placement))
    unsafe = [each.lfn for each in unsafe_results(site.bbdir, "run-1", False)]
    assert unsafe == ["soon.txt"]
    go_beyond(site, NODE)
    site.pfs_scratch.mkdir(parents=True)
    (site.pfs_scratch / "late.txt").write_text("made beyond the cut")
    remove = {"type": "remove", "target": {"url": f"file://{PREFIX}/run0001/late.txt"}}
    refused = site.start("launch", site.program("transfer"), stdin=job_list(remove))
    assert refused.returncode == 1
    assert b"it may be the last copy of the result late.txt" in refused.stderr
    transfer(site, bring("late.txt", f"{PREFIX}/run0001/late.txt", str(dest)), remove)
    assert dest.read_text() == "made beyond the cut"
    assert Path(site.bb / "manifest.jsonl").read_text().count("late.txt") >= 1
    assert not (site.pfs_scratch / "late.txt").exists()
