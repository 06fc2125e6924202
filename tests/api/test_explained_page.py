"""The page that explain writes: all of it is there, nothing foreign runs in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.api.explained_page import explained_page
from pegasus_bb.api.explanation import Explanation, explain
from pegasus_bb.api.workflow_drawing import (
    EACH,
    INPUTS,
    RESULTS,
    WorkflowDrawing,
    grouped,
)
from pegasus_bb.decide.liveness import live_in_levels
from pegasus_bb.model.graph import build_graph
from tests.support.page_html import Balanced, without_scripts
from tests.support.user_files import User, job, sized, use

MIB = 1 << 20


def flow_of(user: User) -> WorkflowDrawing:
    workflow, _, _ = user.read()
    return grouped(workflow, build_graph(workflow), user.decide())


def page_of(user: User) -> str:
    placement = user.decision().placement
    return explained_page(user.given(), placement, explained(user), None)


def explained(user: User) -> Explanation:
    given = user.given()
    decision = user.decision()
    most = max(live_in_levels(given, decision.placement))
    return explain(decision, given.settings, most)


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


def test_a_name_is_text_whatever_it_holds(user: User) -> None:
    user.jobs[0]["uses"][1]["lfn"] = user.jobs[1]["uses"][0]["lfn"] = "<b>&mid"
    text = without_scripts(page_of(user))
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;mid" in text
    Balanced().feed(text)
