"""Jobs start through our launcher, transfers run our tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.gridstart import gridstart_note, start_with_kickstart
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.passes import add_launcher, rewrite

PLACES = {
    "sites": ("sites", 1, "profiles", "pegasus"),
    "transformations": ("transformations", 1, "sites", 0, "profiles", "pegasus"),
    "workflow": ("jobs", 1, "profiles", "pegasus"),
}


@pytest.mark.parametrize("document", PLACES)
@pytest.mark.parametrize("key", ["gridstart.launcher", "gridstart.launcher.arguments"])
def test_another_launcher_is_refused_wherever_it_is_set(
    edited: Any, plan: Target, document: str, key: str
) -> None:
    inputs = edited(document, {(*PLACES[document], key): "jsrun"})
    with pytest.raises(CatalogError, match="there can be no other") as error:
        add_launcher(inputs, plan)
    assert error.value.file.endswith(f"{document}.yml")
    assert error.value.found == "jsrun"


@pytest.mark.parametrize("document", PLACES)
def test_another_program_in_the_place_of_kickstart_is_refused(
    edited: Any, plan: Target, document: str
) -> None:
    inputs = edited(document, {(*PLACES[document], "gridstart"): "distribute"})
    with pytest.raises(CatalogError, match="without Kickstart"):
        start_with_kickstart(inputs, plan)


def test_a_property_without_kickstart_is_changed_for_the_planner(
    inputs: Inputs, plan: Target
) -> None:
    properties = inputs.properties.with_values({"pegasus.gridstart": "None"}, "-D")
    inputs = replace(inputs, properties=properties)
    after = start_with_kickstart(inputs, plan)
    assert after.properties["pegasus.gridstart"] == "kickstart"
    assert len(list(gridstart_note(inputs, "cori"))) == 1


def test_a_job_of_the_submit_host_may_have_its_own_launcher(
    edited: Any, plan: Target
) -> None:
    at = ("jobs", 2, "profiles", "pegasus", "gridstart.launcher")
    add_launcher(edited("workflow", {at: "nice"}), plan)


@pytest.mark.parametrize(
    ("key", "value"),
    [("pegasus.gridstart.launcher", "jsrun"), ("pegasus.gridstart", "Distribute")],
)
def test_a_property_that_insists_on_another_is_refused(
    inputs: Inputs, plan: Target, key: str, value: str
) -> None:
    properties = inputs.properties.with_values({key: value}, "-D")
    with pytest.raises(CatalogError) as error:
        rewrite(replace(inputs, properties=properties), plan)
    assert (error.value.file, error.value.key) == ("-D", key)
