"""How many nodes a job asks its batch system for, as far as the catalogs tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.workflow import Job

_KEYS = ("nodes", "glite.arguments")
_OPTION = re.compile(r"(?:^|\s)(?:-N ?|--nodes[= ])(\d+)(?:-(\d+))?(?=\s|$)")


def several_nodes(job: Job, catalogs: Catalogs, site: str) -> str:
    """What asks for more than one node of ``site`` for ``job``; empty where nothing
    does. The nearest to the job counts, profile by profile."""
    said: dict[str, str] = {}
    for profiles in _sources(job, catalogs, site):
        for key in _KEYS:
            value = (profiles.get("pegasus") or {}).get(key)
            if value is not None:
                said.setdefault(key, str(value).strip())
    if said.get("nodes", "1") not in ("", "0", "1"):
        return f"pegasus.nodes: {said['nodes']}"
    found = _OPTION.search(said.get("glite.arguments", ""))
    if found and max(int(found[1]), int(found[2] or 0)) > 1:
        return f"pegasus.glite.arguments: {said['glite.arguments']}"
    return ""


def _sources(
    job: Job, catalogs: Catalogs, site: str
) -> Iterator[Mapping[str, Mapping[str, Any]]]:
    """Profiles, the nearest to the job first."""
    yield job.data.get("profiles") or {}
    programs, name = catalogs.transformations, job.transformation
    here = programs.executable(name, site)
    if here is not None:
        yield here.profiles
    if name in programs.transformations:
        yield programs.transformations[name].profiles
    known = catalogs.sites.sites.get(site)
    if known is not None:
        keys = ((key, known.profile("pegasus", key)) for key in _KEYS)
        yield {"pegasus": {key: value for key, value in keys if value is not None}}
    own = (key for key in _KEYS if f"pegasus.{key}" in catalogs.properties)
    yield {"pegasus": {key: catalogs.properties[f"pegasus.{key}"] for key in own}}
