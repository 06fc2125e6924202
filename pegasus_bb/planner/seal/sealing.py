"""Completes an executable workflow of either planner, and seals its DAG.

Jobs with a job reservation wait for their results. If jobs share a reservation, the DAG
gets its phases, the gate and the last edges, and is checked. No edge is ever removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.joblists import JobLists
from pegasus_bb.model.dag.nodes import Dag, Script
from pegasus_bb.model.dag.roles import RESERVATION, Role, of_role, role_of
from pegasus_bb.planner.seal.dag_rules import AFTER, BEFORE, Rule
from pegasus_bb.planner.seal.lives import read_lives, removals
from pegasus_bb.planner.seal.view import (
    BUILT_IN,
    DEFERRED,
    View,
    abbreviated,
    reachable,
)

if TYPE_CHECKING:
    from pegasus_bb.model.placement import JobReservation
    from pegasus_bb.model.workflow import Workflow
    from pegasus_bb.planner.run_plan import RunPlan
    from pegasus_bb.planner.seal.phases import SealedPhases


@dataclass(frozen=True, kw_only=True)
class ExecutableWorkflow:
    """Nodes, edges and job lists from either planner; ``complete`` adds the rest."""

    planner: str  # its name, as plan.json has it
    dag: Dag
    dag_name: str  # of its file
    entries: JobLists  # the job list of a node
    # (job id, the node that runs it). The tasks of a cluster have one node; a cluster
    # with a reservation counts as one job, with its node's name as id.
    jobs_nodes: Callable[[], Sequence[tuple[str, str]]]
    users: Set[str]  # nodes that use the buffer
    scratch: str  # the run's folder on the compute site
    outputs: Mapping[str, str]  # LFN -> where stage-out puts it, and bb_delete looks
    phases: SealedPhases | None = None  # if the files do not fit onto the tier at once
    notes: Sequence[str] = ()  # for the user: requests that the planner ignores
    # Of sub-workflows' own catalogs: transformation -> container, as JSON.
    inner_containers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_builtin(self) -> bool:
        """Whether the built-in planner made it."""
        return self.planner == BUILT_IN

    def reserved_nodes(self, run: RunPlan) -> Iterator[tuple[str, str, JobReservation]]:
        """Yield each job or cluster with a reservation of its own, its node, and the
        reservation."""
        own = run.job_reservations
        for job, node in self.jobs_nodes() if own else ():
            if job in own:
                yield job, node, own[job]


AnyWorkflow = TypeVar("AnyWorkflow", bound=ExecutableWorkflow)


def complete(planned: AnyWorkflow, workflow: Workflow, run: RunPlan) -> AnyWorkflow:
    """``planned``, made from the user's ``workflow``, ready to run. Raises
    NotSealed."""
    dag = _await_stage_outs(planned, run)
    if run.drain is not None and run.drain.is_late:
        tasks = (node for _, node in planned.jobs_nodes())
        dag = with_late_results(dag, tasks, planned.entries)
    if run.request is None:
        return replace(planned, dag=dag)
    removes = removals(dag.nodes, planned.entries)
    gate = f"{run.bin}/gate"
    view = View(dag, planned.users, run.site, gate, removes, planned.is_builtin)
    view, phases = _in_phases(view, planned, workflow, run)
    dag = seal(view, run.poll, run.gate_retries)
    if phases is not None:
        from pegasus_bb.planner.seal.live_bytes import check_phases

        check_phases(dag, phases)
    return replace(planned, dag=dag, phases=phases)


def _await_stage_outs(planned: ExecutableWorkflow, run: RunPlan) -> Dag:
    """Each job with a job reservation ends when its results are copied back."""
    nodes = dict(planned.dag.nodes)
    for _, name, _ in planned.reserved_nodes(run):
        post = nodes[name].post
        if post is not None:
            nodes[name] = replace(
                nodes[name], post=await_stage_out_post(post, name, run)
            )
    return replace(planned.dag, nodes=nodes)


def await_stage_out_post(post: Script, node: str, run: RunPlan) -> Script:
    """A script that waits for the results of ``node`` and then becomes ``post``."""
    arguments = f"{node} $JOBID $RETURN {post.executable} {post.arguments}"
    return Script(f"{run.bin}/await_stage_out", arguments, DEFERRED, run.poll)


def _in_phases(
    view: View, planned: ExecutableWorkflow, workflow: Workflow, run: RunPlan
) -> tuple[View, SealedPhases | None]:
    """``view`` with barriers between phases, if its files do not fit at once."""
    placement = run.placement
    if placement is None or placement.phases is None or placement.phases.count == 1:
        return view, None
    if len(view.gated) != 1:
        return view, None  # ``seal`` refuses this DAG
    from pegasus_bb.decide.liveness import sizes  # a run checks phases, makes none
    from pegasus_bb.planner.seal.phases import in_phases

    made: dict[str, list[str]] = {}
    for ident, node in planned.jobs_nodes():
        job = workflow.jobs.get(ident)
        own = job.profile("selector", "execution.site") if job is not None else None
        if job is not None and (own or run.site) == run.site:
            written = (use.lfn for use in job.uses if use.kind != "input")
            made.setdefault(node, []).extend(written)
    lives = read_lives(
        view.dag.nodes, planned.entries, made, planned.scratch, sizes(placement)
    )
    dag, phases = in_phases(view.dag, lives, made.keys(), placement.phases.limit)
    return replace(view, dag=dag), phases


def seal(view: View, poll: int, retries: int) -> Dag:
    """The DAG of ``view`` with the gate on create_dir, and bb_delete after all else.

    ``retries`` are those of the gate and its node. Sealing a sealed DAG changes
    nothing. Linear in nodes and edges. Raises NotSealed with every broken rule.
    """
    view = _end_sub_workflows(_gate_sub_workflows(view))
    _check_rules(view, BEFORE)
    complete = _complete(view, poll, retries)
    after = replace(view, dag=complete)
    _check_rules(after, AFTER)
    return complete


def check(view: View) -> None:
    """Raises NotSealed if the DAG of ``view`` is not sealed: such a DAG may not run."""
    _check_rules(view, (*BEFORE, *AFTER))


def _check_rules(view: View, rules: Iterable[Rule]) -> None:
    broken = [text for rule in rules for text in rule(view)]
    if broken:
        raise NotSealed(
            "this DAG would put data at risk and is not submitted:\n"
            + "\n".join(f"  - {text}" for text in broken)
        )


def _complete(view: View, poll: int, retries: int) -> Dag:
    nodes = dict(view.dag.nodes)
    (gated,) = view.gated
    (setup,) = view.setups
    (delete,) = view.deletes
    if nodes[gated].pre is None:
        gate = Script(view.gate, "", DEFERRED, poll)
        # The node's own retries would wait again after the deadline of the gate.
        nodes[gated] = replace(nodes[gated], pre=gate, retry=retries, unless_exit=None)
    added = {} if setup in view.parents.get(gated, ()) else {setup: [gated]}
    added |= {name: [delete] for name in _unawaited_ends(view)}
    return replace(view.dag, nodes=nodes).with_edges(added)


def _unawaited_ends(view: View) -> list[str]:
    """Nodes that bb_delete does not wait for yet and that no other node waits for.
    bb_setup is left out: the gated node waits for it."""
    free = view.dag.nodes.keys() - view.before_delete - view.after_delete
    return [
        name
        for name in view.dag.nodes
        if name in free
        and name not in view.setups
        and not any(child in free for child in view.dag.children.get(name, ()))
    ]


def _end_sub_workflows(view: View) -> View:
    """Make leaf clean-ups wait for what delivers the results of sub-workflows.

    pegasus-plan takes these results for files of site local, and lets no clean-up of
    the tier's site wait for their stage-out.
    """
    dag = view.dag
    last = reachable(_sub_workflows(dag), dag.children) & set(view.stage_outs)
    for cleanup in view.leaf_cleanups if last else ():
        apart = last - reachable([cleanup], dag.children)
        for name in sorted(apart):
            if cleanup not in reachable([name], dag.children):
                dag = dag.with_edges({name: [cleanup]})
    return replace(view, dag=dag) if last else view


def _gate_sub_workflows(view: View) -> View:
    """Make sub-workflows, and the jobs that plan them, wait for the gate.

    They need no folder of this workflow. Any other node that does not wait is refused.
    """
    dag = view.dag
    waiting = view.users - view.behind_gate
    early = sorted(name for name in _sub_workflows(dag) if name in waiting)
    if not early or len(view.gated) != 1:
        return view
    (gated,) = view.gated
    return replace(view, dag=dag.with_edges({gated: early}))


def _sub_workflows(dag: Dag) -> Iterator[str]:
    """Yield the nodes that run a workflow, or plan one."""
    for name, node in dag.nodes.items():
        if node.kind == "SUBDAG" or role_of(name) is Role.SUB_WORKFLOW:
            yield name


def with_late_results(dag: Dag, tasks: Iterable[str], entries: JobLists) -> Dag:
    """``dag`` with these edges; ``tasks`` are the nodes that run jobs of the user.
    Linear. Raises NotSealed if a task waits for a stage-out."""
    users = {name for name in tasks if role_of(name) not in RESERVATION}
    stage_outs = of_role(dag.nodes, Role.STAGE_OUT)
    early = reachable(stage_outs, dag.children) & users
    if early:
        raise NotSealed(
            f"--bb-drain off: {abbreviated(early)} would wait for a stage-out that "
            "waits for all jobs; --bb-drain now"
        )
    if not stage_outs:
        return dag
    first = min(stage_outs, key=lambda name: len(entries(name)))
    wanted = {first, *users}
    added = {n: [first] for n in users if wanted.isdisjoint(dag.children.get(n, ()))}
    added[first] = [name for name in stage_outs if name != first]
    return dag.with_edges(added)
