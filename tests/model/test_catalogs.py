"""Catalogs are found where pegasus-plan finds them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs, load_inputs
from pegasus_bb.model.document import Data, as_json
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.workflow import Workflow, read_workflow

WORKFLOW = "name: w\njobs: [{id: A, name: a}]\n"
SITES = "sites: [{name: NAME, directories: [{type: sharedScratch, path: /s}]}]\n"
PROGRAMS = "transformations: [{name: a, sites: [{name: here, pfn: /bin/a}]}]\n"
REPLICAS = "replicas: [{lfn: f, pfns: [{site: here, pfn: /d/f}]}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workflow.yml").write_text(WORKFLOW)
    (tmp_path / "sites.yml").write_text(SITES.replace("NAME", "cwd"))
    (tmp_path / "transformations.yml").write_text(PROGRAMS)
    return tmp_path


def read(
    folder: Path, *defines: str, input_dir: Sequence[Path] = ()
) -> tuple[Workflow, Catalogs]:
    properties = read_properties(None, defines, folder, folder)
    workflow, catalogs = load_inputs(
        folder / "workflow.yml", properties, folder, input_dir
    )
    return read_workflow(workflow), catalogs


def replica(lfn: str, pfn: str) -> Data:
    return {"lfn": lfn, "pfns": [{"site": "local", "pfn": pfn}]}


def program(name: str, site: str, pfn: str) -> Data:
    place = {"name": site, "pfn": pfn, "type": "installed"}
    return {"name": name, "sites": [place]}


def carry(folder: Path, catalogs: Data) -> None:
    """Let the workflow carry ``catalogs``."""
    text = "".join(f"{key}: {json.dumps(each)}\n" for key, each in catalogs.items())
    (folder / "workflow.yml").write_text(WORKFLOW + text)


def sites(folder: Path, *defines: str) -> list[str]:
    return list(read(folder, *defines)[1].sites.sites)


def test_a_property_names_another_file_than_the_one_in_the_directory(
    folder: Path,
) -> None:
    assert sites(folder) == ["cwd", "local"]
    (folder / "other.yml").write_text(SITES.replace("NAME", "property"))
    for path in ("other.yml", f"{folder}/other.yml"):
        named = sites(folder, f"pegasus.catalog.site.file={path}")
        assert named == ["property", "local"]


def test_what_a_workflow_carries_wins_and_its_files_have_the_rest(folder: Path) -> None:
    carried = {
        "siteCatalog": {"sites": [{"name": "mine", "directories": []}]},
        "replicaCatalog": {"replicas": [replica("f", "/mine/f")]},
        "transformationCatalog": {"transformations": [program("mix", "cwd", "/mine")]},
    }
    carry(folder, carried)
    (folder / "replicas.yml").write_bytes(
        as_json({"replicas": [replica("f", "/file/f"), replica("g", "/file/g")]})
    )
    programs = [program("mix", "cwd", "/f"), program("mix", "mine", "/f/mix")]
    programs[0]["sites"] += programs.pop()["sites"]
    (folder / "transformations.yml").write_bytes(
        as_json({"transformations": [*programs, program("sift", "cwd", "/f/sift")]})
    )
    found = read(folder)[1]
    assert list(found.sites.sites) == ["mine", "cwd", "local"]
    replicas = found.replicas.replicas
    assert [replicas[lfn][0].pfn for lfn in "fg"] == ["/mine/f", "/file/g"]
    mix = found.transformations.executable
    assert [mix("mix", site).pfn for site in ("cwd", "mine")] == ["/mine", "/f/mix"]
    assert mix("sift", "cwd").pfn == "/f/sift"


def test_an_error_names_the_file_that_an_entry_of_two_catalogs_is_from(
    folder: Path,
) -> None:
    carry(folder, {"replicaCatalog": {"replicas": [replica("f", "/mine/f")]}})
    rows = [replica("f", "/file/f"), replica("g", "/file/g")]
    (folder / "replicas.yml").write_bytes(as_json({"replicas": rows}))
    replicas = read(folder)[1].replicas
    mine, other = (replicas.error(lfn, "is wrong") for lfn in "fg")
    assert Path(mine.file).name == "workflow.yml"
    assert Path(other.file).name == "replicas.yml"
    lines = (folder / "replicas.yml").read_text().splitlines()
    assert '"g"' in "".join(lines[other.line - 1 : other.line + 2])
    assert other.key == "replicas.1"


def test_a_site_of_a_program_that_only_the_file_has_is_told_with_its_line(
    folder: Path,
) -> None:
    carry(
        folder,
        {"transformationCatalog": {"transformations": [program("mix", "a", "/m")]}},
    )
    below = program("mix", "b", "/f/mix")
    (folder / "transformations.yml").write_bytes(as_json({"transformations": [below]}))
    catalog = read(folder)[1].transformations
    keys = next(catalog.places("mix", "b"))
    assert catalog.document.place(keys).startswith(f"{folder}/transformations.yml:")


@pytest.mark.parametrize(
    ("carried", "beside", "where"),
    [
        (["x"], ["y"], "workflow.yml"),
        ([], ["y"], "transformations.yml"),
        ([], 5, "transformations.yml"),
        ([{"name": "mix"}], [{"name": "mix", "sites": 5}], "transformations.yml"),
        ([{"name": "mix", "sites": [3]}], [{"name": "mix"}], "workflow.yml"),
    ],
)
def test_a_damaged_catalog_is_told_whether_it_is_carried_or_a_file(
    folder: Path, carried: list[Any], beside: Any, where: str
) -> None:
    carry(folder, {"transformationCatalog": {"transformations": carried}})
    (folder / "transformations.yml").write_bytes(as_json({"transformations": beside}))
    with pytest.raises(CatalogError) as error:
        read(folder)
    assert Path(error.value.file).name == where


def test_other_tiers_in_the_workflow_than_in_the_site_catalog_are_refused(
    folder: Path,
) -> None:
    tiers = {"x-storage-tiers": {}}
    carry(folder, {"siteCatalog": {"sites": [{"name": "mine"}], **tiers}})
    text = (folder / "sites.yml").read_text()
    (folder / "sites.yml").write_text(text + "x-storage-tiers: {}\n")
    assert "mine" in sites(folder)  # a generator may write both
    (folder / "sites.yml").write_text(text + "x-storage-tiers: {cwd: []}\n")
    with pytest.raises(CatalogError, match="stands in two places"):
        read(folder)


def test_replicas_may_be_named_and_absent_as_for_pegasus_and_programs_carried(
    folder: Path,
) -> None:
    gone = "pegasus.catalog.replica.file=gone.yml"
    assert not read(folder, gone)[1].replicas.replicas
    gone = "pegasus.catalog.transformation.file=gone.yml"
    with pytest.raises(CatalogError, match="cannot be read"):
        read(folder, gone)
    carried = {"transformations": [program("mix", "cwd", "/mine")]}
    carry(folder, {"transformationCatalog": carried})
    assert read(folder, gone)[1].transformations.executable("mix", "cwd")


def test_a_workflow_has_a_transformation_catalog(folder: Path) -> None:
    (folder / "transformations.yml").unlink()
    with pytest.raises(CatalogError, match="no transformation catalog") as error:
        read(folder)
    assert "-Dpegasus.catalog.transformation.file=FILE" in error.value.would_do


def test_files_of_input_dirs_come_before_those_of_the_catalog(folder: Path) -> None:
    (folder / "replicas.yml").write_text(REPLICAS)
    for name in ("one", "two"):
        (folder / name / "deep").mkdir(parents=True)
        (folder / name / "f").write_text(name)
    (folder / "two" / "deep" / "g").write_text("y")
    found = read(folder, input_dir=[folder / "one", folder / "two"])[1].replicas
    pfns = [str(folder / "one" / "f"), str(folder / "two" / "f"), "/d/f"]
    assert [replica.pfn for replica in found.replicas["f"]] == pfns
    assert found.replicas["deep/g"][0].site == "local"
    entries = {entry["lfn"]: entry for entry in found.document.data["replicas"]}
    assert [pfn["pfn"] for pfn in entries["f"]["pfns"]] == pfns
    assert "f" in read(folder, input_dir=[folder / "nowhere"])[1].replicas.replicas


@pytest.mark.parametrize(
    ("name", "text", "what", "line"),
    [
        ("sites.yml", " {a: 1}\n", "needs a list of sites", 1),
        ("sites.yml", "\n  - {name: a}\n  - {name: a}\n", "one name", 3),
        (
            "sites.yml",
            "\n  - name: a\n    directories:\n      - {type: sharedScratch}\n",
            "a directory needs: path",
            4,
        ),
        (
            "sites.yml",
            "\n  - name: a\n    directories:\n      - type: sharedScratch\n"
            "        path: /s\n        fileServers:\n"
            "          - {operation: all, url: fil:///s}\n",
            r"(?s)no such scheme.*did you mean file://\?",
            7,
        ),
        (
            "sites.yml",
            "\n  - {name: a}\nx-storage-tier: {}\n",
            r"(?s)no such key.*did you mean x-storage-tiers\?",
            3,
        ),
        ("transformations.yml", "\n  - {sites: []}\n", "transformation needs: name", 2),
        (
            "transformations.yml",
            "\n  - name: a\n    sites: [{}]\n",
            "needs: name, pfn",
            3,
        ),
        ("replicas.yml", "\n  - lfn: f(\n    regex: true\n", "is no pattern", 2),
        (
            "replicas.yml",
            "\n  - lfn: f\n    pfns:\n      - {site: x}\n",
            "needs: pfn",
            4,
        ),
        ("replicas.yml", "\n  - lfn: f\n    metadata: {size: 1.5G}\n", "'s size", 3),
    ],
)
def test_a_mistake_has_file_and_line(
    folder: Path, name: str, text: str, what: str, line: int
) -> None:
    (folder / name).write_text(f"{Path(name).stem}:{text}")
    with pytest.raises(CatalogError, match=what) as error:
        read(folder)
    assert (error.value.file, error.value.line) == (str(folder / name), line)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sites.yml", "sites: [{name: a, directories: 3}]\n"),
        ("workflow.yml", "name: w\njobs: []\njobDependencies: 3\n"),
        ("sites.yml", "sites: [{name: a, profiles: {pegasus: x}}]\n"),
        ("replicas.yml", "replicas: [{lfn: a, pfns: 3}]\n"),
        ("transformations.yml", "transformations: [{name: a, sites: x}]\n"),
    ],
)
def test_a_value_of_the_wrong_shape_is_an_error_not_a_crash(
    folder: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(CatalogError) as error:
        read(folder)
    assert error.value.file == str(folder / name)
