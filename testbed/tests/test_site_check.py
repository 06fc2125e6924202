"""`pegasus-bb check` on a submit host: whole, and with one thing broken at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import SlurmSite
from testbed.tests.workflow_runner import PLANNERS, WorkflowRunner
from tests.support.waiting import until

pytestmark = [pytest.mark.site]
SITE = ("--sites", "cluster", "--output-sites", "local")


class Checked(WorkflowRunner):
    """A user who looks before he plans."""

    def check(self, *more: str) -> list[tuple[str, str, str]]:
        """Level, what it is about, and what was said of it."""
        planner = ("--bb-planner", self.planner, *more)
        done = self.bb("check", *SITE, *planner, "--json", "workflow.yml", timeout=120)
        rows = json.loads(done.out)
        wrong = any(row["level"] == "no" for row in rows)
        assert done.status == (2 if wrong else 0), done.err
        return [(row["level"], row["about"], row["what"]) for row in rows]

    def wrong(self, *more: str) -> list[str]:
        found = self.check(*more)
        return [f"{about}: {what}" for level, about, what in found if level == "no"]


@pytest.fixture
def planner() -> str:
    """What is looked at on a site is the same for both."""
    return "builtin"


@pytest.fixture
def runner(
    submit_host: SlurmSite,
    home: Home,
    planners: None,
    planner: str,
    request: pytest.FixtureRequest,
) -> Checked:
    name = "".join(filter(str.isalnum, request.node.name))
    return Checked(home, name, planner=planner)


@contextmanager
def buffers_configured(submit_host: SlurmSite, old: str, new: str) -> Iterator[None]:
    """Slurm reads its burst_buffer.conf anew, with ``new`` in it for ``old``."""
    file = submit_host.home.root / "etc/slurm/burst_buffer.conf"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    try:
        reconfigured(submit_host)
        yield
    finally:
        file.write_text(text)
        reconfigured(submit_host)


def reconfigured(submit_host: SlurmSite) -> None:
    """Have Slurm read its files anew, and wait until it has asked for its pools."""
    assert submit_host.run("root", "scontrol", "reconfigure").status == 0
    until(lambda: "Pool" in submit_host.run("root", "scontrol", "show", "burst").out)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_site_that_is_whole_has_nothing_wrong(runner: Checked) -> None:
    (runner.root / "pfs").mkdir()
    for mode in ("persistent", "transient"):
        found = runner.check("--bb-mode", mode)
        assert [line for line in found if line[0] != "ok"] == []
        assert list(dict.fromkeys(line[1] for line in found)) == order(runner)
        said = "\n".join(line[2] for line in found)
        assert "slurm 24.11.5" in said.replace("-wlm", "")
        assert "its DAGMan knows SCRIPT DEFER" in said
        assert "pool wlm_pool has 1.0 GiB, 1.0 GiB of it free now" in said
        assert ("users may make persistent buffers" in said) == (mode == "persistent")


def order(runner: Checked) -> list[str]:
    """What is looked after, from the user's own files to the site."""
    own = ["files", "folders", "nodes", "workflow", "replicas", "capacity", "python"]
    pegasus = ["pegasus", *(["kickstart"] if runner.planner == "pegasus" else [])]
    of_site = ["htcondor", "blahp", "scratch", "slurm"]
    return [*own, *pegasus, "submit", "catalogs", *of_site]


def test_what_it_finds_whole_can_be_planned_and_only_that(runner: Checked) -> None:
    assert runner.wrong() == []
    assert not runner.submit_dir("").exists()  # it wrote nothing
    runner.planned("bb", "--bb-mode", "persistent")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EnablePersistent", "DisablePersistent", "shows no Flags=EnablePersistent"),
        (
            "Default",
            "DenyUsers=wfuser\nDefault",
            "wfuser may use no burst buffer: Deny",
        ),
    ],
    ids=["operators only", "denied"],
)
def test_a_site_where_the_user_may_have_no_buffer(
    runner: Checked, submit_host: SlurmSite, old: str, new: str, message: str
) -> None:
    with buffers_configured(submit_host, old, new):
        (found,) = runner.wrong()
        assert found.startswith("slurm: ")
        assert message in found
        transient_too = "Deny" in new
        assert bool(runner.wrong("--bb-mode", "transient")) is transient_too
    assert runner.wrong() == []


def test_a_pool_that_is_too_small_full_or_not_there(
    runner: Checked, submit_host: SlurmSite
) -> None:
    (found,) = runner.wrong("--bb-capacity", "2GiB")
    assert "less than 2.0 GiB: Slurm would leave the request pending for ever" in found
    submit_host.hold("other", "filler", 1000 << 20)
    checked = runner.check("--bb-capacity", "64MiB")
    [note, *_] = [what for level, _, what in checked if level == "note"]
    assert "24.0 MiB of it free now: the first job would wait" in note
    runner.declare(pool="fastest")
    assert runner.wrong() == ["slurm: there is no pool fastest"]


def test_as_root(runner: Checked, submit_host: SlurmSite) -> None:
    words = ["pegasus-bb", "check", *SITE, "--bb-planner", runner.planner]
    done = submit_host.run("root", "sh", "-c", f"cd {runner.work} && {' '.join(words)}")
    assert done.status == 2
    assert "Slurm makes no burst buffer for root" in done.out
