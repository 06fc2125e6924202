"""What `pegasus-bb check` says, on sites that recorded answers play."""

from __future__ import annotations

import getpass
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.check import Finding, Level, findings
from pegasus_bb.cli import cli
from pegasus_bb.planner.options import PlanOptions
from tests.planner.pegasus_desk import write_desk

RECORDED = Path(__file__).parent.parent / "recorded" / "slurm-24.11"
GOOD = "show-burst.two-persistent.txt"


class Site:
    """A user's folder, and the programs on his PATH."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work, self.bin = root / "work", root / "bin"
        self.bin.mkdir()
        write_desk(self.work)
        monkeypatch.chdir(self.work)
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.delenv("PEGASUS_HOME", raising=False)
        monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def program(self, name: str, lines: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{lines}\n")
        (self.bin / name).chmod(0o755)

    def slurm(self, recorded: str, status: int = 0) -> None:
        """Slurm's plugin answers with that text."""
        version = '[ "$1" = --version ] && exec echo slurm 24.11.5'
        answer = f"cat {RECORDED / recorded}\nexit {status}"
        self.program("scontrol", f"{version}\n{answer}")
        self.tier(backend="datawarp")

    def tier(self, **keys: str) -> None:
        def change(sites: dict[str, Any]) -> None:
            (tier,) = sites["x-storage-tiers"]["cori"]
            if keys.get("backend") == "datawarp":
                tier.pop("path")
            tier.update(keys)

        self.edit("sites.yml", change)

    def edit(self, name: str, change: Any) -> None:
        data = json.loads((self.work / name).read_text())
        change(data)
        (self.work / name).write_text(json.dumps(data))

    def glite(self) -> None:
        def change(sites: dict[str, Any]) -> None:
            profiles = sites["sites"][1]["profiles"]
            profiles["pegasus"]["style"] = "glite"
            profiles["condor"] = {"grid_resource": "batch slurm"}

        self.edit("sites.yml", change)

    def sizes(self) -> None:
        def declare(workflow: dict[str, Any]) -> None:
            sizes = {"in.txt": 6, "mid.txt": 100, "out.txt": 50}
            for job in workflow["jobs"]:
                for use in job["uses"]:
                    use["metadata"] = {"size": sizes[use["lfn"]]}

        self.edit("workflow.yml", declare)

    def check(
        self, output_sites: tuple[str, ...] = ("local",), **said: str
    ) -> list[Finding]:
        options = PlanOptions(
            Path("workflow.yml"),
            Path.cwd(),
            sites=("cori",),
            output_sites=output_sites,
            said={
                "pegasus.bb.mode": "persistent",
                **{f"pegasus.bb.{k}": v for k, v in said.items()},
            },
        )
        return list(findings(options))

    def wrong(self, **said: Any) -> list[str]:
        """What is wrong, in words."""
        return [
            f"{f.about}: {' '.join(f.what.split())} -> {f.would_do}"
            for f in self.check(**said)
            if f.level is Level.WRONG
        ]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, monkeypatch)


def test_a_site_that_fits_has_nothing_wrong(site: Site) -> None:
    assert site.wrong() == []
    told = [f.about for f in site.check()]
    assert told == [
        "files",
        "workflow",
        "replicas",
        "capacity",
        "python",
        "pegasus",
        "submit",
        "catalogs",
        "htcondor",
        "tier",
    ]


def test_a_file_that_cannot_be_read_is_all_that_is_said(site: Site) -> None:
    (site.work / "workflow.yml").write_text("jobs: [")
    (found,) = site.wrong()
    assert "workflow.yml" in found


def test_a_mistake_in_the_workflow_does_not_hide_those_of_the_site(site: Site) -> None:
    site.slurm("show-burst.no-persistent.txt")
    site.glite()
    site.edit("workflow.yml", lambda w: w["jobs"][0].update(id="a b"))
    about = [f.about for f in site.check() if f.level is Level.WRONG]
    assert about == ["workflow", "slurm"]


def test_an_input_that_is_not_there_is_named(site: Site) -> None:
    (site.work / "in.txt").unlink()
    (found,) = site.wrong()
    assert "1 of the inputs are not where the catalog says: in.txt" in found


def test_an_input_that_is_on_the_site_alone_is_believed(site: Site) -> None:
    (site.work / "in.txt").unlink()
    pfns = [{"site": "cori", "pfn": "/nowhere/in.txt"}]
    site.edit("replicas.yml", lambda r: r["replicas"][0].update(pfns=pfns))
    assert site.wrong() == []


def test_an_input_without_a_replica_is_named(site: Site) -> None:
    site.edit("replicas.yml", lambda r: r.update(replicas=[]))
    (found,) = site.wrong()
    assert found.startswith("replicas: ") and "in.txt" in found


