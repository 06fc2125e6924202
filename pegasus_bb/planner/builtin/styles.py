"""How a job reaches its site: condor (a pool), glite and ssh (a batch system)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.batch import WOULD_DO, is_plain
from pegasus_bb.model.catalogs import Site
from pegasus_bb.planner.blahp import GRID, GUARDED_RELEASE, PERIODIC_RELEASE
from pegasus_bb.planner.builtin.checks import REAL_PLANNER, plain_text
from pegasus_bb.planner.builtin.executable import Profiles

_REQUESTS = {
    "cores": "request_cpus",
    "memory": "request_memory",
    "gpus": "request_gpus",
    "diskspace": "request_disk",
}
# pegasus profile -> key of +remote_cerequirements, whole numbers and words
_NUMBERS = {"cores": "CORES", "nodes": "NODES", "ppn": "PROCS"}
_WORDS = {
    "memory": "TOTAL_MEMORY",
    "project": "PROJECT",
    "glite.arguments": "EXTRA_ARGUMENTS",
}
_JOB_NAME = re.compile(r"[-_]")


def style_of(site: Site, profiles: Profiles) -> str:
    """condor | glite | ssh. Raises CatalogError for any other."""
    style = profiles.get("pegasus", {}).get("style", "condor").lower()
    if style != "condor" and style not in GRID:
        raise CatalogError(
            f"site {site.name} has a style that the built-in planner does not know",
            key="pegasus.style",
            found=style,
            would_do=f"condor, glite or ssh; or {REAL_PLANNER}",
        )
    return style


def condor_keys(profiles: Profiles) -> dict[str, str]:
    """What a pool has to know of a job; sharedfs, so the program is there already."""
    pegasus = profiles.get("pegasus", {})
    asked = {key: pegasus[name] for name, key in _REQUESTS.items() if name in pegasus}
    return {
        "universe": "vanilla",
        "should_transfer_files": "YES",
        "when_to_transfer_output": "ON_EXIT",
        **asked,
    }


def grid_keys(
    site: Site, style: str, profiles: Profiles, role: str, guarded: bool
) -> dict[str, str]:
    """What blahp has to know of a job; ``guarded``: launch starts it. Raises
    CatalogError."""
    resource = profiles.get("condor", {}).get("grid_resource")
    if style == "ssh":
        resource = _ssh_resource(site, role)
    if not resource:
        raise CatalogError(
            f"site {site.name} has style glite, but nothing says which batch system",
            key="grid_resource",
            would_do="in the site's condor profiles: grid_resource: batch slurm",
        )
    keys = {
        "universe": "grid",
        "grid_resource": resource,
        "periodic_release": GUARDED_RELEASE if guarded else PERIODIC_RELEASE,
    }
    queue = profiles.get("pegasus", {}).get("queue")
    return {**keys, "batch_queue": _for_scripts(queue, "queue")} if queue else keys


def requirements(profiles: Profiles) -> str:
    """The part of +remote_cerequirements after name and priority."""
    pegasus = profiles.get("pegasus", {})
    parts = [
        f"{key}=={whole_number(pegasus[name], name)}"
        for name, key in _NUMBERS.items()
        if name in pegasus
    ]
    if "runtime" in pegasus:
        minutes = -(-whole_number(pegasus["runtime"], "runtime") // 60)
        parts.append(f'WALLTIME=="{minutes // 60:02d}:{minutes % 60:02d}:00"')
    for name, key in _WORDS.items():
        if name in pegasus:
            parts.append(f'{key}=="{_for_scripts(pegasus[name], name)}"')
    return "".join(f" && {part}" for part in parts)


def batch_name(node: str) -> str:
    """JOBNAME: no - and _, at most 15 characters."""
    return _JOB_NAME.sub("", node)[:15]


def classad_string(text: str) -> str:
    """``text`` as a string of the ClassAd language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _for_scripts(text: str, key: str) -> str:
    if not is_plain(text):
        raise CatalogError(
            "this goes through the shell scripts of the batch system, which would "
            "read more than a text in it",
            key=f"pegasus.{key}",
            found=repr(text),
            would_do=WOULD_DO,
        )
    return text


def whole_number(text: str, key: str) -> int:
    """Raises CatalogError."""
    if not text.isascii() or not text.isdigit():
        raise CatalogError(
            "a whole number is needed", key=f"pegasus.{key}", found=repr(text)
        )
    return int(text)


def _ssh_resource(site: Site, role: str) -> str:
    grids: list[Mapping[str, Any]] = site.data.get("grids") or []
    wanted = [g for g in grids if g.get("jobtype") == role] or grids
    if not wanted or not wanted[0].get("contact") or not wanted[0].get("scheduler"):
        raise CatalogError(
            f"site {site.name} has style ssh, but no grid with contact and scheduler",
            key="grids",
            would_do="- type: batch, contact: user@host, scheduler: slurm, "
            "jobtype: compute",
        )
    kind, grid = str(wanted[0].get("type", "batch")), wanted[0]
    words = f"{kind} {str(grid['scheduler']).lower()} {grid['contact']}"
    return plain_text(words, f"the grid of site {site.name}")
