"""What `pegasus-bb check` says of files, planning and the programs of a submit host."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pegasus_bb.model.finding import Level
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from tests.run.check.site import GOOD, Site
from tests.support.backend_contract import OTHER_RUN


def test_a_site_that_fits_has_nothing_wrong(site: Site) -> None:
    assert site.wrong() == []
    assert " ".join(f.about for f in site.check()) == (
        "files folders nodes workflow replicas capacity python pegasus submit catalogs "
        "planner htcondor tier"
    )


def own_launcher(site: Site) -> None:
    with site.edited("sites.yml") as sites:
        own = sites["sites"][1]["profiles"]["pegasus"]
        own["gridstart.launcher"] = "/opt/wrap"


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
            lambda s: s.change("replicas.yml", replicas=[]),
            {},
            r"replicas: .*in\.txt",
        ),
        (lambda s: None, {"capacity": "1000PiB"}, "tier: .*/work has .* free, less"),
        (lambda s: s.tier(fail="soon"), {}, "tier: 'soon' names no fault"),
        (own_launcher, {}, "catalogs: .*there can be no other"),
        (
            lambda s: None,
            {"output_sites": ()},
            "catalogs: .*'out.txt' of job ID2 would vanish.* fix: --output-sites",
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
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["id"] = "a b"
    about = [f.about for f in site.check() if f.level is Level.WRONG]
    assert about == ["workflow", "slurm"]


def test_what_others_have_of_the_quota_is_told(site: Site) -> None:
    tier = {"path": str(site.work / "fast"), "quota": "64MiB"}
    site.tier(granularity="1MiB", **tier)
    FolderBackend(tier).create(OTHER_RUN._replace(capacity=48 << 20))
    assert site.about("tier", capacity="16MiB").level is Level.OK
    *_, told = (f for f in site.check(capacity="17MiB") if f.about == "tier")
    assert told.level is Level.NOTE
    assert told.what.startswith("16.0 MiB of it are not reserved, and 17.0 MiB would")


@pytest.mark.parametrize("about", ["tier", "scratch", "output"])
def test_a_file_where_a_folder_is_needed_is_told(site: Site, about: str) -> None:
    file = site.work / "file"
    file.touch()

    with site.edited("sites.yml") as sites:
        local, cluster = sites["sites"]
        if about == "tier":
            sites["x-storage-tiers"]["cori"][0]["path"] = f"{file}/below"
        else:
            of = cluster if about == "scratch" else local
            of["directories"][-1]["path"] = str(file)
    (found,) = site.wrong()
    assert found.startswith(f"{about}: ")
    assert f"{file} is no folder" in found
    assert about == "output" or f"{site.work}/sites.yml:" in found


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("", "not on this machine"),
        ("#!/no/sh -e\n", "its first line names '/no/sh'"),
        ("#!/bin/sh\r\n", "its first line names '/bin/sh\\r'"),  # ended by Windows
    ],
)
def test_a_program_that_cannot_start_is_told(site: Site, first: str, said: str) -> None:
    program = site.work / "program"
    if not first:
        program.mkdir()
    else:
        program.write_text(first)
        program.chmod(0o755)

    with site.edited("transformations.yml") as catalog:
        (entry,) = catalog["transformations"][0]["sites"]
        entry["pfn"] = str(program)
    (found,) = site.wrong()
    assert found.startswith("programs: ") and said in found


def test_a_blahp_that_hands_nothing_on_is_told(site: Site) -> None:
    site.slurm(GOOD)
    site.glite()
    site.condor()
    home = site.work / "blahp"
    site.tool("condor_config_val", f"echo {home}")
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
        site.tool(name, version)


def test_a_disk_of_each_node_is_not_reserved(site: Site) -> None:
    site.sizes()
    site.tier(granularity="1")
    nvme = {"name": "nvme", "backend": "node-local", "path": "/nvme"}
    with site.edited("sites.yml") as sites:
        sites["x-storage-tiers"]["cori"].append(nvme)

    alone = site.about("capacity", mode="transient", tier="nvme").what
    assert "would have to be free on its node (tier nvme)" in alone
    assert "reserved" not in alone
    hybrid = {"mode": "hybrid", "capacity": "auto", "headroom": "0"}
    both = site.about("capacity", **hybrid).what
    assert "would be reserved, and up to " in both
    assert both.count("would have to be free on its node (tier nvme)") == 1
