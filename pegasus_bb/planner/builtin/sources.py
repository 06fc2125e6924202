"""From where an input is fetched: the site first, then this machine, then others."""

from __future__ import annotations

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.replicas import Replica, local_path
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.planner.builtin.checks import plain_text
from pegasus_bb.planner.builtin.executable import Source


def sources_of(
    lfn: str, job: Job, workflow: Workflow, catalogs: Catalogs, site: str
) -> tuple[Source, ...]:
    """Every replica of ``lfn``, best first. Raises CatalogError where there is none."""
    found = catalogs.replicas.replicas.get(lfn)
    if not found:
        raise workflow.document.error(
            f"job {job.id} ({job.transformation}) needs an input that no job makes "
            "and that has no replica",
            ["jobs", job.index, "uses"],
            repr(lfn),
            f"add {lfn!r} to {catalogs.replicas.document.path}, or name the folder "
            "that holds it with --input-dir",
        )
    ranked = sorted(found, key=lambda replica: _rank(replica, site))
    return tuple(Source(replica.site, _url(replica)) for replica in ranked)


def _url(replica: Replica) -> str:
    pfn = plain_text(replica.pfn, f"the PFN of {replica.lfn!r}")
    path = local_path(pfn)
    return pfn if path is None else f"file://{path}"


def _rank(replica: Replica, site: str) -> int:
    is_file = local_path(replica.pfn) is not None
    if is_file:
        return {site: 0, "local": 1}.get(replica.site, 2)
    return 3 if replica.site == site else 4
