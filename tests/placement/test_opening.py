"""Opening late: after which level, alone and with an early closing."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.placement import PFS, Opening, Placement
from pegasus_bb.placement import cutting, place
from pegasus_bb.units import MIB
from tests.placement.test_closing import GIB, makes, narrow
from tests.placement.world import World, job, said, sized, use


def growing() -> list[dict[str, Any]]:
    """Two levels that need little, then two with large files made from that."""
    return [
        job(
            "list",
            use("names.txt", "input", **sized(MIB)),
            use("table.txt", "input", **sized(MIB)),
            makes("listed.txt", MIB, stageOut=False),
        ),
        job("pick", use("listed.txt", "input"), makes("picked.txt", MIB)),
        job(
            "build",
            use("picked.txt", "input"),
            use("table.txt", "input"),
            use("in.txt", "input", **sized(GIB)),
            makes("a.txt", GIB, stageOut=False),
        ),
        job("merge", use("a.txt", "input"), makes("large.txt", GIB)),
    ]


@pytest.fixture
def opening(world: World) -> World:
    world.defines = ["pegasus.bb.mode=persistent", "pegasus.bb.headroom=0"]
    world.defines += ["pegasus.bb.open=auto"]
    world.tier = {"granularity": "1MiB"}
    world.jobs = growing()
    return world


def found(world: World) -> Opening:
    opening = world.decide().opening
    assert opening is not None
    return opening


def none(world: World) -> str:
    at = found(world)
    assert (at.jobs, at.files) == (frozenset(), frozenset())
    return at.why_none


def after(world: World, runs: dict[str, float], wait: float | None = None) -> Placement:
    """With what an earlier run has shown."""
    workflow, catalogs, settings = world.read()
    past = History(jobs={n: Past(took) for n, took in runs.items()}, wait=wait)
    tier, graph = catalogs.tiers[world.site][0], build_graph(workflow)
    return place(workflow, graph, catalogs, tier, settings, world.ending, past)


def test_it_opens_before_the_jobs_that_need_much(opening: World) -> None:
    at = found(opening)
    assert (at.level, at.levels, at.why_none) == (2, 4, "")
    assert at.jobs == {"list", "pick"}
    assert at.files == {"picked.txt", "table.txt"}
    assert at.used == {"names.txt", "table.txt", "listed.txt", "picked.txt"}


def test_the_sums_are_capacity_times_how_long(opening: World) -> None:
    at = found(opening)
    assert (at.unit, at.span, at.whole_span) == ("levels", 2 + 2, 4 + 2)
    assert at.late == 3 * GIB * 4.0  # in.txt, a.txt, large.txt
    assert at.whole == (3 * GIB + 4 * MIB) * 6.0
    assert at.moved == MIB + 2 * MIB + 2 * MIB + 2 * MIB  # each use of what is early
    assert at.traffic == 4 * GIB + at.moved
    assert at.longer == 0.0


def test_what_the_first_jobs_use_is_on_the_pfs(opening: World) -> None:
    opening.replicas["names.txt"] = [{"site": "cluster", "pfn": "/lus/names.txt"}]
    homes = opening.homes()
    assert homes["names.txt"] == (PFS, "link")  # read where it is
    assert homes["table.txt"] == (PFS, "copy")
    assert homes["listed.txt"] == homes["picked.txt"] == (PFS, "write")
    assert homes["in.txt"] == ("bb", "copy")  # staged when the reservation is there
    assert homes["a.txt"] == homes["large.txt"] == ("bb", "write")


def test_nothing_changes_unless_it_is_asked_for(opening: World) -> None:
    late = opening.decide()
    assert (late.need, late.capacity) == (3 * GIB, 3 * GIB)
    opening.defines[-1] = "pegasus.bb.open=start"
    placement = opening.decide()
    assert placement.opening is None
    assert late.whole is not None
    assert placement.files == late.whole.files


def test_not_where_the_first_jobs_read_and_write_much(opening: World) -> None:
    opening.jobs = narrow()
    assert none(opening).startswith("more than 5 % of what tasks read and write")
    opening.defines[-1] = "pegasus.bb.open=late"
    assert found(opening).jobs  # insisted on


def test_a_file_that_the_user_wants_on_the_tier_is_there_for_all_its_jobs(
    opening: World,
) -> None:
    opening.jobs[1]["uses"][1].update(said("bb", MIB))  # picked.txt, made at level 2
    assert found(opening).level == 1
    opening.jobs[0]["uses"][0].update(said("bb", MIB))
    assert none(opening) == "no cut through the workflow would save 5 % or more"


def test_jobs_before_it_have_no_rooms(opening: World) -> None:
    opening.jobs[1]["uses"].append(makes("own.txt", 4 * MIB))
    opening.jobs[3]["uses"].append(makes("last.txt", 4 * GIB))
    opening.defines = ["pegasus.bb.mode=hybrid", "pegasus.bb.open=start"]
    assert {"pick", "merge"} <= opening.decide().rooms.keys()
    opening.defines[-1] = "pegasus.bb.open=auto"
    placement = opening.decide()
    assert placement.is_before("pick")
    assert "pick" not in placement.rooms
    assert "merge" in placement.rooms


def test_both_ends_are_one_choice(opening: World) -> None:
    """Little, much, much, little: what is reserved is in the middle."""
    opening.jobs.append(
        job("plot", use("large.txt", "input"), makes("plot.pdf", MIB)),
    )
    opening.jobs[3]["uses"].append(makes("summary.txt", MIB, stageOut=False))
    opening.jobs[4]["uses"][0] = use("summary.txt", "input")
    opening.defines += ["pegasus.bb.close=auto"]
    placement = opening.decide()
    assert placement.opening is not None
    assert placement.closing is not None
    assert (placement.opening.level, placement.closing.level) == (2, 4)
    need = 3 * GIB + MIB
    assert placement.need == need
    around = MIB / need  # summary.txt is copied
    assert placement.opening.late == need * (2 + 2 + around)
    assert placement.closing.early == placement.opening.late
    assert placement.is_outside("list")
    assert placement.is_outside("plot")
    assert not placement.is_outside("build")


def test_a_workflow_of_very_many_levels_is_cut_as_well(
    opening: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_both_ends_are_one_choice(opening)
    exact = opening.decide()
    monkeypatch.setattr(cutting, "ALL_PAIRS", 0)
    assert opening.decide() == exact


def test_so_it_is_where_both_ends_are_insisted_on(
    opening: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "ALL_PAIRS", 0)
    opening.defines[-1:] = ["pegasus.bb.open=late", "pegasus.bb.close=early"]
    placement = opening.decide()
    assert placement.opening is not None
    assert placement.closing is not None
    assert 0 < placement.opening.level < placement.closing.level < 4


def test_an_end_that_moves_to_the_next_level_alone_is_not_overlooked(
    opening: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two there is no level to which the other could move."""
    monkeypatch.setattr(cutting, "ALL_PAIRS", 0)
    large = makes("large.txt", GIB, stageOut=False)
    opening.jobs = [
        job("make", large, makes("list.txt", 1, stageOut=False)),
        job("read", use("list.txt", "input"), makes("last.txt", 1)),
    ]
    opening.defines.append("pegasus.bb.close=early")
    placement = opening.decide()
    assert placement.closing is not None
    assert (placement.closing.level, none(opening) != "") == (1, True)


