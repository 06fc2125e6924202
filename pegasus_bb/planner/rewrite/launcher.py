"""Starts every job of the site through our launcher, and transfers with our tool.

The profile gridstart.launcher puts a program before each Kickstart of the site, also in
auxiliary jobs. A job with another launcher, or without Kickstart, would start with the
planned prefix as its scratch, so both are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pegasus_bb.model.document import Data
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    ProfileSetting,
    Target,
    job_profiles,
    site_index,
    site_profile,
    transformation_profiles,
    with_values,
)

LAUNCHER = "gridstart.launcher"
AUXILIARIES = ("transfer", "dirmanager", "cleanup")


def add_launcher(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError if the user has set a launcher already."""
    _refuse_other_launchers(inputs, plan.site)
    at = ("sites", site_index(inputs.sites, plan.site), "profiles", "pegasus")
    launch = str(plan.bin / "launch")
    return replace(
        inputs,
        sites=with_values(inputs.sites, {(*at, LAUNCHER): launch}),
        transformations=inputs.transformations.with_data(_with_tools(inputs, plan)),
    )


def add_launcher_to_jobs(inputs: Inputs, plan: Target) -> Inputs:
    """``add_launcher`` for mode transient: without a staging service transfers stay
    unchanged.

    Raises CatalogError if the user has set a launcher already.
    """
    added = add_launcher(inputs, plan)
    return added if plan.request.service else replace(inputs, sites=added.sites)


def _refuse_other_launchers(inputs: Inputs, site: str) -> None:
    for key in (LAUNCHER, f"{LAUNCHER}.arguments"):
        for setting in _all_settings(inputs, site, key):
            raise setting.error(
                "the launcher is how a job finds the buffer, so there can be no other",
                "take it out, or plan with --bb-mode off",
            )
        if f"pegasus.{key}" in inputs.properties:
            raise inputs.properties.error(
                f"pegasus.{key}",
                "the launcher is how a job finds the buffer, so there can be no other",
                "take it out, or plan with --bb-mode off",
            )
    for setting in _all_settings(inputs, site, "gridstart"):
        if setting.value.lower() != "kickstart":
            raise setting.error(_NO_KICKSTART, "gridstart: kickstart, or leave it out")
    if inputs.properties.get("pegasus.gridstart", "kickstart").lower() != "kickstart":
        raise inputs.properties.error(
            "pegasus.gridstart", _NO_KICKSTART, "Kickstart, or leave it out"
        )


_NO_KICKSTART = "without Kickstart a job has no launcher and does not find the buffer"


def _all_settings(inputs: Inputs, site: str, key: str) -> Iterator[ProfileSetting]:
    own = site_profile(inputs, site, key)
    if own is not None:
        yield own
    yield from transformation_profiles(inputs, key)
    yield from job_profiles(inputs, key)


def _with_tools(inputs: Inputs, plan: Target) -> Data:
    data = inputs.transformations.data
    pfn = str(plan.bin / "transfer")
    known: list[Data] = list(data.get("transformations") or [])
    for name in AUXILIARIES:
        places = [i for i, entry in enumerate(known) if _is_pegasus_tool(entry, name)]
        for place in places:
            known[place] = _on_site(known[place], plan.transfer_site, pfn)
        if not places:
            entry = {"namespace": "pegasus", "name": name}
            known.append(_on_site(entry, plan.transfer_site, pfn))
    return {**data, "transformations": known}


def _is_pegasus_tool(entry: Data, name: str) -> bool:
    return entry.get("namespace") == "pegasus" and entry.get("name") == name


def _on_site(entry: Data, site: str, pfn: str) -> Data:
    """``entry`` with our program on ``site``; its other keys are unchanged."""
    ours: dict[str, Any] = {"name": site, "pfn": pfn, "type": "installed"}
    sites = list(entry.get("sites") or [])
    for place, known in enumerate(sites):
        if known.get("name") == site:
            sites[place] = {**known, **ours}
            break
    else:
        sites.append(ours)
    return {**entry, "sites": sites}
