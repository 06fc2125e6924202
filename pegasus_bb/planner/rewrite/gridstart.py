"""The profile gridstart: which program of Pegasus starts a task.

The launcher is how a job finds the tier, and Kickstart or our recorder says how it
ended. So a task that the user starts without them starts with them all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    ProfileSetting,
    Target,
    profile_settings,
    with_settings,
)

KEY = "gridstart"
PROPERTY = f"pegasus.{KEY}"
KICKSTART = "kickstart"
# The user's own task alone, or in a script that our launcher stands for.
REPLACED = (
    "none",
    "nogridstart",
    "pegasuslite",
    "pegasuslite.none",
    "pegasuslite.kickstart",
)


def start_with_kickstart(inputs: Inputs, plan: Target) -> Inputs:
    """Raises CatalogError for a program that would take Kickstart's place."""
    what = "without Kickstart a job has no launcher and does not find the buffer"
    changes: list[tuple[ProfileSetting, str]] = []
    for setting in profile_settings(inputs, KEY, plan.site):
        value = setting.value.lower()
        if value not in (KICKSTART, *REPLACED):
            raise setting.error(what, "gridstart: kickstart, or leave it out")
        if value in REPLACED:
            changes.append((setting, KICKSTART))
    of_all = inputs.properties.get(PROPERTY, KICKSTART).lower()
    if of_all not in (KICKSTART, *REPLACED):
        raise inputs.properties.error(PROPERTY, what, "Kickstart, or leave it out")
    changed = with_settings(inputs, changes)
    if of_all in REPLACED:
        return changed.with_properties({PROPERTY: KICKSTART})
    return changed


def gridstart_note(inputs: Inputs, site: str) -> Iterator[str]:
    """Yield a line if the user starts tasks without Kickstart."""
    words = [setting.value for setting in profile_settings(inputs, KEY, site)]
    words.append(inputs.properties.get(PROPERTY, KICKSTART))
    found = dict.fromkeys(word for word in words if word.lower() in REPLACED)
    if found:
        yield (
            f"gridstart {', '.join(found)}: launch and the recorder start these tasks "
            "all the same: the launcher is how a job finds its files"
        )
