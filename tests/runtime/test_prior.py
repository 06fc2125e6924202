"""Jobs that run before the reservation is asked for, and what they leave for others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pegasus_bb.runtime.scratch_root import MARK

PREFIX = "/bb/pbb4f1c2a9e"
NODE = "work_ID0000001"
Site = Any  # tests/runtime/conftest.py


def go_before(site: Site, *nodes: str) -> None:
    (site.bb / "prior").write_text("".join(f"{node}\n" for node in nodes))
    (site.bb / "plan.json").write_text(json.dumps({"scratch": f"{PREFIX}/run0001"}))


def leave(site: Site, *lfns: str) -> None:
    """Jobs before it have made these, and jobs on the tier read them."""
    site.place(dict.fromkeys(lfns, "pfs write"))
    placement = json.loads((site.bb / "placement.json").read_text())
    (site.bb / "placement.json").write_text(
        json.dumps({**placement, "before": list(lfns)})
    )


def create_dir(site: Site) -> None:
    entry = {"type": "mkdir", "target": {"url": f"file://{PREFIX}/run0001"}}
    done = site.start(
        "launch", site.program("transfer"), stdin=json.dumps([{"id": 1, **entry}])
    )
    assert done.returncode == 0, done.stderr


def test_such_a_job_has_a_folder_on_the_pfs_before_anybody_made_one(
    site_without_reservation: Site,
) -> None:
    site = site_without_reservation
    go_before(site, "other", NODE)
    site.place({"sub/a.txt": "pfs write"})
    made = f"{PREFIX}/run0001/sub/a.txt"
    done = site.start("launch", "sh", "-c", f"echo new > {made}")
    assert done.returncode == 0, done.stderr
    assert (site.pfs_scratch / "sub/a.txt").read_text() == "new\n"
    assert (site.pfs_scratch / MARK).read_text() == "run-1\n"
    assert not site.real.exists()


def test_a_folder_with_somebody_s_things_is_not_made_ours(
    site_without_reservation: Site,
) -> None:
    site = site_without_reservation
    go_before(site, NODE)
    site.pfs_scratch.mkdir(parents=True)
    (site.pfs_scratch / "theirs.txt").write_text("")
    assert site.start("launch", "true").returncode == 0
    assert not (site.pfs_scratch / MARK).exists()


def test_what_it_has_left_is_found_on_the_tier(site: Site) -> None:
    leave(site, "sub/a.txt", "b.txt")
    go_before(site, "other")
    (site.pfs_scratch / "sub").mkdir(parents=True)
    (site.pfs_scratch / "sub/a.txt").write_text("made before")
    create_dir(site)
    assert (site.scratch / "sub/a.txt").read_text() == "made before"
    assert (site.scratch / "b.txt").readlink() == site.pfs_scratch / "b.txt"
    create_dir(site)  # tried again
    assert (site.scratch / "sub/a.txt").read_text() == "made before"


def test_a_clean_up_on_the_tier_takes_link_and_file(site: Site) -> None:
    leave(site, "a.txt")
    go_before(site, "other")
    create_dir(site)
    (site.pfs_scratch / "a.txt").write_text("made before")
    target = {"url": f"file://{PREFIX}/run0001/a.txt"}
    entry = {"id": 1, "type": "remove", "target": target}
    done = site.start("launch", site.program("transfer"), stdin=json.dumps([entry]))
    assert done.returncode == 0, done.stderr
    assert not (site.scratch / "a.txt").is_symlink()
    assert not (site.pfs_scratch / "a.txt").exists()


def test_its_own_clean_up_takes_the_file(site_without_reservation: Site) -> None:
    site = site_without_reservation
    leave(site, "a.txt")
    go_before(site, NODE)
    site.pfs_scratch.mkdir(parents=True)
    file: Path = site.pfs_scratch / "a.txt"
    file.write_text("made before")
    target = {"url": f"file://{PREFIX}/run0001/a.txt"}
    entry = {"id": 1, "type": "remove", "target": target}
    done = site.start("launch", site.program("transfer"), stdin=json.dumps([entry]))
    assert done.returncode == 0, done.stderr
    assert not file.exists()
