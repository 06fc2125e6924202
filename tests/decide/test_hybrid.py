"""Mode hybrid: which files leave the shared reservation, and for where."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.units import MIB
from pegasus_bb.decide.decision import Ending, PlacementDecision
from pegasus_bb.decide.sizing import automatic_capacity
from pegasus_bb.model.placement import PFS
from tests.support.any_workflow import workflows
from tests.support.user_files import User, job, said, sized, use


def makes(lfn: str, size: int, **more: Any) -> dict[str, Any]:
    return use(lfn, "output", **more, **sized(size))


def chain(own: int = 100 * MIB, shared: int = MIB) -> list[dict[str, Any]]:
    """``first`` makes what both others read, and a large file that no job reads."""
    return [
        job(
            "first",
            use("in.txt", "input", **sized(MIB)),
            makes("mid.txt", shared, stageOut=False),
            makes("own.txt", own),
        ),
        job("second", use("mid.txt", "input"), makes("two.txt", MIB)),
        job(
            "third",
            use("two.txt", "input"),
            use("mid.txt", "input"),
            use("ref.txt", "input", **sized(MIB)),
            makes("three.txt", MIB),
        ),
    ]


@pytest.fixture
def hybrid(user: User) -> User:
    user.defines = ["pegasus.bb.mode=hybrid"]
    user.jobs = chain()
    return user


def test_a_large_file_of_one_job_has_a_job_reservation_and_then_the_pfs(
    hybrid: User,
) -> None:
    placement = hybrid.decide()
    assert list(placement.job_reservations) == ["first"]
    own = placement.job_reservations["first"]
    assert (own.stage_in, own.stage_out) == ((), ("own.txt",))
    assert (own.read, own.share) == (("in.txt",), ("mid.txt",))
    assert own.need == 101 * MIB  # what it shares is made there as well
    assert own.capacity == automatic_capacity(placement.tier, 10, own.need)
    assert placement.need == 3 * MIB
    assert placement.capacity == automatic_capacity(placement.tier, 10, 3 * MIB)
    file = placement.files["own.txt"]
    assert (file.tier, file.how) == (PFS, "write")
    assert file.reason.startswith("job first makes it, no other reads it: on a reserv")


@pytest.mark.parametrize(
    ("wish", "how"), [([], "copy"), (["pegasus.transfer.links=true"], "link")]
)
def test_an_input_of_one_job_is_a_copy_unless_the_user_wants_links(
    hybrid: User, wish: list[str], how: str
) -> None:
    """A task that writes to a link changes the file of the user."""
    for lfn in ("in.txt", "ref.txt"):
        hybrid.replicas[lfn] = [{"site": "cluster", "pfn": f"/data/{lfn}"}]
    hybrid.defines += wish
    file = hybrid.decide().files["in.txt"]
    assert (file.tier, file.how) == (PFS, how)


def test_what_the_user_says_of_a_file_stands(hybrid: User) -> None:
    hybrid.jobs[0]["uses"][0].update(said("bb", MIB))
    hybrid.jobs[0]["uses"][2].update(said("bb", 100 * MIB))
    hybrid.jobs[2]["uses"][3].update(said("pfs", MIB))
    placement = hybrid.decide()
    assert placement.job_reservations == {}
    assert placement.files["in.txt"].tier == placement.files["own.txt"].tier == "bb"
    assert placement.files["three.txt"].tier == PFS


def checkpoint(user: User) -> None:
    user.jobs[0]["uses"].append(use("state", "checkpoint", **sized(1)))


def reads_what_it_makes(user: User) -> None:
    user.jobs[0]["uses"].append(use("mid.txt", "input"))


def on_the_submit_host(user: User) -> None:
    user.jobs[0]["profiles"] = {"selector": {"execution.site": "local"}}


def inner(user: User) -> None:
    user.jobs.append(job("sub", type="pegasusWorkflow", file="inner.yml"))


def results_stay(user: User) -> None:
    user.ending = Ending(delivered=False)


def given_capacity(user: User) -> None:
    user.defines.append("pegasus.bb.capacity=1GiB")


UNSERVED = [checkpoint, reads_what_it_makes, on_the_submit_host, results_stay]


@pytest.mark.parametrize("spoil", [*UNSERVED, inner, given_capacity])
def test_a_job_that_a_job_reservation_cannot_serve_keeps_to_the_shared_one(
    hybrid: User, spoil: Any
) -> None:
    spoil(hybrid)
    placement = hybrid.decide()
    assert "first" not in placement.job_reservations
    assert placement.on_tier("own.txt")


def test_run_times_decide_where_they_are_known(hybrid: User) -> None:
    """A job reservation that lasts as long as the run saves nothing."""
    hybrid.jobs = chain(own=8 * MIB, shared=1)
    assert list(hybrid.decide().job_reservations) == ["first"]
    for entry, seconds in zip(hybrid.jobs, (100_000, 1, 1), strict=True):
        entry["profiles"] = {"pegasus": {"runtime": seconds}}
    placement = hybrid.decide()
    selection = hybrid.decision().selection
    assert placement.job_reservations == {}
    assert selection is not None
    assert (selection.unit, selection.span) == ("seconds", 100_122)


# -- whatever the workflow


ANY = workflows("work", most=8, sizes=st.integers(0, 60 * MIB))


def decision(jobs: list[dict[str, Any]], mode: str) -> PlacementDecision:
    with TemporaryDirectory() as folder:
        user = User(Path(folder), jobs=jobs, defines=[f"pegasus.bb.mode={mode}"])
        inputs = ("in0", "in1", "in2")
        user.replicas = {lfn: [{"site": "far", "pfn": f"/{lfn}"}] for lfn in inputs}
        user.replica_metadata = {lfn: {"size": 3 * MIB} for lfn in inputs}
        return user.decision()


def readers_of(jobs: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in jobs:
        for each in entry["uses"]:
            readers = found.setdefault(each["lfn"], set())
            if each["type"] == "input":
                readers.add(entry["id"])
    return found


@given(ANY)
def test_in_any_workflow_every_file_has_one_place_and_the_space_it_needs(
    jobs: list[dict[str, Any]],
) -> None:
    placement = decision(jobs, "hybrid").placement
    readers = readers_of(jobs)
    assert placement.files.keys() == readers.keys()
    private = [
        lfn for own in placement.job_reservations.values() for lfn in own.stage_out
    ]
    assert len(private) == len(set(private))
    for lfn in private:
        assert not readers[lfn]
        assert not placement.on_tier(lfn)
    for lfn, file in placement.files.items():
        if file.role != "input":
            assert placement.on_tier(lfn) == (lfn not in private)
        else:
            assert placement.on_tier(lfn) == (len(readers[lfn]) > 1)

    shared = [f.size or 0 for f in placement.files.values() if f.tier != PFS]
    assert placement.need == sum(shared)
    assert placement.capacity >= placement.need
    for own in placement.job_reservations.values():
        made = (*own.stage_out, *own.share)
        assert own.capacity >= own.need
        assert own.need == sum(placement.files[lfn].size or 0 for lfn in made)


@given(ANY)
def test_in_any_workflow_hybrid_reserves_no_more_than_persistent(
    jobs: list[dict[str, Any]],
) -> None:
    hybrid = decision(jobs, "hybrid")
    persistent = decision(jobs, "persistent").placement
    selection = hybrid.selection
    placement = hybrid.placement
    assert selection is not None
    total = selection.shared + selection.job_reservations
    assert total <= selection.persistent
    assert selection.persistent == persistent.capacity * selection.span
    assert selection.shared == placement.capacity * selection.span
    capacities = [own.capacity for own in placement.job_reservations.values()]
    assert selection.job_reservations == sum(2 * each for each in capacities)
    assert placement.capacity + max(capacities, default=0) <= persistent.capacity
    assert hybrid.persistent is not None
    assert hybrid.persistent.placement.files == persistent.files
