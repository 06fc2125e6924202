"""The user's inputs survive a run, wherever the run was told to put its own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.forked import ended
from tests.support.job_lists import SCRATCH, Site, do, folder, transfer


def stage_in_list(site: Site, *sources: Path) -> list[dict[str, object]]:
    jobs = [transfer(p.name, p, f"{SCRATCH}/{p.name}") for p in sources]
    path = site.bb.parent / "00" / "00" / "stage_in_remote_cori_0_0.in"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(jobs))
    return jobs


@pytest.mark.parametrize("how", ["same name", "hard link"])
def test_a_result_never_replaces_an_input(site: Site, how: str) -> None:
    dest = site.out / "d.dat"
    dest.write_text("input data")
    given = dest
    if how == "hard link":
        given = site.pfs / "in.txt"
        given.hardlink_to(dest)
    stage_in_list(site, given)
    site.place({"d.dat": "bb write"}, {"d.dat": str(dest)})
    (site.scratch / "d.dat").write_text("result")
    done = do(site, transfer("d.dat", f"{SCRATCH}/d.dat", dest))
    assert done.returncode == 1
    assert b"is an input of this workflow" in done.stderr
    assert dest.read_text() == "input data"


def test_an_input_that_lies_in_the_scratch_survives_cleanup(site: Site) -> None:
    site.place({"in.txt": "pfs copy"})
    own = site.pfs_scratch / "in.txt"
    own.parent.mkdir(parents=True)
    own.write_text("input data")
    jobs = stage_in_list(site, own)
    ended(do(site, folder("mkdir", SCRATCH), *jobs))
    done = do(
        site,
        folder("remove", f"{SCRATCH}/in.txt"),
        folder("remove", SCRATCH, recursive=True),
    )
    assert done.returncode == 0
    assert b"is the input itself; it was kept" in done.stderr
    assert own.read_text() == "input data"


def test_mode_off_does_not_remove_an_input_in_the_scratch(site: Site) -> None:
    own = site.pfs / "run1"
    site.plan_without_buffer(own)
    own.mkdir()
    (own / "in.txt").write_text("input data")
    (own / "thesis.txt").write_text("only copy")
    stage_in_list(site, own / "in.txt")
    jobs = [
        folder("mkdir", own),
        transfer("in.txt", own / "in.txt", own / "in.txt"),
        folder("remove", own / "in.txt"),
        folder("remove", own, recursive=True),
    ]
    done = site.start("transfer", stdin=json.dumps(jobs))
    assert done.returncode == 0
    assert b"was there before this run" in done.stderr
    assert (own / "in.txt").read_text() == "input data"
    assert (own / "thesis.txt").read_text() == "only copy"
