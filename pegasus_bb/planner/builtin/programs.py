"""What a transformation means on a site: installed there, or staged to scratch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegasus_bb.dag.joblists import Source
from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.transformations import Transformation
from pegasus_bb.paths import local_path
from pegasus_bb.planner.builtin.checks import plain_text
from pegasus_bb.planner.builtin.executable import Program, StagedProgram
from pegasus_bb.planner.builtin.profiles import merge

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Programs:
    """Looks each transformation up once."""

    def __init__(self, catalogs: Catalogs, scratch: str) -> None:
        self._catalogs = catalogs
        self._scratch = scratch
        self._known: dict[tuple[str, str], Program] = {}

    def program(self, transformation: str, site: str, job: str) -> Program:
        """What runs for ``job``. Raises CatalogError where the catalog has nothing."""
        key = (transformation, site)
        if key not in self._known:
            self._known[key] = self._find(transformation, site, job)
        return self._known[key]

    def own(self, transformation: str, site: str, default: str) -> Program:
        """A program of the planner's own nodes: the catalog's, else ours."""
        found = self._catalogs.transformations.executable(transformation, site)
        if found is None or found.site != site or found.kind != "installed":
            return Program(transformation, default)
        return self.program(transformation, site, "of the planner's own")

    def _find(self, transformation: str, site: str, job: str) -> Program:
        catalog = self._catalogs.transformations
        known = catalog.transformations.get(transformation)
        found = catalog.executable(transformation, site)
        if known is None or found is None:
            raise self._missing(transformation, site, job, known)
        profiles = merge(known.profiles, found.profiles)
        required = [self.program(name, site, job) for name in known.requires]
        staged = [part for program in required for part in program.staged]
        plain_text(transformation, "the name of a transformation")
        where = f"the PFN of {transformation}"
        if found.kind != "stageable":
            pfn = self._expanded(plain_text(found.pfn, where), site, profiles)
            return Program(
                transformation, pfn, tuple(staged), profiles, found.container
            )
        path = local_path(plain_text(found.pfn, where))
        url = found.pfn if path is None else f"file://{path}"
        lfn = "-".join(p for p in (known.namespace, known.name, known.version) if p)
        staged.append(StagedProgram(lfn, (Source(found.site, url),)))
        pfn = f"{self._scratch}/{lfn}"
        return Program(transformation, pfn, tuple(staged), profiles, found.container)

    def _expanded(self, pfn: str, site: str, profiles: Mapping[str, Any]) -> str:
        """``$PEGASUS_HOME/bin/x`` with what env profiles say; the rest as it is."""
        if "$" not in pfn:
            return pfn
        of_site = self._catalogs.sites.site(site).profiles
        known = merge(of_site, profiles).get("env", {})
        return _VARIABLE.sub(lambda m: known.get(m[1] or m[2], m[0]), pfn)

    def _missing(
        self, transformation: str, site: str, job: str, known: Transformation | None
    ) -> CatalogError:
        there = "" if known is None else ", ".join(e.site for e in known.executables)
        return self._catalogs.transformations.document.error(
            f"job {job} runs {transformation} on site {site}, but the transformation "
            "catalog does not have it there",
            ["transformations"],
            f"on {there} only" if there else "no such transformation",
            f"add {transformation} with site {site} and a pfn, or make an entry "
            "of another site stageable",
        )
