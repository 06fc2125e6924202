"""What a plan says of a run whose jobs pegasus-plan has joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.planner.pegasus.complete_submit_dir import with_clusters
from pegasus_bb.planner.pegasus.read_submit_dir import PegasusWorkflow


@pytest.mark.parametrize(("node", "kept"), [("merge_A", None), ("b_ID2", "figures")])
def test_a_prediction_that_knows_no_clusters_is_left_out(
    runner: Any, node: str, kept: str | None
) -> None:
    runner.persistent()
    runner.change(predicted="figures")
    planned = PegasusWorkflow(
        planner="pegasus-plan 5.1.2",
        dag=Dag({}),
        dag_name="demo-0.dag",
        entries=lambda _: (),
        jobs_nodes=lambda: [("ID1", "merge_A"), ("ID2", node)],
        users=frozenset(),
        scratch="",
        outputs={},
        folder=Path("/submit"),
        planned=Dag({}),
        results=frozenset(),
    )
    given, _ = runner.planning()
    _, run = with_clusters(planned, given, runner.context)
    assert run.predicted == kept
