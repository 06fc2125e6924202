"""A job on one node: its data is there when it starts, its results are saved after."""

from __future__ import annotations

from pathlib import Path

from tests.support.slurm_stager import ERROR, SUCCESS
from tests.support.waiting import until

from .conftest import Node, NodeJob, NodeSite

OUT = "stage_out node://out lustre://out"
BOTH_WAYS = ("stage_in lustre://in node://mesh/in", OUT)


def test_data_is_on_the_node_when_the_job_starts(site: NodeSite, n1: Node) -> None:
    site.file("in", "an input")
    job = NodeJob(site, *BOTH_WAYS)
    job.stage_in()
    assert n1.folders == []  # no node was chosen yet
    assert job.begun(job.pre_run()) == (SUCCESS, "")
    own = Path(job.environ()["BB_NODE"])
    assert (own / "mesh" / "in").read_text() == "an input"
    (own / "out").write_text("a result")
    job.stage_out()
    assert site.saved == "a result"
    job.tear_down()
    n1.until_clean()
    assert site.kept == []


def test_an_input_that_is_missing_keeps_the_job_from_starting(
    site: NodeSite, n1: Node
) -> None:
    job = NodeJob(site, "stage_in lustre://absent node://in")
    words = job.fails_to_start()
    assert "n1: " in words and "/absent: No such file" in words
    n1.until_clean()


def test_a_node_that_is_down_is_named_when_time_is_over(site: NodeSite) -> None:
    site.nodes["timeout"] = "1s"
    site.serve_again()
    words = NodeJob(site, OUT).fails_to_start()
    assert "not on the job's nodes after 1 s: n1 (its service does not run)" in words
    late = Node(site, "n1")
    late.serve()
    until(lambda: late.orders == [])
    assert late.folders == []
    late.kill(15)


def test_results_that_cannot_be_saved_stay_on_the_node(
    site: NodeSite, n1: Node
) -> None:
    site.block()
    job = NodeJob(site, OUT)
    assert job.start() == (SUCCESS, "")
    own = Path(job.environ()["BB_NODE"])
    (own / "out").write_text("a result")
    words = job.fail_to_save()
    assert words.startswith("pegasus_bb: n1: ")
    job.tear_down()
    [kept] = site.kept
    assert (kept["job"], kept["nodes"], kept["path"]) == (job.id, ["n1"], str(own))
    until(lambda: not site.waiting)  # the try that followed has failed as well
    site.let_pass()
    site.serve_again()
    until(lambda: site.kept == [])
    assert site.saved == "a result"
    until(lambda: n1.folders == [])


def test_a_job_that_is_cancelled_while_it_waits_lets_go(
    site: NodeSite, n1: Node
) -> None:
    site.file("in")
    n1.pause()
    job = NodeJob(site, *BOTH_WAYS)
    job.stage_in()
    hook = job.pre_run()
    until(lambda: n1.folders)
    job.tear_down(hurry=True)
    assert job.begun(hook) == (ERROR, "pegasus_bb: the job was cancelled")
    n1.until_clean()


def test_pre_run_may_come_twice(site: NodeSite, n1: Node) -> None:
    """Slurm takes an allocation back, or is started again."""
    site.file("in", "an input")
    job = NodeJob(site, *BOTH_WAYS)
    assert job.start() == (SUCCESS, "")
    own = Path(job.environ()["BB_NODE"])
    (own / "out").write_text("a result")
    assert job.begun(job.pre_run()) == (SUCCESS, "")
    assert (own / "out").exists()


def test_two_paths_for_one_folder_are_said(site: NodeSite) -> None:
    node = Node(site, "n1")
    elsewhere = node.folder / "elsewhere"
    elsewhere.mkdir()
    node.node["path"] = str(elsewhere)
    node.serve()
    words = NodeJob(site, OUT).fails_to_start()
    assert f"the folder of jobs is {node.folder}/elsewhere here" in words
    node.end()


def test_a_site_without_nodes_says_so(site: NodeSite) -> None:
    del site.config["slurm"]["nodes"]
    site.serve_again()
    words = NodeJob(site, *BOTH_WAYS).fail()
    assert "this site stages nothing on nodes" in words