# --- times ---

EVEN = {"list": 100.0, "pick": 100.0, "build": 100.0, "merge": 100.0}


def test_a_job_that_could_have_run_beside_the_first_ones_waits_for_them(
    opening: World,
) -> None:
    """side takes 1 s, and what comes after it as long as the other chain."""
    opening.jobs.append(job("side", makes("side.txt", MIB, stageOut=False)))
    opening.jobs.append(job("long", use("side.txt", "input"), makes("x.txt", MIB)))
    opening.defines[-1] = "pegasus.bb.open=late"
    opening.placement = "- {lfn: x.txt, tier: bb}\n"  # long has to have the tier
    at = after(opening, {**EVEN, "side": 1.0, "long": 350.0}).opening
    assert at is not None
    assert (at.level, at.longer) == (1, 100 + 350 - 400)
    assert at.span == 350 + 120
    opening.defines[-1] = "pegasus.bb.open=auto"
    at = after(opening, {**EVEN, "side": 1.0, "long": 350.0}).opening
    assert at is not None
    assert at.why_none == "the run would take more than 5 % longer"


@pytest.mark.parametrize(
    ("wait", "why"),
    [(None, ""), (20.0, ""), (60.0, "the run would take more than 5 % longer")],
    ids=["not known", "short", "long"],
)
def test_a_long_wait_for_the_reservation_is_not_worth_it(
    opening: World, wait: float | None, why: str
) -> None:
    at = after(opening, EVEN, wait).opening
    assert at is not None
    assert (at.why_none, at.wait) == (why, wait)
    opening.defines[-1] = "pegasus.bb.open=late"
    assert after(opening, EVEN, wait).opening != at or not why


def test_where_it_cannot_be_it_is_refused_with_the_reason(opening: World) -> None:
    opening.jobs = growing()[:1]
    assert none(opening) == "no cut through the workflow would save 5 % or more"
    opening.defines[-1] = "pegasus.bb.open=late"
    with pytest.raises(UsageError, match="late: the reservation cannot be opened late"):
        opening.decide()
