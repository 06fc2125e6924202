"""Replicas that a pattern of LFNs names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import read_replicas
from pegasus_bb.model.document import Data, Document
from pegasus_bb.model.replica_patterns import with_matches
from tests.support.pegasus_site import UserFolder

PATTERNS = [
    (r"(.*)_(\d+)\.fits", "/data/[2]/[1].fits"),
    (r"f\..*", "file:///data/[0]?[3]"),
    (".*", "http://host/[0]"),
]


def replicas(*files: str) -> dict[str, list[str]]:
    entries = [
        {"lfn": lfn, "regex": True, "pfns": [{"site": "far", "pfn": pfn}]}
        for lfn, pfn in PATTERNS
    ]
    catalog: Data = {"replicas": [{"lfn": "f.a", "pfns": [{"pfn": "/a"}]}, *entries]}
    job = {"uses": [{"lfn": lfn, "type": "input"} for lfn in files]}
    workflow = Document(Path("workflow.yml"), {"jobs": [job]})
    found = with_matches(Document(Path("replicas.yml"), catalog), workflow)
    new = found.data["replicas"][len(entries) + 1 :]
    assert all("regex" not in entry for entry in new)
    return {entry["lfn"]: [pfn["pfn"] for pfn in entry["pfns"]] for entry in new}


@pytest.mark.parametrize(
    ("lfn", "pfn"),
    [
        ("sky_12.fits", "/data/12/sky.fits"),
        ("f.b", "file:///data/f.b?[3]"),
        ("f.a", "file:///data/f.a?[3]"),
        ("xf.b", "http://host/xf.b"),
    ],
)
def test_the_first_pattern_that_names_a_whole_lfn_counts(lfn: str, pfn: str) -> None:
    assert replicas(lfn, lfn) == {lfn: [pfn]}


def test_a_flag_is_true_or_false_and_no_text() -> None:
    entry = {"lfn": "a", "regex": "false", "pfns": [{"pfn": "/a"}]}
    document = Document(Path("replicas.yml"), {"replicas": [entry]})
    with pytest.raises(CatalogError, match="regex is true or false"):
        with_matches(document, Document(Path("workflow.yml"), {"jobs": []}))
    with pytest.raises(CatalogError, match="regex is true or false"):
        read_replicas(document)


def test_a_workflow_runs_with_inputs_that_a_pattern_names(tmp_path: Path) -> None:
    user = UserFolder(tmp_path)
    with user.edited("replicas.yml") as catalog:
        (entry,) = catalog["replicas"]
        entry.update(lfn=r"(in)\.(t.t)", regex=True)
        entry["pfns"][0]["pfn"] = f"{user.work}/[1].[2]"
    user.plan("persistent", "--bb-planner", "builtin")
    assert user.run() == "hello\n"


def test_its_file_has_to_be_there(tmp_path: Path) -> None:
    user = UserFolder(tmp_path)
    with user.edited("replicas.yml") as catalog:
        (entry,) = catalog["replicas"]
        entry.update(lfn=".*", regex=True)
        entry["pfns"][0]["pfn"] = "/nowhere/[0]"
    said = user.refused("persistent", "--bb-planner", "builtin")
    assert "not where" in said
    assert "in.txt" in said
