"""Every job of the site names the buffer, where the scheduler needs that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.site_directives import (
    add_shared_directives,
    shared_directives,
)


def test_a_directory_needs_nothing(inputs: Inputs, directory_plan: Target) -> None:
    assert add_shared_directives(inputs, directory_plan) is inputs


@pytest.mark.parametrize("folder", ["/home/a b", "/home/$(id)", "/x/*", "/x;y", "/x\n"])
def test_a_path_that_a_shell_would_read_is_refused(
    inputs: Inputs, plan: Target, folder: str
) -> None:
    with pytest.raises(UsageError, match="cannot stand in an option of sbatch"):
        add_shared_directives(inputs, replace(plan, submit_dir=Path(folder)))


def test_the_file_has_one_directive(plan: Target) -> None:
    text = shared_directives(plan.request)
    assert text == "#DW persistentdw name=pbb4f1c2a9e\n"
    lua = plan.request._replace(backend="slurm-lua")
    assert shared_directives(lua) == "#BB_LUA persist use pbb4f1c2a9e\n"


@pytest.mark.parametrize(
    "name", ["pbb hurry", "pbb\n#BB destroy", "hurryup", "pbb%u", "myname", "p-b"]
)
def test_a_name_that_slurm_would_misread_never_gets_there(
    plan: Target, name: str
) -> None:
    bad = plan.request._replace(name=name)
    with pytest.raises(UsageError, match="cannot be used"):
        shared_directives(bad)
