"""What `pegasus-bb check` says of files, planning and the programs of a submit host."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.cli import cli
from pegasus_bb.model.finding import Level
from tests.run.check.site import GOOD, Site


def test_a_site_that_fits_has_nothing_wrong(site: Site) -> None:
    assert site.wrong() == []
    assert " ".join(f.about for f in site.check()) == (
        "files workflow replicas capacity python pegasus submit catalogs planner "
        "htcondor tier"
    )


def own_launcher(site: Site) -> None:
    profiles = site.site_profiles("pegasus")
    launcher = {"gridstart.launcher": "/opt/wrap"}
    site.edit("sites.yml", lambda s: profiles(s).update(launcher))


def no_plan(site: Site) -> None:
    pegasus(site, "echo no java >&2; exit 1")


def no_style(site: Site) -> None:
    site.slurm(GOOD)
    pegasus(site, "echo 5.1.2")


@pytest.mark.parametrize(
    ("spoil", "said", "what"),
    [
        (lambda s: (s.work / "workflow.yml").write_text("["), {}, "files: .*workflow"),
        (
            lambda s: (s.work / "in.txt").unlink(),
            {},
            r"replicas\.yml:[1-9]\d*: not where the catalog says: in\.txt",
        ),
        (
            lambda s: s.edit("replicas.yml", lambda r: r.update(replicas=[])),
            {},
            r"replicas: .*in\.txt",
        ),
        (lambda s: None, {"capacity": "1000PiB"}, "tier: .*/work has .* free, less"),
        (lambda s: s.tier(fail="soon"), {}, "tier: 'soon' names no fault"),
        (own_launcher, {}, "catalogs: .*there can be no other"),
        (
            lambda s: None,
            {"output_sites": ()},
            "catalogs: the result 'out.txt' of job ID2 would vanish",
        ),
        (no_plan, {}, "does not answer: no java"),
        (no_style, {}, "catalogs: .*style: glite"),
    ],
)
def test_a_single_mistake_is_named_once(
    site: Site, spoil: Callable[[Site], object], said: dict[str, Any], what: str
) -> None:
    spoil(site)
    (found,) = site.wrong(**said)
    assert re.search(what, found)


def test_a_mistake_in_the_workflow_does_not_hide_those_of_the_site(site: Site) -> None:
    site.slurm("show-burst.no-persistent.txt")
    site.glite()
    site.edit("workflow.yml", lambda w: w["jobs"][0].update(id="a b"))
    about = [f.about for f in site.check() if f.level is Level.WRONG]
    assert about == ["workflow", "slurm"]


def test_an_input_that_is_on_the_site_alone_is_believed(site: Site) -> None:
    (site.work / "in.txt").unlink()
    pfns = [{"site": "cori", "pfn": "/nowhere/in.txt"}]
    site.edit("replicas.yml", lambda r: r["replicas"][0].update(pfns=pfns))
    assert site.wrong() == []


@pytest.mark.parametrize("about", ["tier", "scratch", "output"])
def test_a_file_where_a_folder_is_needed_is_told(site: Site, about: str) -> None:
    file = site.work / "file"
    file.touch()

    def name_it(sites: dict[str, Any]) -> None:
        local, cluster = sites["sites"]
        if about == "tier":
            sites["x-storage-tiers"]["cori"][0]["path"] = f"{file}/below"
        else:
            of = cluster if about == "scratch" else local
            of["directories"][-1]["path"] = str(file)

    site.edit("sites.yml", name_it)
    (found,) = site.wrong()
    assert found.startswith(f"{about}: ")
    assert f"{file} is no folder" in found
    assert about == "output" or f"{site.work}/sites.yml:" in found


def test_a_program_that_may_not_be_run_is_told(site: Site) -> None:
    program = site.work / "program"
    program.touch(0o644)

    def name_it(catalog: dict[str, Any]) -> None:
        (entry,) = catalog["transformations"][0]["sites"]
        entry["pfn"] = str(program)

    site.edit("transformations.yml", name_it)
    found = site.about("programs")
    assert (found.level, found.would_do) == (Level.WRONG, f"chmod +x {program}")


@pytest.mark.parametrize(
    ("kind", "said"),
    [("folder", "not on this machine"), ("script", "its first line names /no/sh")],
)
def test_a_program_that_cannot_start_is_told(site: Site, kind: str, said: str) -> None:
    program = site.work / "program"
    if kind == "folder":
        program.mkdir()
    else:
        program.write_text("#!/no/sh -e\n")
        program.chmod(0o755)

    def name_it(catalog: dict[str, Any]) -> None:
        (entry,) = catalog["transformations"][0]["sites"]
        entry["pfn"] = str(program)

    site.edit("transformations.yml", name_it)
    (found,) = site.wrong()
    assert found.startswith("programs: ") and said in found


def test_a_program_that_is_not_on_this_machine_may_be_on_the_site(site: Site) -> None:
    def mistype(catalog: dict[str, Any]) -> None:
        (program,) = catalog["transformations"][0]["sites"]
        program["pfn"] = "/opt/bin/mistyped"

    assert "programs" not in [f.about for f in site.check()]
    site.edit("transformations.yml", mistype)
    (alone,) = site.wrong()  # all jobs run here
    site.condor()
    found = site.about("programs")
    assert found.level is Level.NOTE
    assert alone.startswith(f"programs: {found.what} -> ")
    assert "(/opt/bin/mistyped)" in found.what


def test_a_capacity_below_the_sum_means_phases_or_the_pfs(site: Site) -> None:
    site.sizes()
    site.tier(granularity="1")
    told = [site.about("capacity", capacity=size) for size in ("156", "155", "120")]
    assert [found.what.split(" for ")[1] for found in told] == [
        "156 B of files",
        "156 B of files, in 2 phases",
        "106 B of files, and 1 file more on the PFS",
    ]


def test_what_auto_takes_is_looked_at(site: Site) -> None:
    (found,) = site.wrong(mode="auto")
    assert found.startswith("mode: ") and "no speeds are declared" in found
    slow, fast = ({"read": rate, "write": rate} for rate in ("1MB/s", "1GB/s"))
    speeds = {"cori": {"pfs": slow, "bb": fast}}
    site.edit("sites.yml", lambda s: s.update({"x-storage-speeds": speeds}))
    site.sizes()
    assert site.wrong(mode="auto") == []
    assert site.about("mode", mode="auto").what.startswith("auto takes ")


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
    found = site.about("pegasus")
    assert found.level is Level.NOTE
    assert found.what == f"5.0.8 in {site.bin} plans; this was tried with 5.1"


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

    program = home / "bin/pegasus-kickstart"
    assert site.about("kickstart").what == f"{program} is not on this machine"
    program.parent.mkdir(parents=True)
    (found,) = site.wrong()
    assert f"{program} is no program on this machine, where {home} is" in found
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert site.about("kickstart").what == f"{program} records every task"


def test_a_kickstart_of_the_transformation_catalog_is_the_sites(site: Site) -> None:
    pegasus(site, "echo 5.1.2")
    profiles = site.site_profiles("env")
    site.edit("sites.yml", lambda s: profiles(s).pop("PEGASUS_HOME"))
    own = [{"name": "cori", "pfn": "/usr/bin/env", "type": "installed"}]
    entry = {"namespace": "pegasus", "name": "kickstart", "sites": own}
    site.edit("transformations.yml", lambda t: t["transformations"].append(entry))
    assert site.wrong() == []
    assert site.about("kickstart").what == "/usr/bin/env records every task"


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
    found = site.about("blahp")
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
    assert mend.strip().startswith("fix: ")
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
    pfns = [{"site": "local", "pfn": f"{closed}/in.txt"}]
    site.edit("replicas.yml", lambda r: r["replicas"][0].update(pfns=pfns))
    (found,) = site.wrong()
    assert re.match(r"replicas: .*in\.txt", found)


def test_a_disk_of_each_node_is_not_reserved(site: Site) -> None:
    site.sizes()
    site.tier(granularity="1")
    nvme = {"name": "nvme", "backend": "node-local", "path": "/nvme"}
    site.edit("sites.yml", lambda s: s["x-storage-tiers"]["cori"].append(nvme))

    alone = site.about("capacity", mode="transient", tier="nvme").what
    assert "would have to be free on its node (tier nvme)" in alone
    assert "reserved" not in alone
    hybrid = {"mode": "hybrid", "capacity": "auto", "headroom": "0"}
    both = site.about("capacity", **hybrid).what
    assert "would be reserved, and up to " in both
    assert both.count("would have to be free on its node (tier nvme)") == 1


def test_a_disk_of_each_node_that_this_machine_has_not_is_noted(site: Site) -> None:
    """`run` may start the jobs here, and then the first of them would fail."""

    def told() -> str:
        return site.about("tier", mode="transient", capacity="auto").what

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
    shown = CliRunner().invoke(cli, ["check", "--json"]).stdout
    told = {f["about"]: f["what"] for f in json.loads(shown)}
    words = "this shows mode persistent; plan would take mode off"
    assert words in told["mode"]
