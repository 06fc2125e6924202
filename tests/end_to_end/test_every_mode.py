"""Whichever mode a run has, nothing but the speed changes."""

from __future__ import annotations

import pytest

from .conftest import ELSEWHERE, INPUTS, Site, expected

pytestmark = pytest.mark.parametrize("mode", ["persistent", "transient"])


def test_the_results_are_the_same_bytes_as_on_the_pfs(site: Site, mode: str) -> None:
    site.planned("pfs", "--bb-mode", "off")
    assert site.run("pfs").returncode == 0
    site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s")
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == site.content("pfs") == expected()
    assert site.reservations() == []


def test_tasks_get_the_very_arguments_that_they_always_got(
    site: Site, mode: str
) -> None:
    site.planned("pfs", "--bb-mode", "off")
    site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s")
    for run in ("pfs", "bb"):
        assert site.run(run).returncode == 0
    pfs, bb = site.records("pfs"), site.records("bb")
    tasks = [node for node in pfs if node.startswith("mix_")]
    assert len(tasks) == 5
    for node in tasks:
        on_pfs, on_bb = pfs[node]["mainjob"], bb[node]["mainjob"]
        assert on_bb["argument_vector"] == on_pfs["argument_vector"]
        assert bb[node]["cwd"].startswith(str(site.tier_path))
        assert pfs[node]["cwd"].startswith(str(site.root / "pfs"))


@pytest.mark.parametrize(
    "tier",
    [*ELSEWHERE, {"inputs": "pfs", "intermediate": "pfs", "outputs": "pfs"}],
    ids=str,
)
@pytest.mark.parametrize("cleanup", ["none", "inplace"])
def test_wherever_files_live_the_results_are_the_same(
    site: Site, mode: str, tier: dict[str, str], cleanup: str
) -> None:
    site.declare(**tier)
    site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s", "--cleanup", cleanup)
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    folder = site.root / "inputs"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == INPUTS
    assert site.reservations() == []
