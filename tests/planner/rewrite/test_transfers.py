"""Transfers run where the buffer can be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target, site_profile
from pegasus_bb.planner.rewrite.passes import Pass
from pegasus_bb.planner.rewrite.transfer_tools import share_files, transfer_on_the_site


def saying(inputs: Inputs, **said: str) -> Inputs:
    """Properties with _ for a dot, as the user set them."""
    values = {key.replace("_", "."): value for key, value in said.items()}
    return replace(inputs, properties=inputs.properties.with_values(values, "-D"))


@pytest.mark.parametrize("other", ["condorio", "nonsharedfs"])
def test_a_planner_sees_one_shared_folder_whatever_is_stated(
    edited: Any, plan: Target, other: str
) -> None:
    """Launch makes the private folders in it."""
    at = ("sites", 1, "profiles", "pegasus", "data.configuration")
    inputs = saying(edited("sites", {at: other}), pegasus_data_configuration=other)
    after = transfer_on_the_site(inputs, plan)
    assert after.properties["pegasus.data.configuration"] == "sharedfs"
    profiles = after.sites.data["sites"][1]["profiles"]["pegasus"]
    assert profiles["data.configuration"] == "sharedfs"


def test_transfers_leave_the_submit_host_that_a_plain_run_wants(
    edited: Any, plan: Target
) -> None:
    at = ("sites", 1, "profiles", "pegasus", "auxillary.local")
    inputs = edited("sites", {at: "true"})
    after = transfer_on_the_site(inputs, plan)
    assert after.sites.data["sites"][1]["profiles"]["pegasus"][at[-1]] == "false"


def test_no_links_where_a_link_is_needed_is_refused(
    inputs: Inputs, plan: Target
) -> None:
    with pytest.raises(CatalogError, match=r"in.txt should be a link"):
        transfer_on_the_site(saying(inputs, pegasus_transfer_links="false"), plan)


@pytest.fixture
def served(plan: Target) -> Target:
    """The tier names a staging service."""
    settings = {**plan.request.settings, "service": "/run/pegasus-bb"}
    return replace(plan, request=plan.request._replace(settings=settings))


@pytest.mark.parametrize("step", [transfer_on_the_site, share_files])
@pytest.mark.parametrize("links", ["true", "false"])
def test_with_a_service_transfers_run_on_the_submit_host(
    inputs: Inputs, served: Target, step: Pass, links: str
) -> None:
    elsewhere = {"pegasus_transfer_stagein_remote_sites": "other"}
    inputs = saying(inputs, pegasus_transfer_links=links, **elsewhere)
    after = step(inputs, served)
    assert after.properties["pegasus.transfer.links"] == "false"
    assert "pegasus.transfer.*.remote.sites" not in after.properties
    said = site_profile(after, served.site, "auxillary.local")
    assert said is not None and said.value == "true"


@pytest.mark.parametrize("key", ["*", "stagein", "stageout"])
@pytest.mark.parametrize("named", ["cori", "other,cori", "*"])
def test_a_site_that_shall_transfer_contradicts_the_service(
    inputs: Inputs, served: Target, key: str, named: str
) -> None:
    values = {f"pegasus.transfer.{key}.remote.sites": named}
    inputs = replace(inputs, properties=inputs.properties.with_values(values, "x"))
    with pytest.raises(CatalogError, match="the staging service of the tier"):
        transfer_on_the_site(inputs, served)
