"""Rules about single nodes: those whose success means that data is safe, or going."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from pegasus_bb.planner.seal.post_rules import post_tells_the_truth
from pegasus_bb.planner.seal.view import View, some


def nodes_really_run(view: View) -> Iterator[str]:
    """No NOOP, DONE or PRE_SKIP where success without running loses data."""
    for node in (n for n in view.dag.nodes.values() if n.name in view.must_run):
        skips = {"NOOP": node.noop, "DONE": node.done}
        for word in (word for word, said in skips.items() if said):
            yield (
                f"{node.name} is {word}: DAGMan would count it as done without running "
                f"it, and what depends on it would go on or be removed. Remove {word}"
            )
        if node.pre_skip is not None:
            yield (
                f"{node.name} has PRE_SKIP {node.pre_skip}: a PRE script, such as the "
                "gate, that fails would count as success of the node. Remove PRE_SKIP"
            )


def no_success_by_abort(view: View) -> Iterator[str]:
    """No ABORT-DAG-ON that ends the workflow early and calls that success."""
    for node in view.dag.nodes.values():
        if node.abort_on is not None:
            status, answer = node.abort_on
            if (status if answer is None else answer) == 0:
                yield (
                    f"{node.name} has ABORT-DAG-ON {status} that ends the workflow "
                    "with status 0: stage-out would not run, and all would look well. "
                    "RETURN another status"
                )


def cleanup_waits_for_stage_out(view: View) -> Iterator[str]:
    """What is removed was brought to safety before."""
    wanted = dict(view.removes)
    for name in view.leaf_cleanups:
        wanted[name] = view.saving
    for name, before in wanted.items():
        early = _not_above(view, name, before)
        if early:
            yield (
                f"{name} does not wait for {some(early)}: it could remove results that "
                "are nowhere else. Every clean-up must descend from the stage-out of "
                "what it removes"
            )


NODES: tuple[Callable[[View], Iterator[str]], ...] = (
    nodes_really_run,
    post_tells_the_truth,
    no_success_by_abort,
    cleanup_waits_for_stage_out,
)


def _not_above(view: View, name: str, wanted: Set[str]) -> Set[str]:
    """Those of ``wanted`` that ``name`` does not descend from. They are parents as a
    rule: the search ends as soon as all are found."""
    missing = set(wanted) - set(view.parents.get(name, ()))
    seen, waiting = {name}, [name]
    while missing and waiting:
        for parent in view.parents.get(waiting.pop(), ()):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
                missing.discard(parent)
    return missing
