"""Tiers may stand in the site catalog, in bb.yml, or in a file that the user names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import SPEEDS, Catalogs, declared_tiers, load_inputs
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.tiers import KEY as TIERS

WORKFLOW = "name: w\njobs: [{id: A, name: a}]\n"
SITES = "sites: [{name: cluster}]\n"
PROGRAMS = "transformations: []\n"
TIER = """
x-storage-tiers:
  SITE:
    - {name: NAME, backend: directory, path: /fast}
"""
SPEED = "\nx-storage-speeds: {cluster: {pfs: {read: 1GB/s, write: 1GB/s}}}\n"


def tier(name: str, site: str = "cluster") -> str:
    return TIER.replace("SITE", site).replace("NAME", name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "workflow.yml").write_text(WORKFLOW)
    (work / "sites.yml").write_text(SITES)
    (work / "transformations.yml").write_text(PROGRAMS)
    return work


def read(folder: Path, *defines: str, cwd: Path | None = None) -> Catalogs:
    properties = read_properties(None, defines, folder, folder)
    return load_inputs(folder / "workflow.yml", properties, cwd or folder)[1]


def names(catalogs: Catalogs) -> list[str]:
    return [each.name for each in catalogs.tiers.get("cluster", [])]


def test_bb_yml_beside_the_workflow_declares_the_tiers(folder: Path) -> None:
    assert names(read(folder)) == []
    (folder / "bb.yml").write_text(tier("bb"))
    found = read(folder)
    entry = found.tier_entry(found.tiers["cluster"][0])
    error = entry.below("path").error("is wrong")
    assert (error.file, error.line) == (str(folder / "bb.yml"), 4)


def test_tiers_and_speeds_may_stand_in_different_files(folder: Path) -> None:
    (folder / "sites.yml").write_text(SITES + SPEED)
    (folder / "bb.yml").write_text(tier("bb"))
    found = read(folder)
    files = {key: document.path.name for key, document in found.storage.items()}
    assert files == {TIERS: "bb.yml", SPEEDS: "sites.yml"}


def test_tiers_in_two_places_are_refused_and_both_are_named(folder: Path) -> None:
    (folder / "sites.yml").write_text(SITES + tier("one"))
    (folder / "bb.yml").write_text(tier("two"))
    with pytest.raises(CatalogError, match="stands in two places") as error:
        read(folder)
    assert (error.value.file, error.value.line) == (str(folder / "bb.yml"), 2)
    assert f"{folder}/sites.yml:3" in str(error.value)


def test_a_named_file_wins_over_all_others(folder: Path) -> None:
    (folder / "sites.yml").write_text(SITES + tier("one"))
    (folder / "bb.yml").write_text(tier("two"))
    (folder.parent / "mine.yml").write_text(tier("three"))
    define = "pegasus.bb.tiers=../mine.yml"
    assert names(read(folder, define)) == ["three"]
    properties = read_properties(None, [define], folder, folder)
    declared = declared_tiers(folder / "workflow.yml", properties, folder)
    assert [each.name for each in declared["cluster"]] == ["three"]


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("x-storage-tier: {}\n", r"(?s)did you mean x-storage-tiers\?", 1),
        ("pegasus: '5.0'\ntiers: {}\n", "a file of tiers has no such key", 2),
        (tier("bb", site="cori"), "the site catalog does not have", 3),
        (tier("a b"), "a tier's name begins with a letter", 4),
    ],
)
def test_a_mistake_there_has_file_and_line(
    folder: Path, text: str, what: str, line: int
) -> None:
    (folder / "bb.yml").write_text(text)
    with pytest.raises(CatalogError, match=what) as error:
        read(folder)
    assert (error.value.file, error.value.line) == (str(folder / "bb.yml"), line)
