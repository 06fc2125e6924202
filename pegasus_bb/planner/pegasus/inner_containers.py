"""Containers that sub-workflows name in catalogs of their own.

The launcher knows the container of a task by the name of its program, so that one name
means one container, or none, in all catalogs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import read_programs
from pegasus_bb.model.containers import containers_for
from pegasus_bb.model.transformations import TransformationCatalog
from pegasus_bb.planner.pegasus.image_inputs import check_inner_images
from pegasus_bb.planner.pegasus.inner_settings import inner_catalogs
from pegasus_bb.planner.run_plan import RunPlan

Containers = Mapping[str, Mapping[str, Any]]  # by transformation, as JSON


def inner_containers(given: PlanningInput, run: RunPlan) -> Containers:
    """Those that the outer catalog lacks. Raises CatalogError, UsageError."""
    outer = given.catalogs.transformations
    known = {outer.document.path: outer}
    for _, inputs in inner_catalogs(given, run):
        document = inputs.transformations
        if document.path not in known:
            known[document.path] = read_programs(document, inputs.properties)
    if len(known) < 2:
        return {}
    found: dict[str, Mapping[str, Any]] = {}
    of: dict[str, tuple[TransformationCatalog, object]] = {}
    for catalog in known.values():
        own = containers_for(catalog, catalog.transformations, run.site)
        for name in catalog.transformations:
            first, container = of.setdefault(name, (catalog, own.get(name)))
            if container != own.get(name):
                raise catalog.document.error(
                    f"{name} has another container, or none, in {first.document.path}, "
                    "and the launcher knows a container by the program's name",
                    ["containers"],
                    would_do="another name for one of both programs, or --bb-mode off",
                )
        if catalog is not outer:
            check_inner_images(catalog, run.site)
            found |= own
    return found
