"""Containers, with a real Pegasus.

pegasus-plan sees no containers, because the launcher starts them, so it would bring no
image. As an input an image comes once, and is removed after its last job. The launcher
knows the container of a task by the name of its program, so that one name means one
container, or none, in all catalogs: those of sub-workflows, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import taken_name
from pegasus_bb.model.catalogs import read_programs
from pegasus_bb.model.containers import containers_for, staged_image
from pegasus_bb.model.document import Data
from pegasus_bb.model.images import StagedImage
from pegasus_bb.model.transformations import TransformationCatalog
from pegasus_bb.planner.pegasus.inner_settings import inner_catalogs
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import RunPlan

Containers = Mapping[str, Mapping[str, Any]]  # by transformation, as JSON


def with_images(inputs: Inputs, given: PlanningInput) -> Inputs:
    """``inputs``, in which each job has its image as an input, with a replica."""
    images = _images(given)
    if not images:
        return inputs
    names = {job.id: job.transformation for job in given.workflow}

    def with_image(job: Data) -> Data:
        image = images.get(names.get(str(job.get("id")), ""))
        if image is None:
            return job
        use = {"lfn": image.lfn, "type": "input"}
        return {**job, "uses": [*(job.get("uses") or ()), use]}

    workflow = inputs.workflow.data
    jobs = [with_image(job) for job in workflow["jobs"]]
    replicas = inputs.replicas.data
    found = {image.lfn: image for image in images.values()}
    entries = [*(replicas.get("replicas") or ()), *map(_replica, found.values())]
    return inputs.with_data(
        workflow={**workflow, "jobs": jobs}, replicas={**replicas, "replicas": entries}
    )


def check_images(given: PlanningInput) -> None:
    """Raises CatalogError for an image with the name of a file, and for one that the
    jobs of a sub-workflow may need: those jobs are not known."""
    for name, image in _images(given).items():
        if given.workflow.first_use([image.lfn]) is not None:
            raise taken_name(given.workflow, name, image.lfn, is_image=True)
    if given.has_sub_workflows:
        _check_inner_images(given.catalogs.transformations, given.site.name)


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
            _check_inner_images(catalog, run.site)
            found |= own
    return found


def _check_inner_images(catalog: TransformationCatalog, site: str) -> None:
    """Raises CatalogError for an image of ``catalog`` that has to be staged for the
    jobs of a sub-workflow."""
    for name, image in _staged(catalog, catalog.transformations, site).items():
        raise catalog.document.error(
            f"the jobs of a sub-workflow may run {name}, and nothing brings them the "
            "image of its container",
            ["containers"],
            image.pfn,
            f"a copy of the image in a folder that the nodes of {site} see, with "
            f"image.site: {site}",
        )


def _images(given: PlanningInput) -> dict[str, StagedImage]:
    """Transformation -> the image that its jobs have staged."""
    names = {job.transformation for job in given.workflow}
    return _staged(given.catalogs.transformations, names, given.site.name)


def _staged(
    catalog: TransformationCatalog, names: Iterable[str], site: str
) -> dict[str, StagedImage]:
    programs = {name: catalog.executable(name, site) for name in sorted(names)}
    images = {
        name: staged_image(catalog, program, site)
        for name, program in programs.items()
        if program is not None
    }
    return {name: image for name, image in images.items() if image is not None}


def _replica(image: StagedImage) -> Data:
    return {"lfn": image.lfn, "pfns": [{"site": image.site, "pfn": image.pfn}]}
