"""What `pegasus-bb check` says of files, planning and the programs of a submit host."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.check import Level
from pegasus_bb.cli import cli
from tests.check.site import GOOD, Site


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
        "planner",
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


def test_a_program_that_is_not_on_this_machine_is_noted(site: Site) -> None:
    def mistype(catalog: dict[str, Any]) -> None:
        (program,) = catalog["transformations"][0]["sites"]
        program["pfn"] = "/opt/bin/mistyped"

    assert "programs" not in [f.about for f in site.check()]
    site.edit("transformations.yml", mistype)
    (found,) = [f for f in site.check() if f.about == "programs"]
    assert found.level is Level.NOTE
    assert "(/opt/bin/mistyped)" in found.what


def test_an_input_without_a_replica_is_named(site: Site) -> None:
    site.edit("replicas.yml", lambda r: r.update(replicas=[]))
    (found,) = site.wrong()
    assert found.startswith("replicas: ") and "in.txt" in found


def test_a_tier_without_room_is_told(site: Site) -> None:
    found = site.wrong(capacity="1000PiB")
    assert len(found) == 1
    assert found[0].startswith(f"tier: {site.work} has ")


def test_a_capacity_below_the_sum_means_phases_or_the_pfs(site: Site) -> None:
    def told(capacity: str) -> str:
        (found,) = (f for f in site.check(capacity=capacity) if f.about == "capacity")
        return found.what

    site.sizes()
    assert told("156").endswith("for 156 B of files")
    assert told("155").endswith("for 156 B of files, in 2 phases")
    assert told("120").endswith("for 106 B of files; 1 files more go to the PFS")


def test_what_auto_takes_is_looked_at(site: Site) -> None:
    (found,) = site.wrong(mode="auto")
    assert found.startswith("mode: ") and "no speeds are declared" in found
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


def test_an_htcondor_without_defer_is_told(site: Site) -> None:
    site.program("condor_version", "echo '$CondorVersion: 8.2.10 Oct 27 2015 $'")
    first, second = site.wrong()
    assert "version 8.2.10 has no SCRIPT DEFER" in first
    assert "nothing can be submitted: condor_submit_dag is not on PATH" in second


def test_a_blahp_that_hands_nothing_on_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    site.condor()
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
    """A Pegasus, on a submit host of HTCondor."""
    for name in ("pegasus-plan", "pegasus-version", "condor_submit_dag"):
        site.program(name, version)


def test_another_pegasus_is_a_word_and_no_mistake(site: Site) -> None:
    pegasus(site, "echo 5.0.8")
    assert site.wrong() == []
    (found,) = [f for f in site.check() if f.about == "pegasus"]
    assert found.level is Level.NOTE
    assert found.what == f"5.0.8 in {site.bin} plans; this was tried with 5.1"


def test_options_that_kickstart_does_not_bear_are_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    job = {"pegasus": {"gridstart.arguments": "-q -Z -t"}}
    site.edit("workflow.yml", lambda w: w["jobs"][0].update(profiles=job))
    assert site.wrong() == []
    told = [f.what for f in site.check() if f.about == "kickstart"]
    assert [what.split(":")[0] for what in told[1:]] == [
        "gridstart.arguments has -t",
        "gridstart.arguments has -Z",
    ]


def test_python_packages_that_pegasus_misses_are_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    site.program("pegasus-preflight-check", "echo no module named git; exit 1")
    assert site.wrong() == ["pegasus: pegasus-preflight-check: no module named git -> "]


def test_a_pegasus_without_condor_submit_dag_is_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    (site.bin / "condor_submit_dag").unlink()
    (found,) = site.wrong()
    assert found.startswith("pegasus: pegasus-plan calls condor_submit_dag, which is")
    assert site.wrong(planner="builtin") == []


def test_a_site_that_names_no_pegasus_is_told(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    profiles = site.site_profiles("env")
    site.edit("sites.yml", lambda s: profiles(s).pop("PEGASUS_HOME"))
    (found,) = site.wrong()
    assert "finds no pegasus-kickstart for site cori" in found
    assert "env: {PEGASUS_HOME: FOLDER}" in found
    assert site.wrong(planner="builtin") == []


def test_kickstart_is_looked_for_where_this_machine_has_its_folder(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    home, profiles = site.work / "pegasus", site.site_profiles("env")
    site.edit("sites.yml", lambda s: profiles(s).update(PEGASUS_HOME=str(home)))

    def told() -> tuple[Level, str]:
        (found,) = (f for f in site.check() if f.about == "kickstart")
        return found.level, found.what

    program = home / "bin/pegasus-kickstart"
    assert told() == (Level.NOTE, f"{program} is not on this machine")
    program.parent.mkdir(parents=True)
    assert told()[0] is Level.WRONG
    assert f"{program} is no program on this machine, where {home} is" in told()[1]
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert told() == (Level.OK, f"{program} records every task")


def test_a_kickstart_of_the_transformation_catalog_is_the_sites(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    profiles = site.site_profiles("env")
    site.edit("sites.yml", lambda s: profiles(s).pop("PEGASUS_HOME"))
    own = [{"name": "cori", "pfn": "/usr/bin/env", "type": "installed"}]
    entry = {"namespace": "pegasus", "name": "kickstart", "sites": own}
    site.edit("transformations.yml", lambda t: t["transformations"].append(entry))
    assert site.wrong() == []
    told = [f.what for f in site.check() if f.about == "kickstart"]
    assert told == ["/usr/bin/env records every task"]


@pytest.mark.parametrize(
    ("image", "lies", "mode", "served"),
    [
        ("file:///images/c.sif", "elsewhere", "persistent", False),
        ("/images/c.sif", "elsewhere", "off", False),
        ("/images/c.sif", None, "off", False),
        ("/images/c.sif", None, "persistent", True),
        ("/images/c.sif", "local", "off", True),
        ("docker://hub/c", None, "off", True),
    ],
)
def test_an_image_that_does_not_reach_the_site_is_told(
    site: Site, image: str, lies: str | None, mode: str, served: bool
) -> None:
    """In mode off as pegasus-plan 5.1.2 was seen to answer."""
    container = {"name": "box", "type": "singularity", "image": image}
    container |= {"image.site": lies} if lies else {}

    def use_it(catalog: dict[str, Any]) -> None:
        catalog["containers"] = [container, {**container, "name": "unused"}]
        catalog["transformations"][0]["sites"][0]["container"] = "box"

    pegasus(site, "echo 5.1.2")
    site.edit("transformations.yml", use_it)
    found = site.wrong(mode=mode)
    assert len(found) == (0 if served else 1)
    for words in found:
        assert "transformations.yml:1" in words and "containers.0" in words


def test_a_pegasus_that_does_not_start_is_told(site: Site) -> None:
    pegasus(site, "echo no java >&2; exit 1")
    (found,) = site.wrong()
    assert "does not answer: no java" in found


def test_a_style_that_has_no_buffer_is_told(site: Site) -> None:
    site.slurm(GOOD)
    pegasus(site, "echo 5.1.2")
    (found,) = site.wrong()
    assert found.startswith("catalogs: ") and "style: glite" in found


def test_a_buffer_is_reached_over_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """glite.arguments reach sbatch through the blahp of the other host."""
    site = Site(tmp_path, monkeypatch, "ssh")
    site.slurm(GOOD)
    site.condor()
    for planner in ("pegasus", "builtin"):
        pegasus(site, "echo 5.1.2")
        assert site.wrong(planner=planner) == []
    (found,) = [f for f in site.check() if f.about == "blahp"]
    assert (found.level, "slurm_local_submit" in found.would_do) == (Level.NOTE, True)


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


def test_a_folder_that_cannot_be_read_ends_no_check(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of another user, on PATH or as the path of the tier. Here its name
    is too long, which root may not look at either."""
    closed = f"{site.work}/{'x' * 300}"
    monkeypatch.setenv("PATH", f"{closed}:{os.environ['PATH']}")
    site.tier(path=f"{closed}/fast")
    site.edit(
        "replicas.yml",
        lambda r: r["replicas"][0].update(
            pfns=[{"site": "local", "pfn": f"{closed}/in.txt"}]
        ),
    )
    (found,) = [f for f in site.check() if f.level is Level.WRONG]
    assert found.about == "replicas" and "in.txt" in found.what


