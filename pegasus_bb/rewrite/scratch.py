"""The compute site's scratch becomes the planned prefix ``/bb/<reservation>``.

The real path differs from job to job, so none can be written at planning; the
launcher binds the prefix when a job starts.
"""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.catalogs import SCRATCH
from pegasus_bb.rewrite.edit import site_index, with_values
from pegasus_bb.rewrite.inputs import Inputs, Plan


def move_scratch(inputs: Inputs, plan: Plan) -> Inputs:
    """Raises CatalogError where the site has no sharedScratch."""
    index = site_index(inputs.sites, plan.site)
    directories = inputs.sites.data["sites"][index].get("directories") or []
    place = next(
        (i for i, d in enumerate(directories) if d.get("type") in SCRATCH), None
    )
    if place is None:
        raise inputs.sites.error(
            f"site {plan.site} has no sharedScratch directory to move to the buffer",
            ["sites", index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    prefix = plan.request.prefix
    server = {"url": f"file://{prefix}", "operation": "all"}
    at = ("sites", index, "directories", place)
    sites = with_values(
        inputs.sites, {(*at, "path"): prefix, (*at, "fileServers"): [server]}
    )
    return replace(inputs, sites=sites)
