"""A tier with two pools: files lie apart by their lives, and no task notices."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.support.user_site import Site, done_well, expected
from tests.support.waiting import until

POOLS = [
    {"name": "small", "path": "flash/one", "class": "short", "capacity": "70KiB"},
    {"name": "other", "path": "flash/two"},
]


@pytest.fixture
def pooled(site: Site) -> Site:
    site.declare(pools=POOLS)
    return site


def pool_of(site: Site, run: str) -> dict[str, str]:
    files = json.loads((site.submit_dir(run) / "bb/placement.json").read_text())
    return {lfn: entry.get("pool", "") for lfn, entry in files["files"].items()}


def on_pools(site: Site) -> dict[str, set[str]]:
    """What lies in each pool."""
    found = {}
    for pool in POOLS:
        folder = site.tier_path / pool["path"]
        found[pool["name"]] = {p.name for p in folder.rglob("*") if p.is_file()}
    return found


def test_results_are_those_of_the_pfs_and_nothing_is_left(pooled: Site) -> None:
    said = pooled.plan("bb", "--bb-mode", "persistent").stderr
    assert re.search(r"(?m)^pools: +\d+ files? in other, \d+ files? in small$", said)
    assert done_well(pooled.run("bb"))
    assert pooled.content("bb") == expected()
    assert set(pool_of(pooled, "bb").values()) == {"small", "other"}
    left = [path for path in pooled.tier_path.rglob("*") if path.is_file()]
    assert {path.name[0] for path in left} <= {"."}  # the tier's own
    assert pooled.reservations() == ["flash"]
    assert not list(pooled.tier_path.glob("flash/*/*"))


def test_while_it_runs_each_file_lies_in_its_pool(pooled: Site) -> None:
    """Stage-in and tasks alike: `sub/c.dat` has a folder, `a.dat` two readers."""
    pooled.planned("bb", "--bb-mode", "persistent", "--cleanup", "none")
    begun = pooled.slow(300, result="e.dat")
    engine = pooled.start_run("bb")
    until(begun.exists)
    found = pool_of(pooled, "bb")
    for name, files in on_pools(pooled).items():
        wanted = {lfn for lfn, pool in found.items() if pool == name} - {"e.dat"}
        assert files == {Path(lfn).name for lfn in wanted} != set()
    engine.send_signal(signal.SIGTERM)
    engine.wait()


def test_a_result_that_is_not_safe_keeps_its_pool(pooled: Site) -> None:
    pooled.planned("bb", "--bb-mode", "persistent")
    pooled.results("bb").mkdir()
    pooled.results("bb").joinpath("d.dat").mkdir()  # stage-out cannot write there
    (pooled.results("bb") / "d.dat" / "a file of the user's").touch()
    pooled.fails("bb")
    name = pooled.request("bb")["name"]
    (kept,) = pooled.tier_path.glob(f"flash/*/{name}/d.dat")
    assert kept.read_bytes() == expected()["d.dat"]
    refused = pooled.bb("release", name)
    assert refused.returncode == 79
    assert kept.exists()

    (pooled.results("bb") / "d.dat" / "a file of the user's").unlink()
    pooled.results("bb").joinpath("d.dat").rmdir()
    assert done_well(pooled.run("bb"))
    assert pooled.content("bb") == expected()
    assert not list(pooled.tier_path.glob("flash/*/*"))
