"""Catalogs are found where pegasus-plan finds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.catalogs import Catalogs, load_inputs
from pegasus_bb.model.settings import read_properties
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


def sites(folder: Path, *defines: str) -> list[str]:
    return list(read(folder, *defines)[1].sites.sites)


def test_a_property_comes_before_the_workflow_and_that_before_the_directory(
    folder: Path,
) -> None:
    assert sites(folder) == ["cwd", "local"]
    inline = "siteCatalog: {" + SITES.replace("NAME", "inline").strip() + "}\n"
    (folder / "workflow.yml").write_text(WORKFLOW + inline)
    assert sites(folder) == ["inline", "local"]
    (folder / "other.yml").write_text(SITES.replace("NAME", "property"))
    for path in ("other.yml", f"{folder}/other.yml"):
        named = sites(folder, f"pegasus.catalog.site.file={path}")
        assert named == ["property", "local"]


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
    with pytest.raises(UsageError, match="there is no such folder"):
        read(folder, input_dir=[folder / "nowhere"])


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
        ("replicas.yml", "\n  - lfn: f.*\n    regex: true\n", "patterns of", 3),
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
