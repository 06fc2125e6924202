"""The page that explain writes: all of it is there, nothing foreign runs in it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.decide.explanation import Explanation, explain
from pegasus_bb.decide.liveness import live_flow, planned_peak
from pegasus_bb.model.graph import build_graph
from pegasus_bb.report.page import explained_page
from pegasus_bb.report.page.live_bytes_figure import levels
from pegasus_bb.report.page.workflow_drawing import (
    EACH,
    INPUTS,
    RESULTS,
    Flow,
    grouped,
    picture,
)
from tests.decide.user_files import User, job, sized, use
from tests.support.counting import calls
from tests.support.page_html import Balanced, without_scripts

MIB = 1 << 20


def flow_of(user: User) -> Flow:
    workflow, _, _ = user.read()
    return grouped(workflow, build_graph(workflow), user.decide())


def page_of(user: User) -> str:
    given, decision = user.given(), user.decision()
    placement = decision.placement
    live = planned_peak(given, placement)
    return explained_page(
        given.workflow,
        given.graph,
        placement,
        explain(decision, given.settings, live),
        live_flow(given, placement),
        None,
    )


def explained(user: User, capacity: int | None) -> Explanation:
    given, decision = user.given(), user.decision()
    live = planned_peak(given, decision.placement)
    return replace(explain(decision, given.settings, live), capacity=capacity)


def wide(width: int) -> list[dict[str, Any]]:
    """One job, then ``width`` alike that read what it makes."""
    first = job("ID0", use("mid", "output", stageOut=False, **sized(MIB)))
    return [
        {**first, "name": "split"},
        *(
            job(f"ID{n}", use("mid", "input"), use(f"out{n}", "output", **sized(9)))
            for n in range(1, width + 1)
        ),
    ]


def test_what_is_to_be_reserved_says_how_it_is_computed(user: User) -> None:
    text = " ".join(page_of(user).split())
    assert re.search(
        r"To reserve: 4\.0 MiB \(\d+ B, 10 % headroom, in steps of 4\.0 MiB\)\.", text
    )


def test_few_jobs_have_a_box_each(user: User) -> None:
    found = flow_of(user)
    assert list(found.groups) == [INPUTS, "job ID1", "job ID2", RESULTS]
    ways = {(s.source, s.dest): (len(s.members), s.size) for s in found.streams}
    assert ways == {
        (INPUTS, "job ID1"): (1, 100),
        (INPUTS, "job ID2"): (1, 200),
        ("job ID1", "job ID2"): (2, 30),
        ("job ID1", RESULTS): (1, 20),
        ("job ID2", RESULTS): (1, 30),
    }


def test_many_jobs_share_a_box_with_those_of_their_kind(tmp_path: Path) -> None:
    found = flow_of(User(tmp_path, jobs=wide(EACH)))
    assert {g.label for g in found.groups.values()} == {"split", "work x40", RESULTS}
    (first,) = (s for s in found.streams if s.source == "1 split")
    assert (len(first.members), first.size) == (1, MIB)  # one file, many readers


def test_what_stays_on_the_pfs_is_another_stream(user: User) -> None:
    user.placement = "mid.txt: pfs\n"
    places = {(s.tier, tuple(s.members)) for s in flow_of(user).streams}
    assert ("pfs", ("mid.txt",)) in places
    assert ("bb", ("keep.txt",)) in places


def rows_of(flow: Flow, key: str) -> list[dict[str, Any]]:
    """Boxes have a label, lines a stream."""
    return [row for row in picture(flow).spec["datasets"]["rows"] if key in row]


def test_a_line_has_its_bytes_and_names_its_files(user: User) -> None:
    lines = {row["title"]: row["bytes"] for row in rows_of(flow_of(user), "stream")}
    assert lines["1 file, 200 B, bb: ref.txt"] == max(lines.values()) == 200
    assert lines["1 file, 20 B, bb: keep.txt"] == 20


def test_no_two_boxes_overlap(tmp_path: Path) -> None:
    boxes = rows_of(flow_of(User(tmp_path, jobs=wide(EACH - 1))), "label")
    assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes)
    for box in boxes:
        column = sorted(other["y"] for other in boxes if other["x"] == box["x"])
        assert all(b - a >= box["bottom"] - box["y"] for a, b in pairwise(column))


def test_live_bytes_and_the_reservation_are_on_one_axis(user: User) -> None:
    (chart,) = levels([10 * MIB, 40 * MIB, 20 * MIB], explained(user, 50 * MIB)).charts
    rows = chart.spec["datasets"]["rows"]
    assert [row["size"] // MIB for row in rows] == [10, 40, 20]
    assert {row["reserved"] for row in rows} == {50 * MIB}
    assert chart.title == "reserved: 50.0 MiB"


def test_without_a_capacity_only_live_bytes_are_drawn(user: User) -> None:
    (chart,) = levels([MIB] * 100, explained(user, None)).charts
    assert len(chart.spec["layer"]) == 1


def test_the_page_says_why_every_file_is_where_it_is(user: User) -> None:
    text = page_of(user)
    for lfn in ("in.txt", "mid.txt", "keep.txt", "ref.txt", "out.txt"):
        assert f'<td class="lfn">{lfn}</td>' in text
    assert "made by a job and not staged out: tier bb of site cluster says" in text


def test_files_of_one_rule_are_one_row_and_all_files_are_folded_below(
    user: User,
) -> None:
    groups, files = without_scripts(page_of(user)).split(
        "<summary>Every file</summary>"
    )
    reason = "made by a job and not staged out: tier bb of site cluster says"
    assert '<td class="lfn">' not in groups
    assert 1 == groups.count(reason) <= files.count(reason)
    assert re.search(r'<th scope="row" class="count">\d files?</th>', groups)


def test_the_page_may_not_use_the_network(user: User) -> None:
    text = without_scripts(page_of(user)).lower()
    assert "default-src 'none'" in text
    assert not re.search(r"(src=|href|url\()", text)
    assert "http:" not in text


def test_a_name_is_text_whatever_it_holds(user: User) -> None:
    user.jobs[0]["uses"][1]["lfn"] = user.jobs[1]["uses"][0]["lfn"] = "<b>&mid"
    text = without_scripts(page_of(user))
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;mid" in text
    Balanced().feed(text)


@pytest.mark.sweep
def test_twice_the_jobs_cost_twice_as_much(tmp_path: Path) -> None:
    def cost(width: int) -> int:
        user = User(tmp_path, jobs=wide(width))
        return calls(lambda: page_of(user))

    small, large = cost(200), cost(400)
    assert large < 2.2 * small
