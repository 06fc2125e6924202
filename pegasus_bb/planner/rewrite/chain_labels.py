"""Each chain is a cluster of either planner, by the label of its jobs.

Labels of the user's, who does not cluster by them, would join other jobs: they go.
"""

from __future__ import annotations

from typing import Any

from pegasus_bb.planner.rewrite.pass_input import Inputs, Keys, Target, profile_settings

LABEL = "label"  # a profile of namespace pegasus, which drops those that it knows not
KEY = "pegasus.clusterer.label.key"


def label_chains(inputs: Inputs, plan: Target) -> Inputs:
    """``inputs`` with a label for the jobs of each chain, and with no other label."""
    label = {
        ident: f"chain{number}"
        for number, chain in enumerate(plan.chains, 1)
        for ident in chain.jobs
    }
    inputs = _without_labels(inputs, plan.site)
    changes: dict[Keys, str] = {
        ("jobs", index, "profiles", "pegasus", LABEL): label[str(job["id"])]
        for index, job in enumerate(inputs.workflow.data["jobs"])
        if str(job["id"]) in label
    }
    labelled = inputs.with_changes({"workflow": changes})
    return labelled.with_properties({KEY: LABEL})


def _without_labels(inputs: Inputs, site: str) -> Inputs:
    values: dict[str, dict[Keys, Any]] = {}
    for setting in profile_settings(inputs, LABEL, site):
        data: Any = setting.document.data
        for key in setting.keys[:-1]:
            data = data[key]
        left = {key: value for key, value in data.items() if key != LABEL}
        values.setdefault(setting.part, {})[setting.keys[:-1]] = left
    return inputs.with_changes(values)
