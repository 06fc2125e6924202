"""A job on two nodes: both get its data, and both have results."""

from __future__ import annotations

from tests.support.slurm_stager import SUCCESS
from tests.support.waiting import until

from .conftest import Node, NodeJob, NodeSite

OUT = "stage_out node://out lustre://out"


def started(site: NodeSite, *lines: str) -> NodeJob:
    job = NodeJob(site, *lines, nodes="n[1-2]")
    assert job.start() == (SUCCESS, "")
    return job


def leave(node: Node, path: str, text: str) -> None:
    [folder] = node.folders
    (folder / path).parent.mkdir(exist_ok=True, parents=True)
    (folder / path).write_text(text)


def test_each_has_the_data_and_a_folder_gets_the_results_of_all(
    site: NodeSite, n1: Node, n2: Node
) -> None:
    site.file("in", "an input")
    job = started(site, "stage_in lustre://in node://in", OUT)
    for node in (n1, n2):
        [folder] = node.folders
        assert (folder / "in").read_text() == "an input"
        leave(node, f"out/{node.name}", f"of {node.name}")
        leave(node, "out/same", "on both")
    job.stage_out()
    found = {path.name: path.read_text() for path in (site.lustre / "out").iterdir()}
    assert found == {"n1": "of n1", "n2": "of n2", "same": "on both"}
    job.tear_down()
    until(lambda: n1.folders == n2.folders == [])


def test_a_file_that_differs_is_kept_on_both_until_it_does_not(
    site: NodeSite, n1: Node, n2: Node
) -> None:
    job = started(site, OUT)
    for node in (n1, n2):
        leave(node, "out/log", node.name)
    words = job.fail_to_save()
    assert "node://out/log differs on n1 and n2" in words
    job.tear_down()
    assert not (site.lustre / "out").exists()
    [kept] = site.kept
    assert kept["nodes"] == ["n1", "n2"]
    [folder] = n2.folders
    (folder / "out" / "log").rename(folder / "out" / "log.n2")
    site.serve_again()
    until(lambda: site.kept == [])
    assert (site.lustre / "out" / "log").read_text() == "n1"
    assert (site.lustre / "out" / "log.n2").read_text() == "n2"
    until(lambda: n1.folders == n2.folders == [])


def test_the_results_of_a_node_that_is_down_are_waited_for(
    site: NodeSite, n1: Node, n2: Node
) -> None:
    job = started(site, OUT)
    leave(n1, "out/a", "a")
    leave(n2, "out/b", "b")
    n2.kill()
    for hook in ("post_run", "data_out"):
        assert job.call(hook, exit_code=0) == (SUCCESS, "")
    until(lambda: site.waiting == {"n2": "its service does not run"})
    assert job.is_busy("out")
    n2.serve()
    job.until_staged("out")
    assert (site.lustre / "out" / "b").read_text() == "b"
    assert site.waiting == {}
