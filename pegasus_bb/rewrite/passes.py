"""The passes, in their order."""

from __future__ import annotations

from collections.abc import Callable

from pegasus_bb.rewrite.containers import leave_containers_to_launcher
from pegasus_bb.rewrite.inputs import Inputs, Plan
from pegasus_bb.rewrite.launcher import add_launcher, add_launcher_to_jobs
from pegasus_bb.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.rewrite.rooms import add_directives, add_job_directives
from pegasus_bb.rewrite.scratch import move_scratch
from pegasus_bb.rewrite.transfers import share_files, transfer_on_the_site

Pass = Callable[[Inputs, Plan], Inputs]

WORKFLOW_PASSES: tuple[Pass, ...] = (
    add_lifecycle_jobs,
    move_scratch,
    add_launcher,
    add_directives,
    transfer_on_the_site,
    leave_containers_to_launcher,
)

# Mode transient: scratch stays on the PFS, nobody reserves for the whole workflow.
JOB_PASSES: tuple[Pass, ...] = (
    add_launcher_to_jobs,
    add_job_directives,
    share_files,
    leave_containers_to_launcher,
)


def rewrite(
    inputs: Inputs, plan: Plan, passes: tuple[Pass, ...] = WORKFLOW_PASSES
) -> Inputs:
    """What a planner should read in place of ``inputs``, which stay as they are.

    Raises CatalogError where the user's own settings stand in the way.
    """
    for step in passes:
        inputs = step(inputs, plan)
    return inputs
