"""Why a node failed, where DAGMan's events do not say: from the run's own files."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import Item
from pegasus_bb.engine.words import judged_by, node_files
from pegasus_bb.planner.dag import Node
from pegasus_bb.runtime.exitcode import judge
from pegasus_bb.runtime.gate import SAID
from pegasus_bb.runtime.room.results import NOTES


def recorded(item: Item, submit_dir: Path) -> str:
    """What the Kickstart records of the last attempt say; empty where all is well."""
    post = item.node.post
    if post is None or not judged_by(post).endswith("exitcode"):
        return ""
    for file in node_files(item, submit_dir):
        if ".out" in file.name:
            try:
                return judge(str(file)).why
            except OSError as error:
                return f"{file} cannot be read: {error.strerror}"
    return "it has written no output: the job never started, or was lost"


def said_by_the_gate(node: Node, place: SubmitDir) -> tuple[str, ...]:
    """Its last words, where the PRE script of ``node`` is the run's gate."""
    gate = place.bb / "bin" / "gate"
    if node.pre is None or Path(node.pre.executable).name != gate.name:
        return ()
    try:
        text = (place.bb / SAID).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(text.splitlines())


def said_by_landed(node: Node, place: SubmitDir) -> tuple[str, ...]:
    """Why the results of ``node`` were given up; empty where they were not."""
    if node.post is None or judged_by(node.post) == node.post.executable:
        return ()
    file = place.bb / NOTES / f"{node.name}.err"
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(text.splitlines())
