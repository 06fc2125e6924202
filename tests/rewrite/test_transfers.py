"""Transfers run where the buffer can be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.errors import CatalogError
from pegasus_bb.rewrite.inputs import Inputs, Target
from pegasus_bb.rewrite.transfers import transfer_on_the_site
from tests.rewrite.differences import changed


def saying(inputs: Inputs, **said: str) -> Inputs:
    """Properties with _ for a dot, as the user set them."""
    values = {key.replace("_", "."): value for key, value in said.items()}
    return replace(inputs, properties=inputs.properties.with_values(values, "-D"))


def test_three_properties_are_set(inputs: Inputs, plan: Target) -> None:
    assert changed(inputs, transfer_on_the_site(inputs, plan)) == {
        "properties/pegasus.transfer.*.remote.sites": "cori",
        "properties/pegasus.data.configuration": "sharedfs",
        "properties/pegasus.transfer.links": "true",
    }


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ("other", "other,cori"),
        ("cori", "cori"),
        ("a,cori,b", "a,cori,b"),
        ("*", "*,cori"),
    ],
)
def test_the_site_joins_those_that_the_user_named(
    inputs: Inputs, plan: Target, said: str, becomes: str
) -> None:
    key = "pegasus.transfer.*.remote.sites"
    inputs = replace(inputs, properties=inputs.properties.with_values({key: said}, "x"))
    assert transfer_on_the_site(inputs, plan).properties[key] == becomes


def test_sharedfs_may_have_been_said(edited: Any, plan: Target) -> None:
    at = ("sites", 1, "profiles", "pegasus", "data.configuration")
    inputs = saying(
        edited("sites", {at: "sharedfs"}), pegasus_data_configuration="sharedfs"
    )
    after = transfer_on_the_site(inputs, plan)
    assert after.properties["pegasus.data.configuration"] == "sharedfs"


@pytest.mark.parametrize("other", ["condorio", "nonsharedfs"])
def test_a_property_that_insists_on_another_is_refused(
    inputs: Inputs, plan: Target, other: str
) -> None:
    with pytest.raises(CatalogError, match="sharedfs") as error:
        transfer_on_the_site(saying(inputs, pegasus_data_configuration=other), plan)
    assert (error.value.file, error.value.found) == ("-D", other)


def test_a_site_that_insists_on_another_is_refused(edited: Any, plan: Target) -> None:
    at = ("sites", 1, "profiles", "pegasus", "data.configuration")
    with pytest.raises(CatalogError, match="sharedfs") as error:
        transfer_on_the_site(edited("sites", {at: "condorio"}), plan)
    assert error.value.key == "sites.1.profiles.pegasus.data.configuration"


def test_another_site_may_have_its_own_way(edited: Any, plan: Target) -> None:
    at = ("sites", 0, "profiles", "pegasus", "data.configuration")
    transfer_on_the_site(edited("sites", {at: "condorio"}), plan)


def test_transfers_leave_the_submit_host_that_a_plain_run_wants(
    edited: Any, plan: Target
) -> None:
    at = ("sites", 1, "profiles", "pegasus", "auxillary.local")
    inputs = edited("sites", {at: "true"})
    done = changed(inputs, transfer_on_the_site(inputs, plan))
    assert done["sites/sites/1/profiles/pegasus/auxillary.local"] == "false"


def test_no_links_where_a_link_is_needed_is_refused(
    inputs: Inputs, plan: Target
) -> None:
    with pytest.raises(CatalogError, match=r"in.txt should be a link"):
        transfer_on_the_site(saying(inputs, pegasus_transfer_links="false"), plan)


def test_no_links_is_the_user_s_choice_where_none_is_needed(
    inputs: Inputs, plan: Target
) -> None:
    files = {k: replace(f, how="copy") for k, f in plan.placement.files.items()}
    plan = replace(plan, placement=replace(plan.placement, files=files))
    after = transfer_on_the_site(saying(inputs, pegasus_transfer_links="false"), plan)
    assert after.properties["pegasus.transfer.links"] == "false"
