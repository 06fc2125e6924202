"""Two tiers of one site in one run: a shared buffer, and a disk of each node for what
one job makes for nobody else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .conftest import Site, expected
from .test_hybrid import hybrid, request_of
from .test_transient import ledger

GOLDEN = Path(__file__).parents[1] / "placement" / "golden" / "explain-two-tiers.txt"


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    """The second tier; the first is the folder ``fast``."""
    folder = site.root / "nvme"
    folder.mkdir()
    site.declare(granularity="1KiB")
    sites = site.document("sites.yml")
    nvme = {"name": "nvme", "backend": "node-local", "path": str(folder)}
    sites["x-storage-tiers"]["cluster"].append({**nvme, "mount": "any"})
    site.save("sites.yml", sites)
    return folder


def test_inputs_and_outputs_of_one_job_are_on_different_tiers(
    site: Site, disk: Path
) -> None:
    task = site.root / "mix.py"
    told = 'print(out, os.path.realpath("."), *map(os.path.realpath, inputs))\n'
    task.write_text(task.read_text().replace("time.sleep(0.02)\n", told))
    submit = hybrid(site, "bb")
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = [
        line
        for record in submit.glob("*/*/mix_E.out.*")
        for line in record.read_text().splitlines()
        if "e.dat /" in line
    ]
    _, where, read = line[line.index("e.dat") :].split()
    assert where.startswith(f"{disk}/pegasus_bb.")
    assert read.startswith(f"{site.tier_path}/{request_of(submit)['name']}/")


def test_the_results_are_the_same_bytes_as_on_the_pfs(site: Site, disk: Path) -> None:
    hybrid(site, "bb")
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []
    assert list(disk.iterdir()) == []
    assert list((site.root / "pfs").rglob("*.dat")) == []


def test_one_reservation_is_asked_for_and_given_back(site: Site) -> None:
    submit = hybrid(site, "bb")
    assert site.run("bb").returncode == 0
    name = request_of(submit)["name"]
    events = [(line["name"], line["event"]) for line in ledger(site)]
    assert events == [(name, "requested"), (name, "released")]
    transient = json.loads((submit / "bb/transient.json").read_text())
    assert (request_of(submit)["tier"], transient["tier"]) == ("bb", "nvme")


def test_a_failed_task_keeps_what_is_shared_and_leaves_its_disk_empty(
    site: Site, disk: Path
) -> None:
    site.trouble.write_text("e.dat")
    submit = hybrid(site, "bb", "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert site.reservations() == [request_of(submit)["name"]]
    assert list(disk.iterdir()) == []
    site.trouble.unlink()
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()


def test_the_user_may_have_rooms_on_the_shared_tier(site: Site, disk: Path) -> None:
    submit = hybrid(site, "bb", "--bb-rooms", "bb")
    disk.rmdir()
    assert site.run("bb").returncode == 0
    assert site.content("bb") == expected()
    transient = json.loads((submit / "bb/transient.json").read_text())
    assert transient["tier"] == "bb"


def test_auto_knows_that_one_mode_alone_has_the_room_that_was_said(site: Site) -> None:
    slow, fast = ({"read": f"{n}B/s", "write": f"{n}B/s"} for n in ("50", "1G"))
    sites = site.document("sites.yml")
    sites["x-storage-speeds"] = {"cluster": {"pfs": slow, "bb": fast, "nvme": fast}}
    site.save("sites.yml", sites)
    (site.work / "places.yml").write_text("- {lfn: e.dat, tier: nvme}\n")
    words = ("--bb-mode", "auto", "--bb-placement", "places.yml")
    done = site.plan("bb", *words)
    assert done.returncode == 0, done.stderr
    for mode in ("persistent", "transient"):
        assert (
            f"{mode} cannot be chosen: a room on another tier was said for e.dat"
            in (done.stderr)
        )
    assert "preferred: hybrid: " in done.stderr
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()


def test_explain_and_check_name_both(site: Site) -> None:
    words = ("--sites", "cluster", "--output-sites", "local", "--bb-mode", "hybrid")
    told = site.bb("explain", *words, check=True).stdout
    if os.environ.get("REFRESH_GOLDEN"):
        GOLDEN.write_text(told)
    assert told == GOLDEN.read_text()
    data = json.loads(site.bb("explain", "--json", *words, check=True).stdout)
    assert (data["tier"], data["rooms_on"]) == ("bb", "nvme")
    told = site.bb("check", *words, "--bb-planner", "builtin").stdout
    assert str(site.tier_path) in told
    assert "is looked at on each node, when a job starts there" in told


@pytest.mark.parametrize("mode", ["persistent", "transient", "off"])
def test_a_second_tier_is_of_no_use_in_other_modes(site: Site, mode: str) -> None:
    done = site.plan("bb", "--bb-mode", mode, "--bb-rooms", "nvme")
    assert done.returncode == 2
    assert "--bb-rooms is for --bb-mode hybrid" in done.stderr
    as_property = site.plan("bb", "--bb-mode", mode, "-Dpegasus.bb.rooms=nvme")
    assert as_property.returncode == 0, as_property.stderr
