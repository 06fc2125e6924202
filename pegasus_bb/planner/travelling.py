"""What comes with a job to a node that does not see the submit directory.

HTCondor puts it into the folder where the job starts, which then stands for bb/:

    condor_exec.exe (launch)  bin/  runtime.zip  request.json  <node>.json

Where the tier is the node's own disk, the files of the job come and go with it, too:
runtime/job_reservation/travelled.py has the folders.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from pegasus_bb.model.placement import PFS, JobReservation, PlacedFile, Placement
from pegasus_bb.runtime.bbdir import ARCHIVE, NODES
from pegasus_bb.runtime.job_reservation.planned import landing_of

if TYPE_CHECKING:
    from pegasus_bb.planner.run_plan import RunPlan

_ALWAYS = ("bin", ARCHIVE)


def keys_of_traveller(run: RunPlan, scratch: str) -> dict[str, str]:
    """Submit keys of a job that travels. The files that it takes with it count from
    ``initialdir``."""
    keys = {"initialdir": str(run.submit_dir), "transfer_executable": "true"}
    if run.files_travel:
        keys["initialdir"] = posixpath.dirname(scratch)
        keys["preserve_relative_paths"] = "true"
    return keys


def brought_by_traveller(
    run: RunPlan,
    node: str,
    own: JobReservation | None,
    scratch: str,
    *,
    contained: bool,
) -> str:
    """What HTCondor brings with the job of ``node``."""
    names = files_of_traveller(node, run.placement, has_container=contained)
    if own is None:
        return ", ".join(names)
    folder = posixpath.basename(scratch)
    # HTCondor leaves out of bin/ what has the path of the executable.
    files = [f"{run.submit_dir}/./{name}" for name in names]
    return ", ".join([*files, *(f"{folder}/{lfn}" for lfn in own.stage_in)])


def returned_by_traveller(run: RunPlan, node: str, scratch: str) -> str:
    """What HTCondor takes back from the job of ``node``, beside its output."""
    if not run.files_travel:
        return '""'
    return landing_of(posixpath.basename(scratch), node, "").rstrip("/")


def files_of_traveller(
    node: str, placement: Placement | None, *, has_container: bool
) -> list[str]:
    """What the job of ``node`` takes with it, by path below the submit directory."""
    is_on_node = placement is not None and not placement.tier.is_reserved
    request = "transient.json" if is_on_node else "request.json"
    names = [*_ALWAYS, request, f"{NODES}/{node}.json"]
    if has_container:
        names.append("containers.json")
    if placement is not None and any(map(_is_placed_apart, placement.files.values())):
        names.append("placement.json")
    return [f"bb/{name}" for name in names]


def _is_placed_apart(file: PlacedFile) -> bool:
    """Whether launch looks up ``file`` in placement.json."""
    return file.tier == PFS or bool(file.pool or file.stream)
