"""Refuses files that nothing on this site can fetch, before anything is reserved."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import staged_executables
from pegasus_bb.model.document import Document
from pegasus_bb.model.transformations import Executable

_OUR_OWN = ("http", "https")  # runtime/transfers/web.py


class _Wanted(NamedTuple):
    what: str
    pfns: list[str]  # any of them will do
    document: Document
    key: str


def check_can_be_fetched(given: PlanningInput) -> None:
    """Raises CatalogError for an input, a program or an image that needs
    pegasus-transfer, or scp, if there is none."""
    if _has_pegasus_transfer(given):
        return
    for what, pfns, document, key in _wanted(given):
        if any(map(_has_way, pfns)):
            continue
        tools = "pegasus-transfer"
        if any(_scheme(pfn) == "scp" for pfn in pfns):
            tools = "scp or pegasus-transfer"
        raise document.error(
            f"{what} can only be fetched by {tools}, which is neither on PATH nor in a "
            "PEGASUS_HOME of the site",
            [key],
            pfns[0],
            "a copy of it in a file or on a web server, or PEGASUS_HOME in the env "
            f"profile of site {given.site.name}",
        )


def _wanted(given: PlanningInput) -> Iterator[_Wanted]:
    catalog = given.catalogs.replicas
    for lfn in given.graph.consumers:
        known = () if lfn in given.graph.producer else catalog.replicas.get(lfn, ())
        if known:
            pfns = [replica.pfn for replica in known]
            yield _Wanted(f"the input {lfn!r}", pfns, catalog.document, "replicas")
    programs = given.catalogs.transformations
    staged = staged_executables(given.workflow, programs, given.site.name)
    for lfn, each in staged.items():
        is_program = isinstance(each, Executable)
        what = f"the {'program' if is_program else 'image'} {lfn!r}"
        key = "transformations" if is_program else "containers"
        yield _Wanted(what, [each.pfn], programs.document, key)


def _has_way(pfn: str) -> bool:
    scheme = _scheme(pfn)
    if scheme == "scp":
        return shutil.which("scp") is not None
    return scheme in _OUR_OWN or local_path(pfn) is not None


def _scheme(pfn: str) -> str:
    return pfn.partition(":")[0].lower()


def _has_pegasus_transfer(given: PlanningInput) -> bool:
    home = os.environ.get("PEGASUS_HOME", "")
    path = os.pathsep.join([os.environ.get("PATH", ""), f"{home}/bin" if home else ""])
    of_site = given.site.profile("env", "PEGASUS_HOME")
    return bool(of_site) or shutil.which("pegasus-transfer", path=path) is not None
