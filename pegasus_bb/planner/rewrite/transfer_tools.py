"""Transfers run our tool, on the site, whose nodes alone see the buffer.
With a staging service, or where nodes do not see the files of the submit host, they run
there, and no node is allocated for them.

No setting of the user is dropped, and one that contradicts the buffer is refused. The
exception is the site's auxillary.local: a plain pegasus-plan needs it if transfers read
files of the submit host, and one catalog has to serve both.
"""

from __future__ import annotations

import re
from typing import Any

from pegasus_bb.model.data_configuration import KEY, PROPERTY, SHARED
from pegasus_bb.model.document import Data
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.settings import Properties
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target, site_profile

# Pegasus adds the lists for stagein, inter and stageout to this one.
REMOTE = "pegasus.transfer.*.remote.sites"
_REMOTE = re.compile(r"pegasus\.transfer\.(\*|\w+)\.remote\.sites")
_SHARED = {PROPERTY: SHARED}
LINKS = "pegasus.transfer.links"
AUXILIARY_LOCAL = "auxillary.local"
AUXILIARIES = ("transfer", "dirmanager", "cleanup")


def transfer_on_the_site(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError if properties or the site contradict this."""
    if plan.request.transfers_here:
        return _transfer_on_submit_host(inputs, plan)
    _check_links(inputs.properties, plan.placement)
    properties = inputs.properties
    added = {**_remote_sites(properties, plan.site), **_SHARED}
    added[LINKS] = properties.get(LINKS, "true")
    inputs = _with_local_auxiliaries(inputs, plan.site, "false")
    return _with_tools(inputs, plan).with_properties(added)


def share_files(inputs: Inputs, plan: Target) -> Inputs:
    """Mode transient: jobs share files in the site's scratch on the PFS. Without a
    staging service transfers stay unchanged.

    Raises CatalogError if properties or the site contradict this.
    """
    if plan.request.transfers_here:
        return _transfer_on_submit_host(inputs, plan)
    return _on_shared_files(inputs, plan.site).with_properties(_SHARED)


def _on_shared_files(inputs: Inputs, site: str) -> Inputs:
    """``inputs`` with the data configuration sharedfs: all jobs find the files on the
    buffer, and launch makes private folders of its own."""
    if site_profile(inputs, site, KEY) is None:
        return inputs
    return inputs.with_site_profile(site, KEY, SHARED)


def _transfer_on_submit_host(inputs: Inputs, plan: Target) -> Inputs:
    """Turn off pegasus-plan's links, which it makes on the site: the placement has
    ours."""
    _check_not_remote(inputs.properties, plan)
    inputs = _with_local_auxiliaries(inputs, plan.site, "true")
    return _with_tools(inputs, plan).with_properties({**_SHARED, LINKS: "false"})


def _check_not_remote(properties: Properties, plan: Target) -> None:
    why, key = "nodes do not see its files", "submit_dir"
    if plan.request.service:
        why, key = "the staging service of the tier is asked there", "service"
    for name in properties:
        sites = set(properties[name].split(","))
        if _REMOTE.fullmatch(name) and {plan.site, "*"} & sites:
            raise properties.error(
                name,
                f"transfers run on the submit host: {why}",
                f"take {plan.site} out, or `{key}` out of the tier",
            )


def _with_local_auxiliaries(inputs: Inputs, site: str, wanted: str) -> Inputs:
    """``inputs`` with auxillary.local of ``site`` set to ``wanted``, true or false; it
    is false by default."""
    inputs = _on_shared_files(inputs, site)
    setting = site_profile(inputs, site, AUXILIARY_LOCAL)
    if (setting.value.lower() if setting else "false") == wanted:
        return inputs
    return inputs.with_site_profile(site, AUXILIARY_LOCAL, wanted)


def _remote_sites(properties: Properties, site: str) -> dict[str, str]:
    known = [name for name in properties.get(REMOTE, "").split(",") if name]
    return {REMOTE: ",".join(dict.fromkeys([*known, site]))}


def _check_links(properties: Properties, placement: Placement) -> None:
    linked = next((f for f in placement.files.values() if f.how == "link"), None)
    if linked is not None and not properties.flag(LINKS, default=True):
        raise properties.error(
            LINKS,
            f"{linked.lfn} should be a link to the PFS ({linked.reason})",
            "true, or inputs: stage in the tier",
        )


def _with_tools(inputs: Inputs, plan: Target) -> Inputs:
    """``inputs`` with our program in the place of Pegasus's."""
    data = inputs.transformations.data
    pfn = str(plan.bin / "transfer")
    known = list(inputs.programs)
    for name in AUXILIARIES:
        places = [i for i, entry in enumerate(known) if _is_pegasus_tool(entry, name)]
        for place in places:
            known[place] = _on_site(known[place], plan.transfer_site, pfn)
        if not places:
            entry = {"namespace": "pegasus", "name": name}
            known.append(_on_site(entry, plan.transfer_site, pfn))
    return inputs.with_data(transformations={**data, "transformations": known})


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
