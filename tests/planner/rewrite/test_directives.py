"""Every job of the site names the buffer, where the scheduler needs that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.site_directives import (
    add_shared_directives,
    directive_files,
)


def test_a_directory_needs_nothing(inputs: Inputs, directory_plan: Target) -> None:
    assert add_shared_directives(inputs, directory_plan) is inputs
    assert directive_files(directory_plan) == {}


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