def test_a_disk_of_each_node_is_not_reserved(site: Site) -> None:
    site.sizes()
    site.edit(
        "sites.yml", lambda s: s["x-storage-tiers"]["cori"][0].update(granularity="1")
    )
    nvme = {"name": "nvme", "backend": "node-local", "path": "/nvme"}
    site.edit("sites.yml", lambda s: s["x-storage-tiers"]["cori"].append(nvme))

    def told(**said: str) -> str:
        (found,) = (f for f in site.check(**said) if f.about == "capacity")
        return found.what

    alone = told(mode="transient", tier="nvme")
    assert "would have to be free on its node (tier nvme)" in alone
    assert "reserved" not in alone
    both = told(mode="hybrid", capacity="auto", headroom="0")
    assert "would be reserved, and up to " in both
    assert both.count("would have to be free on its node (tier nvme)") == 1


def test_a_fault_that_cannot_be_read_is_refused_before_anything_runs(
    site: Site,
) -> None:
    site.tier(fail="sometimes")
    found = [f for f in site.check() if f.level is Level.WRONG]
    assert found[0].about == "workflow"
    assert "sites.yml:1: 'sometimes' names no fault" in found[0].what
    assert "x-storage-tiers.cori.0.fail" in found[0].what


def test_a_disk_of_each_node_that_this_machine_has_not_is_noted(site: Site) -> None:
    """`run` may start the jobs here, and then the first of them would fail."""

    def told() -> str:
        found = site.check(mode="transient", capacity="auto")
        (last,) = [f.what for f in found if f.about == "tier"]
        return last

    site.sizes()
    disk = site.work / "nvme"
    site.tier(backend="node-local", path=str(disk))
    assert told().endswith("; on this machine it is not")
    disk.mkdir()
    assert told() == f"{disk} is looked at on each node, when a job starts there"
    site.tier(path="$TMPDIR/x")
    assert told() == "$TMPDIR/x is looked at on each node, when a job starts there"


def test_where_no_mode_was_said_it_says_which_one_it_looks_at(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site.work)
    said = CliRunner().invoke(cli, ["check", "--json"]).stdout
    told = {f["about"]: f["what"] for f in json.loads(said)}
    assert (
        "this is mode persistent; without --bb-mode, plan plans mode off"
        in (told["mode"])
    )
