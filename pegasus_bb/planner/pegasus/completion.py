"""The rest of bb/, and the sealed .dag."""

from __future__ import annotations

from collections.abc import Set

from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.bbjson import as_json, placement_json
from pegasus_bb.planner.containers import containers_file
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import Decided
from pegasus_bb.planner.pegasus.bbfiles import link_files, plan_json
from pegasus_bb.planner.pegasus.checks import vanishing
from pegasus_bb.planner.pegasus.folder import with_lines
from pegasus_bb.planner.pegasus.outcome import nodes_of_jobs
from pegasus_bb.planner.pegasus.reading import Found
from pegasus_bb.planner.pegasus.starts import start_outside
from pegasus_bb.planner.seal import PHASES, phases_json
from pegasus_bb.rewrite import links


class Completion:
    """Makes a run of what pegasus-plan has written."""

    def __init__(
        self, decided: Decided, context: PlanContext, request: Request, force: bool
    ) -> None:
        self._decided, self._context = decided, context
        self._request, self._force = request, force

    def finish(self, found: Found) -> None:
        """Seal the DAG. Raises CatalogError and OSError."""
        for path, data in self._files(found).items():
            file = self._context.submit_dir / "bb" / path
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        sealed = with_lines(found.outcome.dag_file, found.missing)
        start_outside(found.outcome, found.dag, self._context.site, found.scratch)
        sealed.replace(found.outcome.dag_file)

    def _files(self, found: Found) -> dict[str, bytes]:
        """Path below bb/ -> contents. Raises CatalogError."""
        decided, outcome, scratch = self._decided, found.outcome, found.scratch
        placement = decided.placement
        assert placement is not None  # noqa: S101
        _check_results(decided, placement, found.results, self._force)
        pfs_scratch = _on_the_pfs(decided, self._request, scratch)
        own = links(decided.workflow, placement, pfs_scratch)
        files = link_files(own, nodes_of_jobs(outcome, found.dag)) if own else {}
        files["placement.json"] = placement_json(
            placement,
            self._request.prefix,
            scratch,
            pfs_scratch,
            found.outputs,
        )
        files.update(containers_file(decided.workflow, decided.catalogs, decided.site))
        if found.phases is not None:
            files[PHASES] = as_json(phases_json(found.phases))
        name = outcome.dag_file.name
        files["plan.json"] = plan_json(self._context, outcome.version, name, scratch)
        return files


def _check_results(
    decided: Decided, placement: Placement, results: Set[str], force: bool
) -> None:
    """Whatever should be staged out is. pegasus-plan may leave out what is there
    already (data reuse) and leaves to a sub-workflow what that one makes."""
    reused = {} if force else decided.catalogs.replicas.replicas
    for job in decided.workflow.jobs.values():
        for use in job.outputs() if job.kind == "job" else ():
            if not use.stage_out or use.lfn in results or use.lfn in reused:
                continue
            if placement.on_tier(use.lfn):
                raise vanishing(use.lfn, job.id)


def _on_the_pfs(decided: Decided, request: Request, scratch: str) -> str:
    """The folder in the site's own scratch for what does not live on the buffer."""
    own = decided.site.scratch
    assert own is not None  # noqa: S101 - execution_site saw to it
    return own.path.rstrip("/") + scratch[len(request.prefix) :]
