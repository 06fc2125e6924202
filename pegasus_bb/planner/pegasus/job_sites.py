"""Jobs of the site, where --sites names local beside it.

pegasus-plan draws a site for each job that can run on both. Files of jobs on local
would not be on the buffer.
"""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.document import Data
from pegasus_bb.planner.rewrite.pass_input import Inputs

_KEY = "execution.site"


def on_the_site(inputs: Inputs, given: PlanningInput) -> Inputs:
    """Return ``inputs``, whose jobs run on the site of ``given``, but for those that
    name another one and those that only local can run."""
    site, programs = given.site.name, given.catalogs.transformations
    jobs = {
        job.id
        for job in given.workflow.jobs.values()
        if job.runs_on(site) and not job.is_only_local(programs, site)
    }
    entries = [
        _on(site, entry) if entry.get("id") in jobs else entry
        for entry in inputs.workflow.data["jobs"]
    ]
    data = {**inputs.workflow.data, "jobs": entries}
    return replace(inputs, workflow=inputs.workflow.with_data(data))


def _on(site: str, job: Data) -> Data:
    profiles = job.get("profiles") or {}
    selector = {**(profiles.get("selector") or {}), _KEY: site}
    return {**job, "profiles": {**profiles, "selector": selector}}
