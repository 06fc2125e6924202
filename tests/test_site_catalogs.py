"""Every ready catalog is one that planning takes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from pegasus_bb.model.catalogs import read_sites
from pegasus_bb.model.document import load
from pegasus_bb.model.tiers import read_tiers
from tests.support.forked import pegasus_bb
from tests.support.pegasus_site import write_site
from tests.support.real_pegasus import HOME, MARKS, WorkflowRunner

FOLDER = Path(__file__).parents[1] / "site-catalogs"
CATALOGS = sorted(FOLDER.glob("*.yml"))
SLURM = FOLDER / "slurm-datawarp.yml"
HERE = {
    "SCRATCH": "/lus/scratch",
    "FAST": "/fast",
    "RESULTS": "/home/me/results",
    "QUEUE": "debug",
    "SITE_PEGASUS": str(HOME.bin.parent) if HOME else "/opt/pegasus",
}
GIVEN = ("--sites", "hpc", "--output-sites", "local", "--dir", "submit")
ON_TIER = ("--bb-mode", "persistent", "--bb-capacity", "1GiB")
OURS = (sys.executable, "-m", "pegasus_bb", "plan")


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda path: path.name)
def test_a_catalog_declares_a_tier_for_a_site_with_scratch(catalog: Path) -> None:
    document = load(catalog, HERE)
    sites = read_sites(document)
    tiers = read_tiers(document, sites.sites)
    assert tiers
    for site in tiers:
        assert sites.site(site).scratch is not None


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda path: path.name)
def test_a_catalog_needs_no_variable_that_pegasus_plan_unsets(catalog: Path) -> None:
    text = catalog.read_text()
    assert "${PEGASUS_HOME}" not in text  # nor in a comment, where it expands, too


def test_the_readme_names_each() -> None:
    readme = (FOLDER / "README.md").read_text()
    files = [*CATALOGS, *FOLDER.glob("*.properties")]
    assert [f.name for f in files if f"`{f.name}`" not in readme] == []


def on_slurm(work: Path) -> None:
    """The folder of a user who took the Slurm catalog and its properties. One input is
    of site local, one of the site with the buffer."""
    shutil.copy(SLURM, work / "sites.yml")
    properties = SLURM.with_suffix(".properties")
    shutil.copy(properties, work / "pegasus.properties")
    text = (work / "transformations.yml").read_text()
    (work / "transformations.yml").write_text(text.replace("cori", "hpc"))
    workflow = json.loads((work / "workflow.yml").read_text())
    workflow["jobs"][1]["uses"].append({"lfn": "too.txt", "type": "input"})
    (work / "workflow.yml").write_text(json.dumps(workflow))
    pfn = f"file://{work / 'in.txt'}"
    replicas = [
        {"lfn": lfn, "pfns": [{"site": site, "pfn": pfn}]}
        for lfn, site in {"in.txt": "local", "too.txt": "hpc"}.items()
    ]
    catalog = {"pegasus": "5.0", "replicas": replicas}
    (work / "replicas.yml").write_text(json.dumps(catalog))


# Site -> what the jobs ask for, of the 1 GiB that the test says.
OF_NODES = {
    "biowulf": "--gres=lscratch:$INT(bb_request)",
    "csc": "--gres=nvme:$INT(bb_request)",
    "frontier": "-C nvme",
    "marenostrum5": "",
}


@pytest.mark.parametrize(
    ("catalog", "mode"),
    [
        ("slurm-datawarp.yml", "persistent"),
        ("slurm-datawarp.yml", "off"),
        ("slurm-lua.yml", "persistent"),
        ("slurm-lua.yml", "transient"),
        ("slurm-node-local.yml", "transient"),
        ("slurm-two-tiers.yml", "hybrid"),
        *((f"{site}.yml", "transient") for site in OF_NODES),
    ],
)
def test_the_built_in_planner_takes_the_catalogs_of_slurm(
    tmp_path: Path, catalog: str, mode: str
) -> None:
    work = tmp_path / "work"
    write_site(work)
    on_slurm(work)
    shutil.copy(FOLDER / catalog, work / "sites.yml")
    words = ("--bb-planner", "builtin", "--bb-capacity", "1GiB", "--bb-mode", mode)
    argv = ["plan", *GIVEN, *words, "workflow.yml"]
    done = pegasus_bb(argv, work, {**os.environ, **HERE})
    assert done.returncode == 0, done.stderr
    [dag] = work.glob("submit/*/*/*/*/*.dag")
    if catalog in ("slurm-node-local.yml", "slurm-two-tiers.yml"):
        assert "nvme" in (dag.parent / "bb/transient.json").read_text()
    if wanted := OF_NODES.get(catalog.removesuffix(".yml")):
        jobs = [file.read_text() for file in dag.parent.glob("**/*.sub")]
        assert any(wanted in text for text in jobs)


@MARKS[0]
@MARKS[1]
@pytest.mark.parametrize(
    ("argv", "transfers"),
    [
        ((*OURS, *ON_TIER), "stage_in_remote_"),
        ((*OURS, "--bb-mode", "off"), "stage_in_local_"),
        (("pegasus-plan",), "stage_in_local_"),
    ],
    ids=["persistent", "off", "plain"],
)
def test_a_real_pegasus_takes_the_slurm_catalog(
    tmp_path: Path, argv: tuple[str, ...], transfers: str
) -> None:
    runner = WorkflowRunner(tmp_path)
    on_slurm(runner.work)
    runner.call(*argv, *GIVEN, "workflow.yml", **HERE)
    [stage_in, *_more] = runner.work.glob("submit/*/*/*/*/00/00/stage_in_*.sub")
    assert stage_in.name.startswith(transfers)