def test_a_tier_without_room_is_told(site: Site) -> None:
    found = site.wrong(capacity="1000PiB")
    assert len(found) == 1
    assert found[0].startswith(f"tier: {site.work} has ")


def test_a_capacity_below_the_sum_says_what_comes_of_it(site: Site) -> None:
    def told(capacity: str) -> str:
        (found,) = (f for f in site.check(capacity=capacity) if f.about == "capacity")
        return found.what

    site.sizes()
    assert told("156").endswith("for 156 B of files")
    assert told("155").endswith("for 156 B of files, in 2 phases")
    assert told("120").endswith("for 106 B of files; 1 files more go to the PFS")


@pytest.mark.parametrize(
    ("recorded", "status", "words"),
    [
        ("show-burst.no-plugin.txt", 0, "this Slurm has no burst buffer"),
        ("show-burst.no-persistent.txt", 0, "only operators may make persistent"),
        ("show-burst.controller-down.txt", 1, "scontrol show burst: "),
    ],
)
def test_what_slurm_lacks_is_told(
    site: Site, recorded: str, status: int, words: str
) -> None:
    site.slurm(recorded, status)
    site.glite()
    (found,) = site.wrong()
    assert found.startswith("slurm: ") and words in found


def test_a_slurm_that_serves_users_is_fine(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    assert site.wrong() == []


def test_a_job_s_own_buffer_needs_no_flag(site: Site) -> None:
    site.slurm("show-burst.no-persistent.txt")
    site.glite()
    (site.work / "scratch").mkdir()
    site.sizes()
    assert site.wrong(mode="transient", capacity="auto") == []
    told = [f.what for f in site.check(mode="transient", capacity="auto")]
    assert f"{site.work}/scratch is seen from here" in told
    (staging,) = [what for what in told if what.startswith("StageOutTimeout of 5 min")]
    assert staging.endswith("the job that moves most, 100 B out, needs 0 B/s")


def test_what_auto_takes_is_looked_at(site: Site) -> None:
    (found,) = site.wrong(mode="auto")
    assert found.startswith("mode: ") and "nobody says how fast" in found
    slow, fast = (
        {"read": "1MB/s", "write": "1MB/s"},
        {"read": "1GB/s", "write": "1GB/s"},
    )
    speeds = {"cori": {"pfs": slow, "bb": fast}}
    site.edit("sites.yml", lambda s: s.update({"x-storage-speeds": speeds}))
    site.sizes()
    assert site.wrong(mode="auto") == []
    told = [f.what for f in site.check(mode="auto") if f.about == "mode"]
    assert len(told) == 1 and told[0].startswith("auto takes ")


def test_rooms_beside_a_shared_buffer_are_named(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    site.tier(granularity="1")
    site.sizes()
    assert site.wrong(mode="hybrid", capacity="auto", headroom="0") == []
    told = [f.what for f in site.check(mode="hybrid", capacity="auto", headroom="0")]
    (capacity,) = [what for what in told if " would be reserved for " in what]
    assert "more for each of 1 jobs, would be reserved" in capacity


def test_a_scratch_that_this_machine_does_not_see_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    site.sizes()
    site.edit("sites.yml", lambda s: lead_away(s["sites"][1], "/lus/scratch"))
    assert site.wrong() == []
    (found,) = site.wrong(mode="transient", capacity="auto")
    assert found.startswith("scratch: /lus/scratch is not seen from this machine")


def lead_away(site: dict[str, Any], path: str) -> None:
    (scratch,) = site["directories"]
    scratch.update(path=path)
    scratch["fileServers"][0].update(url=f"file://{path}")


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("AllowUsers=alice,bob", False),
        ("DenyUsers=mallory,{me}", False),
        ("AllowUsers=alice,{me}", True),
        ("DenyUsers=mallory", True),
    ],
)
def test_who_may_use_it(site: Site, line: str, fits: bool) -> None:
    """Slurm prints the line where burst_buffer_info.c has it: above GetSysState."""
    burst, line = (RECORDED / GOOD).read_text(), line.format(me=getpass.getuser())
    named = burst.replace("  GetSysState", f"  {line}\n  GetSysState")
    (site.work / "burst").write_text(named)
    site.slurm(str(site.work / "burst"))
    site.glite()
    found = site.wrong()
    assert bool(found) != fits
    assert fits or f"may use no burst buffer: {line}" in found[0]


