"""The site's scratch moves to the planned prefix."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.passes import move_scratch
from tests.planner.rewrite.differences import changed


def test_scratch_and_its_file_server_become_the_prefix(
    inputs: Inputs, plan: Target
) -> None:
    at = "sites/sites/1/directories/1"
    assert changed(inputs, move_scratch(inputs, plan)) == {
        f"{at}/path": "/bb/pbb4f1c2a9e",
        f"{at}/fileServers/0/url": "file:///bb/pbb4f1c2a9e",
        f"{at}/fileServers/0/operation": "all",
        f"{at}/fileServers/1": "(gone)",
    }


def test_the_older_spelling_is_scratch_as_well(edited: Any, plan: Target) -> None:
    at = ("sites", 1, "directories", 1)
    after = move_scratch(edited("sites", {(*at, "type"): "shared-scratch"}), plan)
    scratch = after.sites.data["sites"][1]["directories"][1]
    assert (scratch["type"], scratch["path"]) == ("shared-scratch", "/bb/pbb4f1c2a9e")


def test_a_site_without_scratch_is_refused(edited: Any, plan: Target) -> None:
    inputs = edited("sites", {("sites", 1, "directories"): []})
    with pytest.raises(CatalogError, match="no sharedScratch") as error:
        move_scratch(inputs, plan)
    assert error.value.key == "sites.1.directories"
