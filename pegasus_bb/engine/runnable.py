"""What of DAGMan this engine does not have is refused by name before anything runs."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.errors import CatalogError

# Lines that say where DAGMan writes or how it is configured; nothing runs differently.
_HARMLESS = {
    "CONFIG",
    "DOT",
    "JOBSTATE_LOG",
    "NODE_STATUS_FILE",
    "SAVE_POINT_FILE",
    "SCRIPT",  # of type HOLD: a job is never held here
    "SET_JOB_ATTR",
}
_WOULD_DO = "run it with HTCondor: pegasus-run, or condor_submit_dag"


def check_runnable(dag: Dag, file: Path) -> None:
    """Raises CatalogError where ``dag`` needs what only a real DAGMan has."""
    for node in dag.nodes.values():
        if node.kind != "JOB":
            kind = "SUBDAG EXTERNAL" if node.kind == "SUBDAG" else node.kind
            raise CatalogError(
                f"the local engine does not run {kind} nodes",
                str(file),
                found=f"{kind} {node.name}",
                would_do=_WOULD_DO,
            )
        if dag.max_jobs.get(node.category, 1) < 1:
            raise CatalogError(
                f"no job of category {node.category} could ever start",
                str(file),
                found=f"MAXJOBS {node.category} 0",
                would_do=f"MAXJOBS {node.category} 1",
            )
    for line in dag.other:
        if line.split()[0].upper().replace("-", "_") not in _HARMLESS:
            raise CatalogError(
                "the local engine does not know this line",
                str(file),
                found=line,
                would_do=_WOULD_DO,
            )
