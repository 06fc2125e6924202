"""Properties: transfers run on the site, for only its nodes see the buffer.

Nothing that the user set is dropped; what contradicts the buffer is refused. But for
the site's auxillary.local: a plain pegasus-plan needs it where transfers read files of
the submit host, and one catalog shall serve both.
"""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.document import Document
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import Properties
from pegasus_bb.rewrite.inputs import Inputs, Target, site_profile, with_values

# Pegasus joins this list and those of stagein, inter and stageout.
REMOTE = "pegasus.transfer.*.remote.sites"
CONFIGURATION = "pegasus.data.configuration"
LINKS = "pegasus.transfer.links"
AUXILIARY_LOCAL = "auxillary.local"


def transfer_on_the_site(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError where properties or the site insist on another way."""
    _check_site(inputs, plan.site)
    _check_links(inputs.properties, plan.placement)
    return replace(
        inputs,
        sites=_on_its_nodes(inputs, plan.site),
        properties=properties_on_the_site(inputs.properties, plan.site),
    )


def share_files(inputs: Inputs, plan: Target) -> Inputs:
    """Mode transient: jobs find each other's files in the site's scratch on the PFS.

    Raises CatalogError where properties or the site insist on another way.
    """
    _check_site(inputs, plan.site)
    added = _configuration(inputs.properties)
    properties = inputs.properties.with_values(added, "pegasus-bb")
    return replace(inputs, properties=properties)


def properties_on_the_site(properties: Properties, site: str) -> Properties:
    """What the properties become, which no workflow changes. Raises CatalogError."""
    added = {**_remote_sites(properties, site), **_configuration(properties)}
    return properties.with_values(
        {**added, LINKS: properties.get(LINKS, "true")}, "pegasus-bb"
    )


def _check_site(inputs: Inputs, site: str) -> None:
    said = site_profile(inputs, site, "data.configuration")
    if said is not None and said.value != "sharedfs":
        raise said.error(
            "the jobs of a workflow find each other's files on the buffer only with "
            "the data configuration sharedfs",
            "data.configuration: sharedfs, or leave it out; tasks with a container "
            "run inside of it there as well",
        )


def _on_its_nodes(inputs: Inputs, site: str) -> Document:
    """The site catalog, ``site`` without transfers on the submit host."""
    said = site_profile(inputs, site, AUXILIARY_LOCAL)
    if said is None or said.value.lower() != "true":
        return inputs.sites
    return with_values(inputs.sites, {said.keys: "false"})


def _remote_sites(properties: Properties, site: str) -> dict[str, str]:
    known = [name for name in properties.get(REMOTE, "").split(",") if name]
    return {REMOTE: ",".join(dict.fromkeys([*known, site]))}


def _configuration(properties: Properties) -> dict[str, str]:
    if properties.get(CONFIGURATION, "sharedfs") != "sharedfs":
        raise properties.error(
            CONFIGURATION,
            "the jobs of a workflow find each other's files on the buffer only with "
            "the data configuration sharedfs",
            "sharedfs, or leave it out; tasks with a container run inside of it there "
            "as well",
        )
    return {CONFIGURATION: "sharedfs"}


def _check_links(properties: Properties, placement: Placement) -> None:
    linked = next((f for f in placement.files.values() if f.how == "link"), None)
    if linked is not None and properties.get(LINKS, "true").lower() != "true":
        raise properties.error(
            LINKS,
            f"{linked.lfn} should be a link to the PFS ({linked.reason})",
            "true, or inputs: stage in the tier",
        )
