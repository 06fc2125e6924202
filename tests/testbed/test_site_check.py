"""`pegasus-bb check` on a submit host: whole, and with one thing broken at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegasus_bb.testbed import site
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS, Desk
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site]
SITE = ("--sites", "cluster", "--output-sites", "local")


class Checked(Desk):
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


@pytest.fixture(params=PLANNERS)
def desk(
    submit_host: Site, home: Home, planners: None, request: pytest.FixtureRequest
) -> Checked:
    name = f"check-{request.node.originalname[5:]}"
    return Checked(home, name, planner=request.param)


@contextmanager
def edited(file: Path, old: str, new: str) -> Iterator[None]:
    """A configuration file of the site, until the end of this."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    try:
        yield
    finally:
        file.write_text(text)


@contextmanager
def buffers_configured(submit_host: Site, old: str, new: str) -> Iterator[None]:
    """Slurm reads its burst_buffer.conf anew."""
    file = submit_host.home.root / "etc/slurm/burst_buffer.conf"
    try:
        with edited(file, old, new):
            assert submit_host.run("root", "scontrol", "reconfigure").status == 0
            yield
    finally:
        assert submit_host.run("root", "scontrol", "reconfigure").status == 0


def test_a_site_that_is_whole_has_nothing_wrong(desk: Checked) -> None:
    (desk.root / "pfs").mkdir()
    for mode in ("persistent", "transient"):
        found = desk.check("--bb-mode", mode)
        assert [line for line in found if line[0] != "ok"] == []
        assert list(dict.fromkeys(line[1] for line in found)) == order(desk)
        said = "\n".join(line[2] for line in found)
        assert "slurm 24.11.5" in said.replace("-wlm", "")
        assert "its DAGMan knows SCRIPT DEFER" in said
        assert "pool wlm_pool has 1.0 GiB, 1.0 GiB of it free now" in said
        assert ("users may make persistent buffers" in said) == (mode == "persistent")
        assert ("StageOutTimeout of 5 min" in said) == (mode == "transient")


def order(desk: Checked) -> list[str]:
    """What is looked after, from the user's own files to the site."""
    own = ["files", "workflow", "replicas", "capacity", "python", "pegasus"]
    kickstart = ["kickstart"] if desk.planner == "pegasus" else []
    of_site = ["htcondor", "blahp", "scratch", "slurm"]
    return [*own, *kickstart, "submit", "catalogs", *of_site]


def test_what_it_finds_whole_can_be_planned_and_only_that(desk: Checked) -> None:
    assert desk.wrong() == []
    assert not desk.submit_dir("").exists()  # it wrote nothing
    desk.planned("bb", "--bb-mode", "persistent")


def test_persistent_buffers_for_operators_only(
    desk: Checked, submit_host: Site
) -> None:
    with buffers_configured(submit_host, "EnablePersistent", "DisablePersistent"):
        (found,) = desk.wrong()
        assert "slurm: `scontrol show burst` shows no Flags=EnablePersistent" in found
        assert desk.wrong("--bb-mode", "transient") == []
    assert desk.wrong() == []


def test_users_who_may_have_none(desk: Checked, submit_host: Site) -> None:
    with buffers_configured(
        submit_host, "DefaultPool", "DenyUsers=wfuser\nDefaultPool"
    ):
        (found,) = desk.wrong()
        assert "slurm: wfuser may use no burst buffer: DenyUsers=" in found


def test_a_pool_that_there_is_not(desk: Checked) -> None:
    desk.declare(pool="fastest")
    assert desk.wrong() == ["slurm: there is no pool fastest"]


def test_a_pool_that_is_too_small_or_full(desk: Checked, submit_host: Site) -> None:
    (found,) = desk.wrong("--bb-capacity", "2GiB")
    assert "less than 2.0 GiB: Slurm would leave the request pending for ever" in found
    submit_host.hold("other", "filler", 1000 << 20)
    found = [
        what
        for level, _, what in desk.check("--bb-capacity", "64MiB")
        if level == "note"
    ]
    assert "24.0 MiB of it free now: the first job would wait" in found[0]


def test_no_controller(desk: Checked, home: Home) -> None:
    site.stop_controller(home)
    try:
        (found,) = desk.wrong()
    finally:
        site.start_controller(home)
    assert found.startswith("slurm: scontrol show burst: ")
    assert "Unable to contact slurm controller" in found


def test_a_blahp_without_its_script(desk: Checked, home: Home) -> None:
    script = home.root / "etc/blahp/slurm_local_submit_attributes.sh"
    aside = script.rename(script.with_suffix(".aside"))
    try:
        (found,) = desk.wrong()
    finally:
        aside.rename(script)
    assert found.startswith("blahp: there is no slurm_local_submit_attributes.sh")


def test_no_schedd(desk: Checked, submit_host: Site) -> None:
    assert submit_host.run("root", "condor_off", "-fast", "-schedd").status == 0
    try:
        submit_host.until(lambda: desk.wrong() != [])
        (found,) = desk.wrong()
        assert "htcondor: nothing can be submitted: no schedd answers" in found
    finally:
        submit_host.run("root", "condor_on", "-schedd")
        submit_host.until(lambda: desk.wrong() == [])


def test_as_root(desk: Checked, submit_host: Site) -> None:
    words = ["pegasus-bb", "check", *SITE, "--bb-planner", desk.planner]
    done = submit_host.run("root", "sh", "-c", f"cd {desk.work} && {' '.join(words)}")
    assert done.status == 2
    assert "Slurm makes no burst buffer for root" in done.out