def test_a_slurm_that_was_not_tried_is_a_word_and_no_mistake(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    file = site.bin / "scontrol"
    file.write_text(file.read_text().replace("24.11.5", "25.05.1"))
    assert site.wrong() == []
    (found,) = [f for f in site.check() if "25.05.1" in f.what]
    assert found.level is Level.NOTE
    assert found.what == "slurm 25.05.1; this was tried with 22.05 and 24.11"


def test_a_setting_that_planning_would_refuse_is_told(site: Site) -> None:
    def launch(sites: dict[str, Any]) -> None:
        profiles = sites["sites"][1]["profiles"]["pegasus"]
        profiles["gridstart.launcher"] = "/opt/wrap"

    site.edit("sites.yml", launch)
    (found,) = site.wrong()
    assert found.startswith("catalogs: ") and "there can be no other" in found


def test_a_result_that_would_go_with_the_buffer_is_told(site: Site) -> None:
    (found,) = site.wrong(output_sites=())
    assert found.startswith("catalogs: the result 'out.txt' of job ID2 would vanish")


def test_a_submit_directory_that_cannot_be_made_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != site.work)
    found = site.wrong()
    assert [about.split(":")[0] for about in found] == ["submit", "tier"]
    assert f"cannot be made: {site.work} is not yours" in found[0]


def test_no_slurm_at_all_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    (site.bin / "scontrol").unlink()
    (found,) = site.wrong()
    assert "no Slurm on this machine's PATH" in found


def test_more_than_the_pool_has_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    (found,) = site.wrong(capacity="900TiB")
    assert "would leave the request pending for ever" in found


def test_a_pool_that_there_is_not_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.tier(pool="fastest")
    site.glite()
    (found,) = site.wrong()
    assert found.startswith("slurm: there is no pool fastest -> pool: one of ")


def test_root_gets_no_buffer(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    site.slurm(GOOD)
    site.glite()
    (found,) = site.wrong()
    assert "no burst buffer for root" in found


def test_an_htcondor_without_defer_is_told(site: Site) -> None:
    site.program("condor_version", "echo '$CondorVersion: 8.2.10 Oct 27 2015 $'")
    first, second = site.wrong()
    assert "version 8.2.10 has no SCRIPT DEFER" in first
    assert "nothing can be submitted: condor_submit_dag is not on PATH" in second


def test_a_blahp_that_hands_nothing_on_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    site.program("condor_version", "echo '$CondorVersion: 23.9.6 2024-08-08 $'")
    site.program("condor_submit_dag", "exit 0")
    site.program("condor_q", "exit 0")
    home = site.work / "blahp"
    site.program("condor_config_val", f"echo {home}")
    assert ["blahp" in found for found in site.wrong()] == [True]
    (home / "libexec" / "blahp").mkdir(parents=True)
    file = home / "libexec" / "blahp" / "slurm_local_submit_attributes.sh"
    file.write_text("true\n")
    (found,) = site.wrong()
    assert "does not hand on what a job asks of Slurm" in found
    file.write_text('echo "#SBATCH $EXTRA_ARGUMENTS"\n')
    assert site.wrong() == []


def pegasus(site: Site, version: str) -> None:
    for name in ("pegasus-plan", "pegasus-version"):
        site.program(name, version)


def test_another_pegasus_is_a_word_and_no_mistake(site: Site) -> None:
    pegasus(site, "echo 5.0.8")
    assert site.wrong() == []
    (found,) = [f for f in site.check() if f.about == "pegasus"]
    assert found.level is Level.NOTE
    assert found.what == f"5.0.8 in {site.bin} plans; this was tried with 5.1"


def test_options_that_kickstart_does_not_bear_are_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    assert "kickstart" in [f.about for f in site.check() if f.level is Level.OK]
    job = {"pegasus": {"gridstart.arguments": "-q -Z -t"}}
    site.edit("workflow.yml", lambda w: w["jobs"][0].update(profiles=job))
    assert site.wrong() == []
    told = [f.what for f in site.check() if f.about == "kickstart"]
    assert [what.split(":")[0] for what in told] == [
        "gridstart.arguments has -t",
        "gridstart.arguments has -Z",
    ]


def test_python_packages_that_pegasus_misses_are_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    site.program("pegasus-preflight-check", "echo no module named git; exit 1")
    assert site.wrong() == ["pegasus: pegasus-preflight-check: no module named git -> "]


def test_a_pegasus_that_does_not_start_is_told(site: Site) -> None:
    pegasus(site, "echo no java >&2; exit 1")
    (found,) = site.wrong()
    assert "does not answer: no java" in found


def test_a_style_that_has_no_buffer_is_told(site: Site) -> None:
    site.slurm(GOOD)
    pegasus(site, "echo 5.1.2")
    (found,) = site.wrong()
    assert found.startswith("catalogs: ") and "style: glite" in found


def test_the_command_ends_with_2_where_something_is_wrong(site: Site) -> None:
    words = ["check", "--sites", "cori", "--output-sites", "local"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("ok    files ")
    (site.work / "in.txt").unlink()
    done = CliRunner().invoke(cli, [*words, "-q"])
    assert done.exit_code == 2
    first, mend, *_ = done.output.splitlines()
    assert first.startswith("no    replicas ")
    assert mend.strip().startswith("would do: ")
    rows = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert {row["level"] for row in rows} == {"ok", "note", "no"}
