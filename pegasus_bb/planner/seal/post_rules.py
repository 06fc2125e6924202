"""The rule about POST scripts, which decide whether their node succeeded.

A job of the batch system often ends with 0 although its task failed. Only the Kickstart
record has the status of the task, and the POST script has to read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegasus_bb.model.dag.nodes import Node, Script
from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.planner.seal.view import View, abbreviated

EXITCODES = ("/bb/bin/exitcode", "/pegasus-exitcode")
# Options that change what pegasus-exitcode checks, bundled or abbreviated as well, with
# the argument of each. One search per node, because a DAG has many.
_CHECKING = re.compile(r"(-(?<!\S-)(?:[nN]*[rIh]|-(?:r|h|no-i))\S*)(?=\s+(\S+)|)")
# pegasus-plan sets it for jobtype mpi, which runs without Kickstart.
_WITHOUT_RECORD = "--no-invocations"


def post_scripts_are_known(view: View) -> Iterator[str]:
    """A POST script decides whether its node succeeded: only the known ones may."""
    bin_folder = view.gate.rpartition("/")[0]
    own = f"{bin_folder}/exitcode"
    wanted = own if view.is_builtin else "pegasus-exitcode"
    without = []
    for node in view.dag.nodes.values():
        if not view.is_builtin and not _must_succeed(node, view):
            continue
        post = _deciding_script(node, f"{bin_folder}/await_stage_out")
        if post is None:
            if view.is_builtin or not _may_lack_post(node, view):
                without.append(node.name)
        elif post.executable != own and (
            view.is_builtin or not post.executable.endswith(EXITCODES)
        ):
            yield _foreign_post(node, post, wanted)
        elif not checks_records(
            post, is_essential=view.is_builtin or node.name in view.essential
        ):
            yield _ignoring_records(node, post)
    if without:
        yield _no_post(without, wanted)


def _deciding_script(node: Node, await_stage_out: str) -> Script | None:
    """The script that decides on the node's success: its POST script, or the one that
    ``await_stage_out`` becomes when the results are there."""
    post = node.post
    if post is None or post.executable != await_stage_out:
        return post
    arguments, script = split_await_stage_out(post)
    return script if awaits_node(node, arguments) and script else post


def awaits_node(node: Node, arguments: list[str]) -> bool:
    """Whether ``arguments`` tell await_stage_out which try of this node it awaits."""
    return arguments == [node.name, "$JOBID", "$RETURN"]


def split_await_stage_out(post: Script) -> tuple[list[str], Script | None]:
    """The arguments of await_stage_out itself, and the script that it becomes."""
    words = post.arguments.split(None, 4)
    if len(words) < 4:
        return words, None
    return words[:3], Script(words[3], "".join(words[4:]))


def _must_succeed(node: Node, view: View) -> bool:
    """Whether data is lost if the node fails and counts as done."""
    return node.name in view.must_run or role_of(node.name) is Role.REGISTRATION


def _may_lack_post(node: Node, view: View) -> bool:
    """Whether the job's own exit status is enough: pegasus-plan gives a sub-workflow no
    POST script, nor, with post.scope=essential, a registration on the submit host."""
    if node.kind == "SUBDAG":
        return True
    if node.name in view.must_run:
        return role_of(node.name) is Role.SUB_WORKFLOW and node.pre is not None
    return True


def checks_records(post: Script, *, is_essential: bool) -> bool:
    """Whether the script takes the result of the node from its Kickstart records. A
    node that is not essential may run without them."""
    options = _CHECKING.findall(post.arguments)
    if not is_essential:
        options = [pair for pair in options if pair[0] != _WITHOUT_RECORD]
    return bool(options) and all(pair == ("-r", "$RETURN") for pair in options)


def _no_post(names: list[str], wanted: str) -> str:
    return (
        f"no POST script for {abbreviated(names)}: a task that failed would count as "
        "done, and the buffer would be given back without its results. Take post.scope "
        f"out of the dagman profiles and properties; the script must be {wanted}"
    )


def _foreign_post(node: Node, post: Script, wanted: str) -> str:
    return (
        f"the POST script of {node.name} is {post.executable}, and it decides whether "
        f"the node succeeded: a failure could count as success. It must be {wanted}: "
        "take the dagman profiles post and post.path out"
    )


def _ignoring_records(node: Node, post: Script) -> str:
    return (
        f"the POST script of {node.name} has the arguments {post.arguments!r}: with "
        "another -r than $RETURN, or without reading the records of Kickstart "
        "(--no-invocations), a failure could count as success. Take the dagman profile "
        "post.arguments out"
    )
