"""The mapper of a user's properties says which programs a plan may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.catalogs import read_programs
from pegasus_bb.model.document import Document
from pegasus_bb.model.transformations import MAPPER

SITES = [
    {"name": "cluster", "pfn": "/opt/a", "type": "installed"},
    {"name": "far", "pfn": "/far/a", "type": "stageable"},
    {"name": "local", "pfn": "/home/a", "type": "stageable"},
]
DOCUMENT = Document(
    Path("/home/me/transformations.yml"),
    {
        "transformations": [
            {"name": "a", "sites": SITES},
            {"name": "b", "sites": [{"name": "cluster", "pfn": "/opt/b"}]},
            {
                "namespace": "pegasus",
                "name": "transfer",
                "sites": [{"name": "cluster", "pfn": "/bb/transfer"}],
            },
            {"name": "bb_setup", "sites": [{"name": "local", "pfn": "/bb/setup"}]},
        ]
    },
)


@pytest.mark.parametrize(
    ("mapper", "pfn"),
    [
        ("All", "/opt/a"),
        ("Installed", "/opt/a"),
        ("Staged", "/far/a"),
        ("Submit", "/home/a"),
    ],
)
def test_the_program_is_the_one_that_pegasus_would_take(mapper: str, pfn: str) -> None:
    found = read_programs(DOCUMENT, {MAPPER: mapper}).executable("a", "cluster")
    assert found is not None
    assert found.pfn == pfn


@pytest.mark.parametrize("mapper", ["All", "Installed", "Staged", "Submit"])
def test_programs_of_the_planner_are_there_with_any_mapper(mapper: str) -> None:
    catalog = read_programs(DOCUMENT, {MAPPER: mapper})
    assert catalog.executable("bb_setup", "local") is not None
    assert catalog.executable("pegasus::transfer", "cluster") is not None
