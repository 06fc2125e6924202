"""All passes together: a pure function, and the golden files."""

from __future__ import annotations

import copy
from typing import Any

import yaml

from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.passes import rewrite
from pegasus_bb.planner.rewrite.site_directives import USE, shared_directives
from tests.planner.rewrite.conftest import Golden


def frozen(inputs: Inputs) -> Any:
    names = ("workflow", "sites", "replicas", "transformations")
    data = {name: getattr(inputs, name).data for name in names}
    return copy.deepcopy({**data, "properties": dict(inputs.properties)})


def test_the_user_s_documents_stay_as_they_are(inputs: Inputs, plan: Target) -> None:
    before = frozen(inputs)
    rewrite(inputs, plan)
    assert frozen(inputs) == before


def test_all_of_it_as_files(inputs: Inputs, plan: Target, golden: Golden) -> None:
    after = rewrite(inputs, plan)
    for name in ("workflow", "sites", "transformations"):
        data = getattr(after, name).data
        golden(f"{name}.yml", yaml.safe_dump(data, sort_keys=False))
    golden("pegasus.properties", after.properties.to_text())
    golden(USE, shared_directives(plan.request))
