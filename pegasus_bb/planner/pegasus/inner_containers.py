"""Containers that sub-workflows name in catalogs of their own.

The launcher knows the container of a task by the name of its program, so that one name
means one container, or none, in all catalogs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import read_programs
from pegasus_bb.model.containers import containers_for, staged_image
from pegasus_bb.model.transformations import TransformationCatalog
from pegasus_bb.planner.pegasus.image_inputs import image_for_inner_jobs
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
    if not any(each.document.data.get("containers") for each in known.values()):
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
            _check_images(catalog, own, run.site)
            found |= own
    return found


def _check_images(catalog: TransformationCatalog, names: Containers, site: str) -> None:
    for name in names:
        program = catalog.executable(name, site)
        image = staged_image(catalog, program, site) if program else None
        if image is not None:
            raise image_for_inner_jobs(catalog, name, image, site)
