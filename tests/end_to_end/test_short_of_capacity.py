"""A tier that cannot hold all files at once never holds more than was asked for."""

from __future__ import annotations

import re

import pytest

from pegasus_bb.model.placement import PFS
from pegasus_bb.runtime.bbdir import BBDir
from tests.support.chains import INPUT, Chains, watched
from tests.support.user_site import Site, done_well

CHAINS = Chains(width=3, rungs=4)
CAPACITY = 2 << 20  # of 4.5 MB; two levels have 1.8 MB


@pytest.fixture
def short(site: Site) -> Site:
    """A site whose tier has room for two levels of the chains."""
    for name, data in CHAINS.inputs().items():
        (site.root / "inputs" / name).write_bytes(data)
    site.write()
    site.save("workflow.yml", CHAINS.workflow())
    site.declare(capacity=str(CAPACITY))
    return site


def test_in_phases_the_tier_is_never_filled(short: Site) -> None:
    submit = short.planned("bb", "--bb-mode", "persistent")
    assert BBDir(str(submit / "bb")).request().capacity == 2 << 20
    with watched(short.tier_path) as most:
        done = short.run("bb")
    assert done_well(done)
    assert short.content("bb") == CHAINS.results()
    assert INPUT < most[0] <= CAPACITY
    assert short.reservations() == []


def test_without_clean_up_on_the_way_some_files_go_to_the_pfs(short: Site) -> None:
    done = short.plan("bb", "--bb-mode", "persistent", "--cleanup", "leaf")
    assert done_well(done)
    assert "to the PFS because capacity is short" in done.stderr
    files = BBDir(str(short.submit_dir("bb") / "bb")).placement()["files"]
    gone = [lfn for lfn, file in files.items() if file["tier"] == PFS]
    assert {lfn for lfn in files if lfn.startswith("0-")} <= set(gone)
    with watched(short.tier_path) as most:
        done = short.run("bb")
    assert done_well(done)
    assert short.content("bb") == CHAINS.results()
    assert INPUT < most[0] <= CAPACITY


def test_a_dag_that_somebody_took_the_barriers_from_does_not_run(short: Site) -> None:
    submit = short.planned("bb", "--bb-mode", "persistent")
    text = (submit / "chains-0.dag").read_text()
    barrier = re.compile(r"^(PARENT clean_up\S+ CHILD.*?)( mix_\S+)+", flags=re.M)
    edited = barrier.sub(r"\1", text)
    assert edited != text
    short.edit_dag("bb", edited)
    done = short.run("bb")
    assert done.returncode == 2
    assert "there could be" in done.stderr
    assert short.reservations() == []
