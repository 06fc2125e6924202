"""Closing early: after which level, and what becomes of files and rooms then."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.model.placement import PFS, Closing
from pegasus_bb.placement import Ending
from pegasus_bb.units import MIB
from tests.placement.world import World, job, said, sized, use

GIB = 1024 * MIB


def makes(lfn: str, size: int, **more: Any) -> dict[str, Any]:
    return use(lfn, "output", **more, **sized(size))


def narrow() -> list[dict[str, Any]]:
    """Two levels with large files, then two that need one small file of these."""
    return [
        job(
            "split",
            use("in.txt", "input", **sized(GIB)),
            use("table.txt", "input", **sized(MIB)),
            makes("a.txt", GIB, stageOut=False),
        ),
        job(
            "merge",
            use("a.txt", "input"),
            makes("small.txt", MIB, stageOut=False),
            makes("large.txt", GIB),
        ),
        job(
            "count",
            use("small.txt", "input"),
            use("table.txt", "input"),
            use("names.txt", "input", **sized(MIB)),
            makes("counted.txt", MIB, stageOut=False),
        ),
        job("plot", use("counted.txt", "input"), makes("plot.pdf", MIB)),
    ]


@pytest.fixture
def closing(world: World) -> World:
    world.defines = ["pegasus.bb.mode=persistent", "pegasus.bb.close=auto"]
    world.jobs = narrow()
    return world


def found(world: World) -> Closing:
    closing = world.decide().closing
    assert closing is not None
    return closing


def test_it_closes_where_little_is_left_to_do(closing: World) -> None:
    at = found(closing)
    assert (at.level, at.levels, at.why_none) == (2, 4, "")
    assert at.jobs == {"count", "plot"}
    assert at.files == {"small.txt"}


def test_the_sums_are_capacity_times_how_long(closing: World) -> None:
    closing.defines += ["pegasus.bb.headroom=0"]
    closing.tier = {"granularity": "1MiB"}
    at = found(closing)
    need = 3 * GIB + MIB  # in.txt, a.txt, large.txt, small.txt
    assert (at.carried, at.unit) == (2 * MIB, "levels")  # small.txt, table.txt
    assert at.span == 2 + 2 + 2 * MIB / need
    assert at.early == need * at.span
    assert at.whole == (need + 4 * MIB) * 6.0
    assert at.moved == 2 * MIB + MIB + MIB + 2 * MIB + MIB
    assert at.traffic == 4 * GIB + MIB + at.moved


def test_what_the_last_jobs_use_is_on_the_pfs(closing: World) -> None:
    closing.replicas["names.txt"] = [{"site": "cluster", "pfn": "/lus/names.txt"}]
    homes = closing.homes()
    assert homes["small.txt"] == ("bb", "write")  # and copied when it is made
    assert homes["table.txt"] == (PFS, "copy")  # found from both sides
    assert homes["names.txt"] == (PFS, "link")  # read where it is
    assert homes["counted.txt"] == homes["plot.pdf"] == (PFS, "write")
    assert homes["large.txt"] == ("bb", "write")


def test_the_reservation_is_smaller_by_what_is_not_on_it(closing: World) -> None:
    placement = closing.decide()
    assert placement.need == 3 * GIB + MIB
    assert placement.whole is not None
    assert placement.whole.need == placement.need + 4 * MIB


def test_nothing_changes_unless_it_is_asked_for(closing: World) -> None:
    early = closing.decide()
    closing.defines[-1] = "pegasus.bb.close=end"
    placement = closing.decide()
    assert placement.closing is None
    assert early.whole is not None
    assert placement.files == early.whole.files


def none(world: World) -> str:
    at = found(world)
    assert (at.jobs, at.files) == (frozenset(), frozenset())
    return at.why_none


def test_not_where_the_last_jobs_read_and_write_much(closing: World) -> None:
    for late in closing.jobs[2:]:
        late["uses"].append(use("a.txt", "input"))
    assert none(closing).startswith("more than 5 % of what tasks read and write")
    closing.defines[-1] = "pegasus.bb.close=early"
    assert found(closing).jobs  # insisted on


def test_a_file_that_the_user_wants_on_the_tier_is_there_for_all_its_jobs(
    closing: World,
) -> None:
    closing.jobs[2]["uses"][0].update(said("bb", MIB))
    assert found(closing).level == 3
    closing.jobs[3]["uses"].append(use("small.txt", "input"))
    assert none(closing) == "no cut through the workflow would save 5 % or more"


def test_a_given_capacity_is_kept_for_less_time(closing: World) -> None:
    closing.defines += ["pegasus.bb.capacity=8GiB", "pegasus.bb.headroom=0"]
    at = found(closing)
    assert at.whole == 8 * GIB * 6.0
    assert at.early == 8 * GIB * at.span
    assert closing.decide().capacity == 8 * GIB


def test_no_more_before_it_than_the_capacity_holds(closing: World) -> None:
    """The first level alone needs 2 GiB."""
    closing.defines = ["pegasus.bb.mode=persistent", "pegasus.bb.close=early"]
    closing.defines += ["pegasus.bb.capacity=2GiB"]
    assert found(closing).level == 1
    closing.defines[-1] = "pegasus.bb.capacity=1GiB"
    with pytest.raises(UsageError, match="no cut through the workflow"):
        closing.decide()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ending": Ending(delivered=False)}, "results are not staged out"),
        ({"jobs": narrow()[:1]}, "no cut through the workflow would save 5 % or more"),
    ],
    ids=["results", "one level"],
)
def test_none_and_why(closing: World, change: dict[str, Any], why: str) -> None:
    for name, value in change.items():
        setattr(closing, name, value)
    if "ending" in change:  # whose results would be refused on the tier
        closing.tier = {"outputs": "pfs"}
    assert none(closing) == why
    closing.defines[-1] = "pegasus.bb.close=early"
    with pytest.raises(UsageError, match="cannot be given back early"):
        closing.decide()


def test_jobs_after_the_cut_have_no_rooms(closing: World) -> None:
    closing.jobs[3]["uses"].append(makes("own.txt", 4 * MIB))
    closing.jobs[0]["uses"].append(makes("first.txt", 4 * GIB))
    closing.tier = {"granularity": "1MiB"}
    closing.defines = ["pegasus.bb.mode=hybrid", "pegasus.bb.close=end"]
    assert {"split", "plot"} <= closing.decide().rooms.keys()
    closing.defines[-1] = "pegasus.bb.close=auto"
    placement = closing.decide()
    assert placement.closing is not None
    assert placement.closing.jobs == {"count", "plot"}
    assert "split" in placement.rooms
    assert "plot" not in placement.rooms
    assert placement.files["own.txt"].tier == PFS
