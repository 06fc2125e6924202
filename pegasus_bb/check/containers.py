"""Images of containers that a plain pegasus-plan would not stage."""

from __future__ import annotations

from pegasus_bb.placement.survey import runs_on
from pegasus_bb.planner.deciding import Decided


def check_images(decided: Decided) -> None:
    """Mode off: pegasus-plan itself brings an image in a file to the site. It takes one
    without image.site for a file of no site. Raises CatalogError."""
    catalog, site = decided.catalogs.transformations, decided.site.name
    jobs = [job for job in decided.workflow.jobs.values() if runs_on(job, site)]
    programs = [catalog.executable(j.transformation, site) for j in jobs]
    used = {program.container for program in programs if program is not None}
    for index, container in enumerate(catalog.document.data.get("containers") or []):
        image = str(container.get("image", ""))
        is_file = image.startswith(("file://", "/"))
        if is_file and container["name"] in used and "image.site" not in container:
            raise catalog.document.error(
                f"pegasus-plan does not stage the image {image}: it is on no site",
                ["containers", index],
                container["name"],
                f"image.site: {site}, or local",
            )
