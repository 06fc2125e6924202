"""The rule about POST scripts, which decide whether their node succeeded.

A job of the batch system often ends with 0 whatever its task did: what the record of
Kickstart says counts, and a POST script has to read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegasus_bb.dag.nodes import Node, Script
from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.planner.seal.view import View, some

EXITCODES = ("/bb/bin/exitcode", "/pegasus-exitcode")
# Options, also within a bundle or cut short, of what pegasus-exitcode believes, and the
# word after each. One search of the whole text: every planning asks it of every node.
_BELIEVES = re.compile(r"(-(?<!\S-)(?:[nN]*[rIh]|-(?:r|h|no-i))\S*)(?=\s+(\S+)|)")
# pegasus-plan has it for jobtype mpi, which has no Kickstart.
_WITHOUT_RECORD = "--no-invocations"


def post_tells_the_truth(view: View) -> Iterator[str]:
    """A POST script decides whether its node succeeded: only the known ones may."""
    bin_folder = view.gate.rpartition("/")[0]
    own = f"{bin_folder}/exitcode"
    wanted = own if view.ours else "pegasus-exitcode"
    without = []
    for node in view.dag.nodes.values():
        if not view.ours and not _counts(node, view):
            continue
        post = _judge(node, f"{bin_folder}/await_stage_out")
        if post is None:
            if view.ours or not _may_lack_one(node, view):
                without.append(node.name)
        elif post.executable != own and (
            view.ours or not post.executable.endswith(EXITCODES)
        ):
            yield _foreign_post(node, post, wanted)
        elif not reads_all(post, view.ours or node.name in view.keys):
            yield _half_blind(node, post)
    if without:
        yield _no_post(without, wanted)


def _judge(node: Node, landed: str) -> Script | None:
    """The POST script, or what judges the node once its results have ``landed``."""
    post = node.post
    if post is None or post.executable != landed:
        return post
    waits, judge = split_landed(post)
    return judge if is_landed_of(node, waits) and judge else post


def is_landed_of(node: Node, words: list[str]) -> bool:
    """Whether ``landed`` is told which try of this node it waits for."""
    return words == [node.name, "$JOBID", "$RETURN"]


def split_landed(post: Script) -> tuple[list[str], Script | None]:
    """Its own first words, and the script that it becomes then."""
    words = post.arguments.split(None, 4)
    if len(words) < 4:
        return words, None
    return words[:3], Script(words[3], "".join(words[4:]))


def _counts(node: Node, view: View) -> bool:
    """Whether data is lost where the node failed and counts as done."""
    return node.name in view.must_run or role_of(node.name) is Role.REGISTRATION


def _may_lack_one(node: Node, view: View) -> bool:
    """Jobs that end with their own status: pegasus-plan gives a sub-workflow no POST
    script, and with post.scope=essential none to registrations on the submit host."""
    if node.kind == "SUBDAG":
        return True
    if node.name in view.must_run:
        return role_of(node.name) is Role.SUB_WORKFLOW and node.pre is not None
    return True


def reads_all(post: Script, is_key: bool) -> bool:
    """Whether it believes what the records say, of a node whose success is data."""
    said = _BELIEVES.findall(post.arguments)
    if not is_key:
        said = [pair for pair in said if pair[0] != _WITHOUT_RECORD]
    return bool(said) and all(pair == ("-r", "$RETURN") for pair in said)


def _no_post(names: list[str], wanted: str) -> str:
    return (
        f"no POST script for {some(names)}: a task that failed would count as done, "
        "and the buffer would be given back without its results. Take post.scope out "
        f"of the dagman profiles and properties; the script must be {wanted}"
    )


def _foreign_post(node: Node, post: Script, wanted: str) -> str:
    return (
        f"the POST script of {node.name} is {post.executable}, and it decides whether "
        f"the node succeeded: a failure could count as success. It must be {wanted}: "
        "take the dagman profiles post and post.path out"
    )


def _half_blind(node: Node, post: Script) -> str:
    return (
        f"the POST script of {node.name} has the arguments {post.arguments!r}: with "
        "another -r than $RETURN, or without reading the records of Kickstart "
        "(--no-invocations), a failure could count as success. Take the dagman profile "
        "post.arguments out"
    )
