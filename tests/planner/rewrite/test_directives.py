"""Every job of the site names the buffer, where the scheduler needs that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.site_directives import (
    add_shared_directives,
    directive_files,
    templates,
)
from tests.planner.rewrite.differences import changed

BBF = "--bbf=/home/me/run0001/bb/use.bbf"


def test_a_directory_needs_nothing(inputs: Inputs, directory_plan: Target) -> None:
    assert add_shared_directives(inputs, directory_plan) is inputs
    assert directive_files(directory_plan) == {}


def test_it_is_appended_wherever_arguments_are_set(
    inputs: Inputs, plan: Target
) -> None:
    at = "profiles/pegasus/glite.arguments"
    assert changed(inputs, add_shared_directives(inputs, plan)) == {
        f"sites/sites/1/{at}": f"--constraint=haswell {BBF}",
        f"transformations/transformations/0/{at}": f"--qos=xfer {BBF}",
        f"transformations/transformations/1/sites/0/{at}": f"--qos=regular {BBF}",
        f"workflow/jobs/1/{at}": f"--qos=debug {BBF}",
    }


def test_a_site_without_arguments_gets_the_option_alone(
    edited: Any, plan: Target
) -> None:
    inputs = edited("sites", {("sites", 1, "profiles"): {}})
    after = add_shared_directives(inputs, plan)
    assert after.sites.data["sites"][1]["profiles"] == {
        "pegasus": {"glite.arguments": BBF}
    }


def test_a_property_with_arguments_gets_it_too(inputs: Inputs, plan: Target) -> None:
    said = {"pegasus.glite.arguments": "--mem=1"}
    inputs = replace(inputs, properties=inputs.properties.with_values(said, "-D"))
    after = add_shared_directives(inputs, plan)
    assert after.properties["pegasus.glite.arguments"] == f"--mem=1 {BBF}"


@pytest.mark.parametrize("value", ["--bbf=/my/own.bbf", "-N 1 --bb=capacity=1GB"])
def test_a_buffer_of_the_user_s_own_is_refused(
    edited: Any, plan: Target, value: str
) -> None:
    at = ("jobs", 1, "profiles", "pegasus", "glite.arguments")
    with pytest.raises(CatalogError, match="one file of burst buffer") as error:
        add_shared_directives(edited("workflow", {at: value}), plan)
    assert (error.value.key, error.value.found) == (".".join(map(str, at)), value)


def test_a_buffer_in_the_properties_is_refused(inputs: Inputs, plan: Target) -> None:
    said = {"pegasus.glite.arguments": "--bbf=/x"}
    inputs = replace(inputs, properties=inputs.properties.with_values(said, "-D"))
    with pytest.raises(CatalogError, match="one file of burst buffer"):
        add_shared_directives(inputs, plan)


@pytest.mark.parametrize("folder", ["/home/a b", "/home/$(id)", "/x/*", "/x;y", "/x\n"])
def test_a_path_that_a_shell_would_read_is_refused(
    inputs: Inputs, plan: Target, folder: str
) -> None:
    with pytest.raises(UsageError, match="cannot stand in an option of sbatch"):
        add_shared_directives(inputs, replace(plan, submit_dir=Path(folder)))


def test_the_file_has_one_directive(plan: Target) -> None:
    assert directive_files(plan) == {"use.bbf": "#DW persistentdw name=pbb4f1c2a9e\n"}
    lua = replace(plan, request=plan.request._replace(backend="slurm-lua"))
    assert directive_files(lua) == {"use.bbf": "#BB_LUA persist use pbb4f1c2a9e\n"}


@pytest.mark.parametrize(
    "name", ["pbb hurry", "pbb\n#BB destroy", "hurryup", "pbb%u", "myname", "p-b"]
)
def test_a_name_that_slurm_would_misread_never_gets_there(
    plan: Target, name: str
) -> None:
    bad = replace(plan, request=plan.request._replace(name=name))
    with pytest.raises(UsageError, match="cannot be used"):
        directive_files(bad)


def test_a_value_that_is_missing_is_an_error_not_a_blank() -> None:
    template = templates().get_template("use.datawarp.bbf.j2")
    with pytest.raises((jinja2.UndefinedError, TypeError)):
        template.render()
