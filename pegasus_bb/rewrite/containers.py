"""Containers leave the catalog that a planner reads: the launcher starts them.

Where jobs share their files, pegasus-plan stages the image and starts no container.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pegasus_bb.model.document import Data
from pegasus_bb.rewrite.inputs import Inputs, Plan


def leave_containers_to_launcher(inputs: Inputs, plan: Plan) -> Inputs:
    """No program names a container any more."""
    known = inputs.transformations.data.get("transformations") or []
    if not any("container" in site for entry in known for site in _sites(entry)):
        return inputs
    entries = [_without(entry) for entry in known]
    data = {**inputs.transformations.data, "transformations": entries}
    data.pop("containers", None)
    return replace(inputs, transformations=inputs.transformations.with_data(data))


def _without(entry: Data) -> Data:
    if not any("container" in site for site in _sites(entry)):
        return entry
    sites = [
        {key: value for key, value in site.items() if key != "container"}
        for site in _sites(entry)
    ]
    return {**entry, "sites": sites}


def _sites(entry: Data) -> list[dict[str, Any]]:
    return entry.get("sites") or []
