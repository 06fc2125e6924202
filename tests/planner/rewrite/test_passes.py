"""All passes together: a pure function, and the golden files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.model.properties import Settings
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.passes import rewrite
from pegasus_bb.planner.rewrite.site_directives import directive_files
from tests.planner.rewrite.conftest import Golden, read
from tests.planner.rewrite.differences import changed

RECORDED = Path(__file__).parents[2] / "recorded" / "1000genome-nersc"
TIER = """
x-storage-tiers:
  cori:
    - {name: bb, backend: datawarp, capacity: 700GiB}
"""


def frozen(inputs: Inputs) -> Any:
    names = ("workflow", "sites", "replicas", "transformations")
    data = {name: getattr(inputs, name).data for name in names}
    return copy.deepcopy({**data, "properties": dict(inputs.properties)})


def test_the_user_s_documents_stay_as_they_are(inputs: Inputs, plan: Target) -> None:
    before = frozen(inputs)
    rewrite(inputs, plan)
    assert frozen(inputs) == before


def test_what_comes_out_can_be_read_again(inputs: Inputs, plan: Target) -> None:
    again = read_workflow(rewrite(inputs, plan).workflow)
    assert list(again.jobs) == ["ID1", "ID2", "ID3", "BB0000001", "BB0000002"]


def test_all_of_it_as_files(inputs: Inputs, plan: Target, golden: Golden) -> None:
    after = rewrite(inputs, plan)
    for name in ("workflow", "sites", "transformations"):
        data = getattr(after, name).data
        golden(f"{name}.yml", yaml.safe_dump(data, sort_keys=False))
    golden("pegasus.properties", after.properties.to_text())
    for name, text in directive_files(plan).items():
        golden(name, text)


@pytest.fixture
def nersc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Inputs, Target]:
    """The authors' own files, and a tier for their site."""
    monkeypatch.setenv("NERSC_USER", "wfuser")
    monkeypatch.setenv("NERSC_PROJECT", "m0000")
    monkeypatch.setenv("NERSC_PEGASUS_HOME", "/opt/pegasus")
    monkeypatch.setenv("HOME", "/home/wfuser")
    for file in RECORDED.glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "sites.yml").open("a") as sites:
        sites.write(TIER)
    return read(tmp_path, "cori", Settings())


def test_the_authors_own_1000genome_is_rewritten(
    nersc: tuple[Inputs, Target],
) -> None:
    inputs, plan = nersc
    changes = changed(inputs, rewrite(inputs, plan))
    bbf = "--bbf=/home/me/run0001/bb/use.bbf"
    before = inputs.transformations.data["transformations"]
    arguments = [e["profiles"]["pegasus"]["glite.arguments"] for e in before]
    assert len(arguments) == 9
    for index, value in enumerate(arguments):
        key = f"transformations/transformations/{index}/profiles/pegasus/"
        assert changes.pop(key + "glite.arguments") == f"{value} {bbf}"
    workflow = [key for key in changes if key.startswith("workflow")]
    assert workflow[:2] == ["workflow/jobs/52", "workflow/jobs/53"]
    assert all(key.startswith("workflow/jobDependencies/") for key in workflow[2:])
    assert {key for key in changes if key not in workflow} == {
        "sites/sites/2/directories/0/path",
        "sites/sites/2/directories/0/fileServers/0/url",
        "sites/sites/2/directories/0/fileServers/0/operation",
        "sites/sites/2/directories/0/fileServers/1",
        "sites/sites/2/profiles/pegasus/gridstart.launcher",
        "sites/sites/2/profiles/pegasus/glite.arguments",
        "transformations/transformations/0/sites/0/pfn",
        "transformations/transformations/1/sites/0/pfn",
        "transformations/transformations/2/sites/0/pfn",
        "transformations/transformations/9",
        "transformations/transformations/10",
        "properties/pegasus.transfer.*.remote.sites",
        "properties/pegasus.data.configuration",
        "properties/pegasus.transfer.links",
    }
