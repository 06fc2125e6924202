"""Images of containers: whether pegasus-plan can bring them to the site."""

from __future__ import annotations

from pegasus_bb.model.document import Data
from pegasus_bb.placement.executables import runs_on
from pegasus_bb.planner.deciding import Decided

_FILE = ("file://", "/")
_SITE = "image.site"


def check_images(decided: Decided) -> None:
    """Raises CatalogError for an image in a file that pegasus-plan would not stage.

    On a burst buffer every transfer is a job of the site, which has no files of another
    one. In mode off those of site local come from the submit host.
    """
    site, catalog = decided.site.name, decided.catalogs.transformations.document
    served = (site,) if decided.placement else (site, "local")
    used = _used(decided)
    for index, container in enumerate(catalog.data.get("containers") or []):
        image, lies = str(container.get("image", "")), container.get(_SITE)
        if container.get("name") not in used or not image.startswith(_FILE):
            continue
        if lies not in served:
            raise catalog.error(
                f"pegasus-plan cannot bring the image {image} of container "
                f"{container['name']} to site {site}",
                ["containers", index, _SITE],
                lies or "nothing",
                f"{_SITE}: {site}, and a path that its nodes see; or a docker:// or "
                "http:// URL",
            )


def _used(decided: Decided) -> set[str]:
    """Names of the containers in which jobs of the site run."""
    site, catalog = decided.site.name, decided.catalogs.transformations
    names = {
        job.transformation
        for job in decided.workflow.jobs.values()
        if runs_on(job, site)
    }
    known = [catalog.transformations[n] for n in names if n in catalog.transformations]
    entries: list[Data] = [transformation.data for transformation in known]
    entries += [entry for data in entries for entry in data.get("sites") or []]
    return {str(entry["container"]) for entry in entries if entry.get("container")}
