"""The workflow and its files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from pegasus_bb.check import htcondor
from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.files import is_file, is_there
from pegasus_bb.model.catalogs import Replica
from pegasus_bb.model.document import Document
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.paths import local_path
from pegasus_bb.placement.decision import PlacementDecision, PlanningInput
from pegasus_bb.placement.lint import lint_replicas
from pegasus_bb.placement.survey import INPUT, runs_on
from pegasus_bb.planner.reading import with_capacity
from pegasus_bb.units import abbreviate, format_files, format_size


def of_files(placed: PlanningInput) -> Iterator[Finding]:
    placement = placed.placement
    jobs = len(placed.workflow.jobs)
    if placement is None:
        yield note(
            "workflow",
            f"{jobs} jobs, every file on the PFS: mode off",
            "--bb-mode persistent",
        )
        return
    here = sum(placement.on_tier(lfn) for lfn in placement.files)
    files = len(placement.files)
    yield ok(
        "workflow",
        f"{jobs} jobs, {files} files, {here} of them on tier {placement.tier.name} "
        f"of site {placement.tier.site}",
    )
    try:
        lint_replicas(placed.workflow, placed.catalogs, placement.files.values())
    except PegasusBBError as error:
        yield wrong("replicas", str(error))
        return
    yield from _of_replicas(placed)
    yield from _of_programs(placed)


def _of_replicas(placed: PlanningInput) -> Iterator[Finding]:
    replicas, site = placed.catalogs.replicas.replicas, placed.site.name
    gone = [
        lfn
        for lfn, file in (placed.placement.files if placed.placement else {}).items()
        if file.role == INPUT and lfn in replicas and not _is_anywhere(replicas[lfn])
    ]
    if gone:
        at = _place_of(placed.catalogs.replicas.document, gone[0])
        yield wrong(
            "replicas",
            f"{at}: not where the catalog says: {abbreviate(gone)}",
            f"the path on this machine, or site: {site} for files that are only there",
        )
    else:
        yield ok("replicas", "every input has a replica; those of this machine exist")


def _place_of(catalog: Document, lfn: str) -> str:
    """The file of ``catalog``, and the line of the entry of ``lfn``."""
    entries = enumerate(catalog.data.get("replicas") or ())
    index = next(n for n, entry in entries if str(entry["lfn"]) == lfn)
    line = catalog.line(["replicas", index])
    return f"{catalog.path}:{line}" if line else str(catalog.path)


def _of_programs(placed: PlanningInput) -> Iterator[Finding]:
    site, catalog = placed.site.name, placed.catalogs.transformations
    names = {
        j.transformation for j in placed.workflow.jobs.values() if runs_on(j, site)
    }
    programs = {name: catalog.executable(name, site) for name in sorted(names)}
    known = [(name, each) for name, each in programs.items() if each is not None]
    gone = {f"{name} ({p.pfn})": p for name, p in known if not _is_here(p.pfn)}
    closed = [p.pfn for _, p in known if p.kind == "installed" and _is_closed(p.pfn)]
    if closed:
        yield wrong(
            "programs",
            f"no programs that you may run: {abbreviate(closed)}",
            f"chmod +x {shlex.quote(closed[0])}",
        )
    all_here = not htcondor.is_installed()  # every job runs on this machine
    needed = [name for name, p in gone.items() if all_here or p.site == "local"]
    if needed:
        yield wrong(
            "programs",
            f"not on this machine: {abbreviate(needed)}",
            "the pfn in the transformation catalog",
        )
    elif gone:
        yield note(
            "programs",
            f"not on this machine: {abbreviate(list(gone))}",
            f"none if site {site} has them; else the pfn in the transformation catalog",
        )


def _is_anywhere(known: Sequence[Replica]) -> bool:
    return any(r.site != "local" or _is_here(r.pfn) for r in known)


def _is_here(pfn: str) -> bool:
    path = _path_of(pfn)
    return path is None or is_there(path)


def _is_closed(pfn: str) -> bool:
    """Whether the file is here, and lacks the right to be run."""
    path = _path_of(pfn)
    return path is not None and is_file(path) and not os.access(path, os.X_OK)


def _path_of(pfn: str) -> str | None:
    """None: this machine cannot look it up."""
    try:
        return local_path(pfn)
    except PegasusBBError:
        return None


def of_size(placed: PlanningInput) -> tuple[list[Finding], PlanningInput | None]:
    try:
        decided = with_capacity(placed)
    except PegasusBBError as error:
        return [wrong("capacity", str(error))], None
    if decided.decision is None:
        return [], placed
    reserved = _reserved(decided.decision.placement, placed.settings.mode)
    return [ok("capacity", f"{reserved} {_for_what(decided.decision)}")], decided


def _reserved(decided: Placement, mode: str) -> str:
    """What would be reserved, or has to be free: a node's disk is not reserved."""
    size, jobs = format_size(decided.capacity), decided.job_reservations
    if not jobs:
        return f"{size} would be reserved"
    if mode == "transient":
        return f"up to {size} for each of {len(jobs)} jobs {_granted(decided.tier)}"
    most = format_size(max(own.capacity for own in jobs.values()))
    if decided.job_tier.is_reserved:
        each = f"up to {most} more for each of {len(jobs)} jobs"
        return f"{size}, and {each}, would be reserved"
    each = f"up to {most} for each of {len(jobs)} jobs {_granted(decided.job_tier)}"
    return f"{size} would be reserved, and {each},"


def _granted(tier: Tier) -> str:
    if tier.is_reserved:
        return "would be reserved"
    return f"would have to be free on its node (tier {tier.name})"


def _for_what(decision: PlacementDecision) -> str:
    placement = decision.placement
    need = f"for {format_size(placement.need)} of files"
    if placement.unknown:
        need += f" and {len(placement.unknown)} of unknown size"
    if placement.phases is not None and placement.phases.count > 1:
        need += f", in {placement.phases.count} phases"
    if decision.moved is not None:
        need += f", and {format_files(len(decision.moved.lfns))} more on the PFS"
    return need
