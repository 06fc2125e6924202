"""Files that only a tool of others can fetch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from pegasus_bb.core.paths import local_path
from pegasus_bb.core.units import abbreviate
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import staged_executables

_OUR_OWN = ("http", "https")  # runtime/transfers/web.py


def tools_to_fetch(given: PlanningInput) -> Iterator[str]:
    """A note on inputs, programs and images that another tool than ours fetches, if
    this machine does not have it: the nodes may."""
    far: dict[str, list[str]] = {}  # scheme -> what it brings
    for what, pfns in _wanted(given):
        if not any(map(_has_way, pfns)):
            far.setdefault(_scheme(pfns[0]), []).append(what)
    if not far or _has_pegasus_transfer(given):
        return
    for scheme, names in far.items():
        tools = "scp or pegasus-transfer" if scheme == "scp" else "pegasus-transfer"
        yield (
            f"{abbreviate(names)}: only {tools} fetches {scheme}://, and this machine "
            f"has none: the nodes of site {given.site.name} need it on PATH or in a "
            "PEGASUS_HOME (env profile of the site)"
        )


def _wanted(given: PlanningInput) -> Iterator[tuple[str, list[str]]]:
    """What is brought, and the PFNs of which any will do."""
    replicas = given.catalogs.replicas.replicas
    for lfn in given.graph.consumers:
        known = () if lfn in given.graph.producer else replicas.get(lfn, ())
        if known:
            yield lfn, [replica.pfn for replica in known]
    programs = given.catalogs.transformations
    staged = staged_executables(given.workflow, programs, given.site.name)
    yield from ((lfn, [each.pfn]) for lfn, each in staged.items())


def _has_way(pfn: str) -> bool:
    scheme = _scheme(pfn)
    if scheme == "scp":
        return shutil.which("scp") is not None
    return scheme in _OUR_OWN or local_path(pfn) is not None


def _scheme(pfn: str) -> str:
    return pfn.partition(":")[0].lower()


def _has_pegasus_transfer(given: PlanningInput) -> bool:
    from pegasus_bb.core.process import find_pegasus_transfer  # few files are far

    of_site = given.site.profile("env", "PEGASUS_HOME")
    return bool(of_site) or bool(find_pegasus_transfer(os.environ))
