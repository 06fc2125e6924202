"""SIGKILL, and a new start: both services go on where they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.stager.nodes.mailbox import ORDERS, NodeBox
from tests.support.slurm_stager import SUCCESS
from tests.support.waiting import until

from .conftest import Node, NodeJob, NodeSite

OUT = "stage_out node://out lustre://out"
BOTH_WAYS = ("stage_in lustre://in node://in", OUT)


def who(site: NodeSite, n1: Node, name: str) -> Any:
    return {"head": site, "node": n1}[name]


@pytest.mark.parametrize("killed", ["head", "node"])
def test_while_the_job_waits_for_its_data(
    site: NodeSite, n1: Node, killed: str
) -> None:
    site.file("in", "an input")
    job = NodeJob(site, *BOTH_WAYS)
    n1.pause()
    job.stage_in()
    hook = job.pre_run()
    until(lambda: n1.folders)
    who(site, n1, killed).serve_again()
    n1.resume()
    assert job.begun(hook) == (SUCCESS, "")
    [folder] = n1.folders
    assert (folder / "in").read_text() == "an input"
    until(lambda: n1.orders == [])


@pytest.mark.parametrize("killed", ["head", "node"])
def test_while_results_are_saved(site: NodeSite, n1: Node, killed: str) -> None:
    site.file("in")
    job = NodeJob(site, *BOTH_WAYS)
    assert job.start() == (SUCCESS, "")
    (n1.folders[0] / "out").write_text("a result")
    n1.pause()
    job.end()
    until(lambda: n1.orders)
    who(site, n1, killed).serve_again()
    assert job.is_busy("out")
    n1.resume()
    job.until_staged("out")
    assert site.saved == "a result"
    job.tear_down()
    until(lambda: n1.folders == [])


def test_a_node_that_is_down_gets_its_orders_later(site: NodeSite, n1: Node) -> None:
    job = NodeJob(site, OUT)
    assert job.start() == (SUCCESS, "")
    (n1.folders[0] / "out").write_text("a result")
    n1.kill()
    job.call("data_out", exit_code=0)
    until(lambda: site.waiting == {"n1": "its service does not run"})
    job.tear_down(hurry=True)  # Slurm's StageOutTimeout
    [kept] = site.kept
    assert kept["nodes"] == ["n1"]
    assert site.ask("discard", f"job={job.id}") == {"ok": {"discarded": 1}}
    site.serve_again()
    assert len(n1.folders) == 1
    n1.serve()
    n1.until_clean()


def test_an_order_that_comes_twice_changes_nothing(site: NodeSite, n1: Node) -> None:
    """The node was killed between its answer and the end of the letter."""
    site.file("in", "an input")
    n1.pause()
    job = NodeJob(site, *BOTH_WAYS)
    job.stage_in()
    hook = job.pre_run()
    until(lambda: n1.orders)
    [letter] = NodeBox(str(site.mailbox), "n1").letters(ORDERS)
    text = Path(letter.path).read_text()
    n1.resume()
    assert job.begun(hook) == (SUCCESS, "")
    [folder] = n1.folders
    (folder / "in").write_text("changed by the job")
    n1.kill()
    Path(letter.path).write_text(text)
    n1.serve()
    until(lambda: n1.orders == [])
    assert (folder / "in").read_text() == "changed by the job"


def test_a_mailbox_that_others_can_read_is_refused(site: NodeSite) -> None:
    site.mailbox.chmod(0o755)
    Node(site, "n1").refusal()
