"""Rules about single nodes: those whose success means that data is safe, or going."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from pegasus_bb.planner.dag import Node
from pegasus_bb.planner.seal.view import View, some

_EXITCODES = ("/bb/bin/exitcode", "/pegasus-exitcode")


def key_nodes_really_run(view: View) -> Iterator[str]:
    """No NOOP, DONE or PRE_SKIP where success without running loses data."""
    for node in _key_nodes(view):
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


def post_tells_the_truth(view: View) -> Iterator[str]:
    """A POST script decides whether its node succeeded: only the known ones may."""
    exitcode = view.gate.rpartition("/")[0] + "/exitcode"
    if view.ours:
        for node in view.dag.nodes.values():
            if node.post is None or node.post.executable != exitcode:
                found = node.post.executable if node.post else "none"
                yield _foreign_post(node, found, exitcode)
        return
    for node in _key_nodes(view):
        post = node.post.executable if node.post else exitcode
        if post != exitcode and not post.endswith(_EXITCODES):
            yield _foreign_post(node, post, "pegasus-exitcode")


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
        wanted[name] = set(view.stage_outs)
    for name, before in wanted.items():
        early = _not_above(view, name, before)
        if early:
            yield (
                f"{name} does not wait for {some(early)}: it could remove results that "
                "are nowhere else. Every clean-up must descend from the stage-out of "
                "what it removes"
            )


NODES: tuple[Callable[[View], Iterator[str]], ...] = (
    key_nodes_really_run,
    post_tells_the_truth,
    no_success_by_abort,
    cleanup_waits_for_stage_out,
)


def _key_nodes(view: View) -> Iterator[Node]:
    for names in (view.setups, view.gated, view.stage_outs, view.deletes):
        for name in names:
            yield view.dag.nodes[name]


def _foreign_post(node: Node, found: str, wanted: str) -> str:
    return (
        f"the POST script of {node.name} is {found}, and it decides whether the node "
        f"succeeded: a failure could count as success. It must be {wanted}"
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
