"""Reads what pegasus-plan wrote, and finds what its .dag lacks."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from pegasus_bb.dag.joblists import Entries, job_lists
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.errors import CatalogError
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.pegasus.outcome import (
    Outcome,
    nodes_of_jobs,
    promised,
    read_outcome,
    scratch_of,
    stage_outs,
)
from pegasus_bb.planner.pegasus.sealed import lines_to_seal
from pegasus_bb.planner.seal import (
    Phases,
    in_phases,
    read_lives,
    removals,
    touching_in_doubt,
)
from pegasus_bb.planner.seal.view import View


@dataclass(frozen=True)
class Found:
    """A planned submit directory, and what is missing in its .dag."""

    outcome: Outcome
    dag: Dag
    missing: list[str]  # lines
    scratch: str
    outputs: dict[str, str]  # LFN -> where bb_delete looks for it
    phases: Phases | None = None  # where the files do not fit onto the tier at once
    results: Set[str] = frozenset()  # LFNs of all that is staged out, from anywhere


class Reader:
    """Reads the submit directory of one planning."""

    def __init__(
        self, context: PlanContext, request: Request, workflow: Workflow
    ) -> None:
        self._context, self._request = context, request
        self._workflow = workflow

    def found(self) -> Found:
        """Raises CatalogError, NotSealed."""
        outcome = read_outcome(self._context.submit_dir)
        if not outcome.dag_file.is_file():
            raise CatalogError("pegasus-plan left no .dag", str(outcome.dag_file))
        return self._read(outcome)

    def _read(self, outcome: Outcome) -> Found:
        dag = read_dag(outcome.dag_file)
        gate = f"{self._context.bin}/gate"
        users = touching_in_doubt(dag, outcome.folder, self._request, gate)
        entries = job_lists(dag, outcome.folder)
        removes = removals(dag.nodes, entries)
        view = View(dag, users, self._context.site, gate, removes)
        phased = self._in_phases(outcome, view, entries)
        context = self._context
        lines = lines_to_seal(view, context.poll, phased, context.gate_again)
        (create_dir,) = view.gated
        scratch = scratch_of(create_dir, entries)
        results, prefix = stage_outs(dag.nodes, entries).keys(), self._request.prefix
        outputs = promised(stage_outs(dag.nodes, entries, prefix))
        phases = None if phased is None else phased[1]
        return Found(outcome, dag, lines, scratch, outputs, phases, results)

    def _in_phases(
        self, outcome: Outcome, view: View, entries: Callable[[str], Entries]
    ) -> tuple[Dag, Phases] | None:
        """The DAG with barriers, where its files do not fit at once."""
        placement, dag = self._context.placement, view.dag
        if placement is None or placement.fit is None or placement.fit.phases == 1:
            return None
        if len(view.gated) != 1:
            return None  # sealing refuses it
        made: dict[str, list[str]] = {}
        for ident, node in nodes_of_jobs(outcome, dag):
            job = self._workflow.jobs.get(ident)
            if job is not None:  # not one of the rewriting's own
                written = (use.lfn for use in job.uses if use.kind != "input")
                made.setdefault(node, []).extend(written)
        scratch = scratch_of(view.gated[0], entries)
        lives = read_lives(dag.nodes, entries, made, scratch, sizes(placement))
        return in_phases(dag, lives, made.keys(), placement.fit.limit)
