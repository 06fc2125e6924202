"""No file is removed before its last use, whatever the workflow and the order."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegasus_bb.planner.builtin import Executable
from pegasus_bb.planner.seal.view import reach

Data = dict[str, Any]
QUIET = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@st.composite
def workflows(draw: st.DrawFn) -> list[Data]:
    """Up to 12 jobs; each reads some inputs and some files of earlier jobs."""
    jobs: list[Data] = []
    made: list[str] = []
    for number in range(draw(st.integers(1, 12))):
        known = [f"in{n}" for n in range(3)] + made
        uses: list[Data] = [
            {"lfn": lfn, "type": "input"}
            for lfn in draw(st.lists(st.sampled_from(known), unique=True, max_size=4))
        ]
        for place in range(draw(st.integers(0, 2))):
            lfn = f"f{number}-{place}"
            result = draw(st.booleans())
            uses.append({"lfn": lfn, "type": "output", "stageOut": result})
            made.append(lfn)
        name = draw(st.sampled_from(["split", "count", "merge"]))
        entry = {"type": "job", "name": name, "id": f"J{number}", "arguments": []}
        jobs.append({**entry, "uses": uses})
    return jobs


def removed(planned: Executable) -> dict[str, str]:
    """LFN -> the node that removes it; a file is never removed twice."""
    found: dict[str, str] = {}
    for job in planned.jobs.values():
        for entry in job.entries or []:
            target = entry.get("target", {})
            if entry["type"] == "remove" and target["recursive"] == "False":
                lfn = target["url"].removeprefix(f"file://{planned.scratch}/")
                assert lfn not in found
                found[lfn] = job.name
    return found


def users(planned: Executable) -> dict[str, set[str]]:
    """LFN -> every node that makes, brings, reads or delivers it."""
    found: dict[str, set[str]] = {}
    for job in planned.jobs.values():
        uses = [use.lfn for use in job.job.uses] if job.job else []
        uses += [part.lfn for part in job.program.staged] if job.job else []
        uses += [e["lfn"] for e in job.entries or [] if e["type"] == "transfer"]
        for lfn in uses:
            found.setdefault(lfn, set()).add(job.name)
    return found


def parents_of(planned: Executable) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for parent, children in planned.dag.children.items():
        for child in children:
            parents.setdefault(child, []).append(parent)
    return parents


@pytest.fixture
def any_runner(runner: Any, replicas: Callable[..., Data]) -> Any:
    runner.replicas = replicas("in0", "in1", "in2")
    return runner


@pytest.mark.parametrize("mode", ["off", "persistent"])
@QUIET
@given(jobs=workflows())
def test_a_file_goes_only_after_everybody_who_uses_it(
    any_runner: Any, mode: str, jobs: list[Data]
) -> None:
    runner = deepcopy(any_runner)
    runner.jobs = jobs
    if mode == "persistent":
        runner.persistent()
    planned = runner.plan()
    parents = parents_of(planned)
    gone = removed(planned)
    for lfn, nodes in users(planned).items():
        before = reach([gone[lfn]], parents)  # in inplace every file goes some day
        assert nodes <= before, f"{lfn} would go before {nodes - before} is done"


@QUIET
@given(jobs=workflows())
def test_every_job_finds_its_inputs_and_its_folder(
    any_runner: Any, jobs: list[Data]
) -> None:
    runner = deepcopy(any_runner)
    runner.jobs = jobs
    planned = runner.plan()
    parents = parents_of(planned)
    writers: dict[str, str] = {}
    for job in planned.jobs.values():
        for use in job.job.outputs() if job.job else ():
            writers[use.lfn] = job.name
        for entry in job.entries or []:
            if entry.get("linkage") == "input":
                writers[entry["lfn"]] = job.name
    for job in planned.jobs.values():
        before = reach([job.name], parents)
        assert "create_dir_demo_0_cori" in before
        needs = [use.lfn for use in job.job.inputs()] if job.job else []
        needs += [part.lfn for part in job.program.staged] if job.job else []
        needs += [e["lfn"] for e in job.entries or [] if e.get("linkage") == "output"]
        for lfn in needs:
            assert writers[lfn] in before, f"{job.name} would not find {lfn}"


@QUIET
@given(jobs=workflows())
def test_the_folder_goes_last_and_there_is_no_circle(
    any_runner: Any, jobs: list[Data]
) -> None:
    runner = deepcopy(any_runner)
    runner.jobs = jobs
    runner.change(cleanup="leaf")
    planned = runner.plan()
    assert not removed(planned)
    before = reach(["cleanup_demo_0_cori"], parents_of(planned))
    assert before == planned.jobs.keys()
    waiting = {name: len(above) for name, above in parents_of(planned).items()}
    ready = [name for name in planned.jobs if name not in waiting]
    done = 0
    while ready:
        done += 1
        for child in planned.dag.children.get(ready.pop(), ()):
            waiting[child] -= 1
            ready += [child] if waiting[child] == 0 else []
    assert done == len(planned.jobs)


def test_without_cleanup_nothing_is_removed(runner: Any) -> None:
    runner.change(cleanup="none")
    planned = runner.plan()
    assert not [name for name in planned.jobs if name.startswith("clean")]


@pytest.mark.parametrize("cleanup", ["leaf", "inplace"])
def test_results_that_nobody_asked_for_elsewhere_are_kept(
    runner: Any, cleanup: str
) -> None:
    runner.change(cleanup=cleanup, output_site="")
    planned = runner.plan()
    assert "cleanup_demo_0_cori" not in planned.jobs
    assert "out.txt" not in removed(planned)
    assert any("results stay in" in note for note in planned.notes)


def test_transfers_of_a_level_share_at_most_four_nodes(
    runner: Any, make_job: Callable[..., Data], replicas: Callable[..., Data]
) -> None:
    names = [f"in{n}" for n in range(11)]
    runner.replicas = replicas(*names)
    runner.jobs = [
        make_job(f"J{n}", "split", [name], [f"!o{n}"]) for n, name in enumerate(names)
    ]
    planned = runner.plan()
    ins = [n for n in planned.jobs if n.startswith("stage_in")]
    assert ins == [f"stage_in_remote_cori_0_{n}" for n in range(4)]
    outs = [n for n in planned.jobs if n.startswith("stage_out")]
    assert outs == [f"stage_out_remote_cori_0_{n}" for n in range(4)]
    brought = [e["lfn"] for n in ins for e in planned.jobs[n].entries or []]
    assert sorted(brought) == sorted(names)
    assert planned.jobs.keys() == runner.plan().jobs.keys()  # the same every time
