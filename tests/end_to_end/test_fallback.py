"""--bb-fallback pfs: without a reservation the same submit directory runs on."""

from __future__ import annotations

import json
from typing import Any

from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from tests.support.user_site import Site, done_well, expected
from tests.support.waiting import until

SAID = "ON THE PFS, NOT ON A BURST BUFFER (fallback): "
FALLBACK = ("--bb-mode", "persistent", "--bb-fallback", "pfs", "--bb-poll", "1s")
ONCE = "-Ddagman.retry=0"


def ran_on_the_pfs(site: Site, because: str) -> None:
    """Right to the last byte, said aloud, and nothing is left anywhere."""
    done = site.run("bb")
    assert done_well(done)
    [said] = [line for line in done.stderr.splitlines() if SAID in line]
    assert because in said
    assert site.content("bb") == expected()
    assert_no_task_saw_the_tier(site)
    assert site.reservations() == []
    assert [p for p in (site.root / "pfs").rglob("*") if not p.is_dir()] == []


def assert_no_task_saw_the_tier(site: Site) -> None:
    cwds = [task["cwd"] for task in site.tasks("bb").values()]
    assert len(cwds) == 5
    assert all(str(site.root / "pfs") in cwd for cwd in cwds)
    outs = [p.read_text() for p in site.submit_dir("bb").glob("*/*/*.out.*")]
    fast = f"{site.tier_path}/{request(site).name}/"
    assert not any(fast in out for out in outs)


def request(site: Site) -> Request:
    path = site.submit_dir("bb") / "bb" / "request.json"
    return Request.from_json(json.loads(path.read_text()))


def decision(site: Site) -> dict[str, Any]:
    path = site.submit_dir("bb") / "bb" / "storage_decision.json"
    data: dict[str, Any] = json.loads(path.read_text())
    return data


def events(site: Site) -> list[str]:
    return [line["event"] for line in site.ledger()]


def test_a_refused_reservation(site: Site) -> None:
    site.declare(fail="create: no such project")
    site.planned("bb", *FALLBACK)
    ran_on_the_pfs(site, "no such project")
    found = decision(site)
    assert (found["to"], found["exit_code"]) == ("pfs", 76)
    assert found["prefix"] == str(site.root / "pfs")
    assert events(site) == ["requested", "refused"]
    told = json.loads(site.bb("status", "--json", str(site.submit_dir("bb"))).stdout)
    assert told["nodes"]["done"] == told["nodes"]["total"]


def test_a_reservation_that_comes_too_late_is_given_back(site: Site) -> None:
    site.declare(delay="1h")
    site.planned("bb", *FALLBACK, "--bb-wait", "0s")
    ran_on_the_pfs(site, "did not come up within 0.0 s")
    assert decision(site)["exit_code"] == 77
    assert events(site) == ["requested", "released"]


def test_once_anything_was_written_there_is_no_fallback(site: Site) -> None:
    site.trouble.write_text("d.dat")
    site.planned("bb", *FALLBACK, ONCE)
    site.fails("bb")
    assert decision(site)["to"] == "bb"
    FolderBackend(request(site).settings).delete(request(site))
    site.trouble.unlink()
    again = site.run("bb")
    assert again.returncode == 76
    assert "is not there any more" in again.stderr
    assert decision(site)["to"] == "bb"
    assert SAID not in again.stderr


def test_files_that_live_behind_links(site: Site) -> None:
    elsewhere = {"inputs": "pfs", "intermediate": "pfs", "outputs": "pfs"}
    site.declare(fail="create: no such project", **elsewhere)
    site.planned("bb", *FALLBACK, "--cleanup", "none")
    site.finishes("bb")
    left = [p for p in (site.root / "pfs").rglob("*") if p.is_symlink()]
    assert all(p.resolve().parent == site.root / "inputs" for p in left)
    assert (site.root / "inputs" / "in.txt").read_text() == "ACGT" * 1000


def test_started_over_though_one_stands_that_came_late(site: Site) -> None:
    """Nothing of the run is on it, so it need not be discarded first."""
    site.declare(delay="1s")
    site.trouble.write_text("d.dat")
    site.planned("bb", *FALLBACK, ONCE, "--bb-wait", "0s")
    site.fails("bb")
    assert len(site.reservations()) == 1
    site.trouble.unlink()
    backend = open_backend("directory", request(site).settings)
    until(lambda: backend.status(request(site)).state is State.READY)
    done = site.bb("run", "--restart", str(site.submit_dir("bb")))
    assert done_well(done)
    assert decision(site)["to"] == "bb"
    site.has_all_results("bb")


# -- it is seen


def test_status_ls_and_report_say_so(site: Site) -> None:
    site.declare(fail="status: held, no such project; delete: device busy")
    site.planned("bb", *FALLBACK, ONCE)
    site.fails("bb")
    folder = str(site.submit_dir("bb"))
    assert SAID in site.bb("status", folder).stdout
    fallback = json.loads(site.bb("status", "--json", folder).stdout)["fallback"]
    assert fallback["to"] == "pfs"
    assert "held, no such project" in fallback["because"]

    assert "its run is on the PFS, not on this" in site.bb("ls").stdout
    [listed] = json.loads(site.bb("ls", "--json").stdout)
    assert listed["fallback"] == {"to": "pfs", "because": fallback["because"]}

    numbers = site.root / "numbers.json"
    told = site.bb("report", "--pfs", folder, "--bb", folder, "--json", str(numbers))
    [line] = [x for x in told.stdout.splitlines() if x.startswith("*** BB run 1")]
    assert "WAS REALLY ON THE PFS" in line and "held, no such project" in line
    assert "it says nothing about the burst buffer" in " ".join(told.stdout.split())
    [run] = json.loads(numbers.read_text())["runs"]["bb"]
    assert run["fallback"] == listed["fallback"]
