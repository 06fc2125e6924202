"""The passes, in the order in which they run; among them the small ones.

The profile gridstart.launcher puts a program before each Kickstart of the site, also in
auxiliary jobs. A job with another launcher would start with the planned prefix as its
scratch, so it is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from pegasus_bb.model.catalogs import SCRATCH
from pegasus_bb.model.default_sites import directory_entry
from pegasus_bb.planner.rewrite.gridstart import start_with_kickstart
from pegasus_bb.planner.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    Keys,
    Target,
    profile_settings,
    site_index,
)
from pegasus_bb.planner.rewrite.transfer_tools import share_files, transfer_on_the_site
from pegasus_bb.planner.run_plan import RunPlan

LAUNCHER = "gridstart.launcher"


def add_launcher(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError if the user has set a launcher already."""
    _refuse_other_launchers(inputs, plan.site)
    launch = str(plan.bin / "launch")
    return inputs.with_site_profile(plan.site, LAUNCHER, launch)


def _refuse_other_launchers(inputs: Inputs, site: str) -> None:
    what = "the launcher is how a job finds the buffer, so there can be no other"
    would_do = "take it out, or plan with --bb-mode off"
    for key in (LAUNCHER, f"{LAUNCHER}.arguments"):
        for setting in profile_settings(inputs, key, site):
            raise setting.error(what, would_do)
        if f"pegasus.{key}" in inputs.properties:
            raise inputs.properties.error(f"pegasus.{key}", what, would_do)


def move_scratch(inputs: Inputs, plan: Target) -> Inputs:
    """Make the planned prefix the scratch of the site, which has one by now."""
    index = site_index(inputs.sites, plan.site)
    directories = inputs.sites.data["sites"][index]["directories"]
    place = next(i for i, d in enumerate(directories) if d.get("type") in SCRATCH)
    moved = directory_entry(directories[place]["type"], plan.request.prefix)
    at: Keys = ("sites", index, "directories", place)
    return inputs.with_changes({"sites": {at: {**directories[place], **moved}}})


def name_reservations(inputs: Inputs, plan: Target) -> Inputs:
    """Jobs name their reservation to a scheduler that asks for it. Raises CatalogError
    if a job names a buffer of its own already."""
    if not plan.is_named_to_scheduler:
        return inputs
    from pegasus_bb.planner.rewrite.job_directives import add_directives

    return add_directives(inputs, plan)


Pass = Callable[[Inputs, Target], Inputs]

WORKFLOW_PASSES: tuple[Pass, ...] = (
    add_lifecycle_jobs,
    move_scratch,
    start_with_kickstart,
    add_launcher,
    name_reservations,
    transfer_on_the_site,
)

# Mode transient: scratch stays on the PFS, no reservation is shared.
JOB_PASSES: tuple[Pass, ...] = (
    start_with_kickstart,
    add_launcher,
    name_reservations,
    share_files,
)


def rewrite_inputs(given: Inputs, run: RunPlan) -> Inputs:
    """``given`` after the passes of the run's mode; unchanged in mode off. Raises
    CatalogError, UsageError."""
    if run.rewriting is None:
        return given
    passes = WORKFLOW_PASSES if run.request else JOB_PASSES
    if run.chains:
        from pegasus_bb.planner.rewrite.chain_labels import label_chains  # few runs

        passes = (*passes, label_chains)
    return rewrite(given, run.rewriting, passes)


def rewrite(
    inputs: Inputs, plan: Target, passes: tuple[Pass, ...] = WORKFLOW_PASSES
) -> Inputs:
    """The inputs for a planner; ``inputs`` stay unchanged.

    Raises CatalogError if settings of the user contradict the passes.
    """
    for step in passes:
        inputs = step(inputs, plan)
    return inputs
