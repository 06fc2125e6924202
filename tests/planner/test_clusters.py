"""`--cluster` with the built-in planner: which jobs run in one node, and how."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.builtin.submit_files import SubmitFiles

from .conftest import new_job, replica_catalog
from .hands import submit_of, submit_text


def five_counts(runner: Any, **profiles: Any) -> None:
    """Five jobs of one level and one program, and a job that reads their files."""
    jobs = [
        new_job(f"C{n}", "split", ["in.txt"], [f"o{n}"], arguments=["in.txt", f"o{n}"])
        for n in range(5)
    ]
    for job in jobs:
        job["profiles"] = {"pegasus": dict(profiles)}
    last = new_job("M", "merge", [f"o{n}" for n in range(5)], ["!out.txt"])
    runner.jobs = [*jobs, last]
    runner.replicas = replica_catalog("in.txt")


def clusters(runner: Any, *techniques: str) -> dict[str, list[str]]:
    """Each cluster's node -> the ids of its jobs, in order."""
    runner.change(clusters=techniques)
    nodes = runner.plan().jobs.values()
    return {node.name: [job.id for job in node.jobs] for node in nodes if node.tasks}


# Which jobs


def test_clusters_num_says_how_many_clusters_and_the_first_are_larger(
    runner: Any,
) -> None:
    five_counts(runner, **{"clusters.num": 2})
    assert clusters(runner, "horizontal") == {
        "merge_split_PID1_ID1": ["C0", "C1", "C2"],
        "merge_split_PID1_ID2": ["C3", "C4"],
    }


def test_clusters_size_says_how_many_jobs_and_one_alone_stays_alone(
    runner: Any,
) -> None:
    five_counts(runner, **{"clusters.size": "2"})
    assert list(clusters(runner, "horizontal").values()) == [["C0", "C1"], ["C2", "C3"]]
    assert "split_C4" in runner.plan().jobs


def test_without_a_number_nothing_is_joined_and_a_note_says_why(runner: Any) -> None:
    five_counts(runner)
    assert clusters(runner, "horizontal") == {}
    (note,) = runner.plan().notes
    assert "no clusters: horizontal needs a profile clusters.size" in note


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_a_number_that_is_none_is_refused_where_it_stands(
    runner: Any, text: str
) -> None:
    five_counts(runner, **{"clusters.size": text})
    with pytest.raises(CatalogError, match=r"clusters.size is a number above zero"):
        clusters(runner, "horizontal")


def test_a_label_joins_jobs_of_several_levels_parents_first(runner: Any) -> None:
    runner.jobs.reverse()  # in the file the children come first
    for job in runner.jobs:
        job["profiles"] = {"pegasus": {"label": "all of it"}}
    joined = clusters(runner, "label")
    assert joined == {"merge_split_all_of_it_ID1": ["ID1", "ID2", "ID3"]}


def test_whole_joins_all_tasks_and_none_none(runner: Any) -> None:
    runner.persistent()
    assert clusters(runner, "whole") == {"merge_split_whole": ["ID1", "ID2", "ID3"]}
    assert clusters(runner, "none") == {}


def test_a_cluster_that_would_wait_for_itself_is_refused(runner: Any) -> None:
    for job in (runner.jobs[0], runner.jobs[2]):
        job["profiles"] = {"pegasus": {"label": "x"}}
    with pytest.raises(CatalogError, match=r"job ID2 .*is outside") as caught:
        clusters(runner, "label")
    assert "the same label for that job" in str(caught.value)


# The node


def test_the_list_has_one_line_for_each_task_with_its_recorder(
    runner: Any, tmp_path: Path
) -> None:
    runner.persistent()
    five_counts(runner, **{"clusters.num": 2})
    runner.persistent()
    clusters(runner, "horizontal")
    submit_dir = tmp_path / "run"
    runner.change(submit_dir=submit_dir)
    runner.write()
    (file,) = submit_dir.glob("*/*/merge_split_PID1_ID2.in")
    text = file.read_text()
    assert text.startswith("#@ 1 split C3\n")
    assert " -N C3 " in text  # what finds the maker of a lost file
    first = shlex.split(text.splitlines()[1])
    own = [str(submit_dir / "bb/bin" / name) for name in ("launch", "record")]
    assert first[:2] == own
    assert first[-3:] == ["/opt/bin/split", "in.txt", "o3"]
    assert first[first.index("-w") + 1].startswith("/bb/")


def test_a_failure_need_not_end_the_cluster(runner: Any, tmp_path: Path) -> None:
    five_counts(runner, **{"clusters.num": 1})
    clusters(runner, "horizontal")
    node = "merge_split_PID1_ID1"
    assert submit_of(runner, node, tmp_path).arguments == ["-f"]
    key = "pegasus.clusterer.job.aggregator.seqexec.firstjobfail"
    runner.properties = {key: "false"}
    assert submit_of(runner, node, tmp_path).arguments == []


def test_run_times_add_up_and_the_most_cores_are_asked_for(runner: Any) -> None:
    five_counts(runner, **{"clusters.num": 1})
    for number, job in enumerate(runner.jobs[:5], 1):
        job["profiles"]["pegasus"].update(runtime=10 * number, cores=number)
        job["profiles"]["dagman"] = {"RETRY": number}
    clusters(runner, "horizontal")
    node = "merge_split_PID1_ID1"
    text = submit_text(runner, node)
    assert "\n+pegasus_job_runtime = 150\n" in text
    assert "\nrequest_cpus = 5\n" in text
    assert runner.plan().dag.nodes[node].retry == 1


def test_a_task_keeps_a_variable_that_another_has_otherwise(runner: Any) -> None:
    five_counts(runner, **{"clusters.num": 1})
    for job, value in zip(runner.jobs[:5], "aabaa", strict=True):
        job["profiles"]["env"] = {"WHO": value}
    clusters(runner, "horizontal")
    planned = runner.plan()
    submits = SubmitFiles(planned, runner.context)
    lines = submits.task_list(planned.jobs["merge_split_PID1_ID1"]).splitlines()[1::2]
    begins = [shlex.split(line)[:2] for line in lines]
    assert begins[2] == ["/usr/bin/env", "WHO=b"]
    assert begins[0][0].endswith("/record")
    assert "WHO=a" in submit_text(runner, "merge_split_PID1_ID1")


def test_jobs_with_a_reservation_beside_the_shared_one_stay_alone(runner: Any) -> None:
    runner.hybrid()
    for job in runner.jobs:
        job["profiles"] = {"pegasus": {"label": "x"}}
    assert list(clusters(runner, "label").values()) == [["ID1", "ID2"]]
    assert "with a reservation of their own: 1 job" in runner.plan().notes[1]


def test_sbatch_gets_the_directives_of_the_cluster_and_none_of_its_tasks(
    runner: Any,
) -> None:
    runner.hybrid(backend="datawarp")
    runner.behind_slurm()
    placement = runner.context.placement
    room = placement.job_reservations["ID3"]
    both = replace(placement, job_reservations={"ID2": room, "ID3": room})
    runner.change(request=None, placement=both)  # mode transient
    nodes = runner.context.submit_dir / "bb/nodes"
    for job in runner.jobs[1:]:
        own = f"--qos=short --bbf={nodes}/{job['id']}.bbf"
        job["profiles"] = {"pegasus": {"label": "x", "glite.arguments": own}}
    ((node, _),) = clusters(runner, "label").items()
    text = submit_text(runner, node)
    assert f"--qos=short --bbf={nodes}/{node}.bbf" in text
    assert text.count("--bbf=") == 1
