"""The rules of the seal. Each yields what breaks it, the risk, and the remedy.

No added edge or script can mend a breach of ``BEFORE``; ``AFTER`` hold for a complete
DAG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from pegasus_bb.model.dag.nodes import Node, Script
from pegasus_bb.model.dag.roles import is_local_cleanup
from pegasus_bb.planner.seal.post_rules import post_scripts_are_known
from pegasus_bb.planner.seal.view import DEFERRED, View, abbreviated

Rule = Callable[[View], Iterator[str]]
# Keywords that add nodes from another file.
_FROM_FILES = ("SPLICE", "INCLUDE", "CONNECT")
_NEVER = ("FINAL", "SERVICE", "PROVISIONER")


def one_of_each(view: View) -> Iterator[str]:
    """There is one bb_setup, one bb_delete, one create_dir of the site."""
    for form, nodes, loss in (
        ("bb_setup_<id>", view.setups, "the buffer is reserved twice, or never"),
        (
            "bb_delete_<id>",
            view.deletes,
            "the buffer is given back too early, or never",
        ),
        (
            f"create_dir_<workflow>_0_{view.site}",
            view.gated,
            "there is no place for the one gate",
        ),
    ):
        if len(nodes) != 1:
            names = abbreviated(nodes) if nodes else "none"
            yield (
                f"exactly one node {form} is needed, found {names}: {loss}. Plan with "
                "bb_setup and bb_delete as jobs of their own on site local, not "
                "clustered, and with create_dir on the site"
            )


def setup_waits_for_no_user(view: View) -> Iterator[str]:
    for setup in view.setups:
        if setup in view.behind_gate:
            yield (
                f"{setup} waits for {abbreviated(view.gated)}, which waits for the "
                f"buffer: the workflow would wait for ever. Run {setup} on site local"
            )


def setup_and_delete_need_no_buffer(view: View) -> Iterator[str]:
    """bb_setup and bb_delete do not run where the buffer is needed."""
    for name in (*view.setups, *view.deletes):
        if name in view.buffer_users:
            yield (
                f"{name} runs on site {view.site} or names the buffer: it would hold "
                "the buffer that it makes or gives back. Run it on site local"
            )


def delete_is_last(view: View) -> Iterator[str]:
    """Only the removal of pegasus-plan's own folder on the submit host may descend from
    bb_delete: any other node could use the buffer."""
    late = {
        name
        for name in view.after_delete
        if name in view.users or not is_local_cleanup(name)
    }
    if late:
        yield (
            f"{abbreviated(late)} would run after {abbreviated(view.deletes)}, when "
            "the buffer and what is on it are gone. Nothing but the removal of the "
            "folder on site local may wait for bb_delete"
        )


def no_special_nodes(view: View) -> Iterator[str]:
    for node in view.dag.nodes.values():
        if node.kind in _NEVER:
            yield (
                f"{node.name} is a {node.kind} node: it runs outside the order of the "
                "DAG, also where nodes failed and a rescue DAG still needs the data, "
                "and a FINAL node's success hides their failure. Make it a JOB"
            )


def no_nodes_from_other_files(view: View) -> Iterator[str]:
    """No line adds nodes from another file."""
    for line in view.dag.other:
        if line.split(None, 1)[0].upper() in _FROM_FILES:
            yield (
                f"the line {line!r} brings nodes from another file, which is not "
                "checked: they could use the buffer after it is gone. Write the nodes "
                "into this file"
            )


def gated_node_has_no_pre_script(view: View) -> Iterator[str]:
    for name in view.gated:
        node = view.dag.nodes[name]
        if node.pre is not None and not _is_gate(node, view):
            yield (
                f"{name} already has the PRE script {node.pre.executable}, and a node "
                "can have one: without the gate, jobs would start before the buffer is "
                "there. Remove that script"
            )


def no_line_breaks(view: View) -> Iterator[str]:
    """No value has a newline, which would start another line of the DAG."""
    for node in view.dag.nodes.values():
        words = (node.name, node.submit_file, node.directory, node.category)
        scripts = (*_texts(node.pre), *_texts(node.post))
        text = "".join((*words, *scripts, *node.vars, *node.vars.values()))
        if "\n" in text or "\r" in text:
            yield (
                f"a value of node {node.name!r} has a line break: what follows it "
                "would be a DAG line of its own, with whatever effect. Remove it"
            )
    for line in view.dag.other:
        if "\n" in line or "\r" in line:
            yield f"the line {line!r} has a line break inside. Remove it"


def users_wait_for_the_gate(view: View) -> Iterator[str]:
    """Every node that uses the buffer descends from the gated node."""
    early = view.users - view.behind_gate
    if view.gated and early:
        yield (
            f"{abbreviated(early)} would not wait for the gate on "
            f"{abbreviated(view.gated)}: it could start before the buffer is there and "
            "write elsewhere. Every node that uses the buffer must descend from "
            "create_dir of the site"
        )


def one_gate(view: View) -> Iterator[str]:
    names = [node.name for node in view.gates]
    if names != view.gated:
        yield (
            f"the gate must be the PRE script of {abbreviated(view.gated)} and of no "
            f"other node; found on {abbreviated(names) if names else 'none'}: without "
            "it jobs start before the buffer is there, and more than one would poll "
            "the scheduler for every job"
        )
    for node in view.gates:
        if not _is_gate(node, view):
            yield (
                f"the gate of {node.name} is not SCRIPT DEFER {DEFERRED} <seconds> PRE "
                f"with the program {view.gate}: a gate that does not defer holds a "
                "place for scripts while it waits, or fails at once. Seal the DAG again"
            )


def gate_waits_for_setup(view: View) -> Iterator[str]:
    """The gated node descends from bb_setup, so the gate does not wait if that
    fails."""
    for name in view.gated:
        parents = view.parents.get(name, [])
        if not set(view.setups) & set(parents):
            yield (
                f"{name} does not wait for {abbreviated(view.setups)}: where that "
                "fails, the gate would wait for a buffer that was never asked for. "
                "Seal the DAG again"
            )


def delete_waits_for_all(view: View) -> Iterator[str]:
    """bb_delete descends from every node that it does not precede."""
    early = view.dag.nodes.keys() - view.before_delete - view.after_delete
    if view.deletes and early:
        yield (
            f"{abbreviated(view.deletes)} does not wait for {abbreviated(early)}: the "
            "buffer could be given back while data is still on it, or after a failure. "
            "It must descend from every stage-out, clean-up, registration and "
            "sub-workflow"
        )


def _is_gate(node: Node, view: View) -> bool:
    pre = node.pre
    return pre is not None and (
        (pre.executable, pre.defer_status) == (view.gate, DEFERRED)
        and (pre.defer_time or 0) > 0
    )


def _texts(script: Script | None) -> tuple[str, ...]:
    return () if script is None else (script.executable, script.arguments)


def nodes_really_run(view: View) -> Iterator[str]:
    """No NOOP, DONE or PRE_SKIP on a node that has to run to keep data safe."""
    for node in (n for n in view.dag.nodes.values() if n.name in view.must_run):
        skips = {"NOOP": node.noop, "DONE": node.done}
        for word in (word for word, is_set in skips.items() if is_set):
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
    """No ABORT-DAG-ON ends the workflow early with success."""
    for node in view.dag.nodes.values():
        status, answer = node.abort_on or (None, None)
        if (status if answer is None else answer) == 0:
            yield (
                f"{node.name} has ABORT-DAG-ON {status} that ends the workflow "
                "with status 0: stage-out would not run, and all would look well. "
                "RETURN another status"
            )


def cleanup_waits_for_stage_out(view: View) -> Iterator[str]:
    """Every clean-up descends from the stage-outs of what it removes."""
    wanted = dict(view.removes)
    for name in view.leaf_cleanups:
        wanted[name] = view.saving_stage_outs
    for name, before in wanted.items():
        early = _not_above(view, name, before)
        if early:
            yield (
                f"{name} does not wait for {abbreviated(early)}: it could remove "
                "results that are nowhere else. Every clean-up must descend from the "
                "stage-out of what it removes"
            )


def _not_above(view: View, name: str, wanted: Set[str]) -> Set[str]:
    """The nodes of ``wanted`` that are no ancestors of ``name``. Most are its parents:
    the search ends as soon as all are found."""
    missing = set(wanted) - set(view.parents.get(name, ()))
    seen = {name}
    waiting = [name]
    while missing and waiting:
        for parent in view.parents.get(waiting.pop(), ()):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
                missing.discard(parent)
    return missing


BEFORE: tuple[Rule, ...] = (
    one_of_each,
    setup_waits_for_no_user,
    setup_and_delete_need_no_buffer,
    delete_is_last,
    no_special_nodes,
    no_nodes_from_other_files,
    gated_node_has_no_pre_script,
    no_line_breaks,
    users_wait_for_the_gate,
    nodes_really_run,
    post_scripts_are_known,
    no_success_by_abort,
    cleanup_waits_for_stage_out,
)
AFTER: tuple[Rule, ...] = (one_gate, gate_waits_for_setup, delete_waits_for_all)
