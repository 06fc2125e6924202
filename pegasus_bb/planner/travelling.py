"""What comes with a job to a node that does not see the submit directory.

HTCondor puts it into the folder where the job starts, which then stands for bb/:

    condor_exec.exe (launch)  bin/  runtime.zip  request.json  <node>.json
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.dag.blahp import CONDOR, GRID
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.tiers import SUBMIT_DIR, Tier
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.runtime.bbdir import ARCHIVE, NODES

LOCAL = "local"
_OTHERWISE = "or submit_dir: shared, where nodes see it"
_ALWAYS = ("bin", ARCHIVE, "request.json")


def keys_of_traveller(submit_dir: Path) -> dict[str, str]:
    """Submit keys of a job that travels. The files that it takes with it count from
    ``submit_dir``, and nothing but its output comes back."""
    return {
        "initialdir": str(submit_dir),
        "transfer_executable": "true",
        "transfer_output_files": '""',
    }


def files_of_traveller(
    node: str, placement: Placement | None, *, has_container: bool
) -> list[str]:
    """What the job of ``node`` takes with it, by path below the submit directory."""
    names = [*_ALWAYS, f"{NODES}/{node}.json"]
    if has_container:
        names.append("containers.json")
    if placement is not None and any(map(_is_placed_apart, placement.files.values())):
        names.append("placement.json")
    return [f"bb/{name}" for name in names]


def _is_placed_apart(file: PlacedFile) -> bool:
    """Whether launch looks up ``file`` in placement.json."""
    return file.tier == PFS or bool(file.pool or file.stream)


def check_seen(
    options: PlanOptions, given: PlanningInput, placement: Placement, submit_dir: Path
) -> None:
    """Raises UsageError for what needs nodes that see more than their tier."""
    tier = placement.tier
    entry = given.catalogs.tier_entry(tier).below(SUBMIT_DIR)
    mode = given.settings.mode
    if not mode.is_only_shared:
        raise entry.error(
            f"in mode {mode} jobs work with files and notes of the submit host, and "
            "the nodes of this tier see nothing but the tier",
            LOCAL,
            f"--bb-mode persistent; {_OTHERWISE}",
        )
    if given.scratch == str(options.scratch_beside(given.site.name)):
        _check_on_tier(given, placement)
    path = tier.settings["path"]
    if is_below(str(submit_dir), path):
        return
    for option, why in _needs(given):
        would_do = f"{option}, --dir {path.rstrip('/')}/submit; {_OTHERWISE}"
        raise entry.error(f"{why}, and nodes do not see it", LOCAL, would_do)


def _needs(given: PlanningInput) -> Iterator[tuple[str, str]]:
    """What cannot travel: what to do about it, and why."""
    settings = given.settings
    if settings.falls_back:
        why = "with --bb-fallback pfs the first job notes in the submit directory"
        yield "leave --bb-fallback out", f"{why} which storage the run is on"
    if settings.keeps_failed:
        why = "with --bb-keep-failed jobs save their folders in the submit directory"
        yield "leave --bb-keep-failed out", why
    if settings.darshan != "off":
        why = "Darshan writes its logs to the submit directory"
        yield "leave --bb-darshan out", why
    if (given.site.profile("pegasus", "style") or CONDOR).lower() in GRID:
        yield (
            "style: condor",
            "jobs reach the batch system through blahp, which hands over no files: "
            "each node opens those of the submit directory itself",
        )


def _check_on_tier(given: PlanningInput, placement: Placement) -> None:
    """Raises UsageError for a file in a folder that only the submit host has."""
    files = placement.files.values()
    found = next((f for f in files if f.tier == PFS and f.how != "link"), None)
    if found is not None:
        raise UsageError(
            f"{found.lfn} is to live on the PFS ({found.reason}), and nodes do not see "
            f"{given.scratch} (submit_dir: local). Name a folder that they see with "
            f"the key scratch of tier {placement.tier.name}, or let the file live on "
            "the tier"
        )


def refuse_off(given: PlanningInput, tier: Tier) -> NoReturn:
    """Raises CatalogError: without a tier there is no folder that nodes see."""
    raise (
        given.catalogs.tier_entry(tier)
        .below(SUBMIT_DIR)
        .error(
            "in mode off the jobs of the built-in planner work beside the submit "
            "directory, which the nodes of this tier do not see",
            LOCAL,
            "--bb-mode persistent, or a plain pegasus-plan",
        )
    )
