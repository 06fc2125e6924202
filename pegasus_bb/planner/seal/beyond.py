"""Nodes beyond a cut: they run on the PFS, and bb_delete does not wait for them.

Whatever waits for a task beyond the cut is beyond it, and so is what brings files for
such tasks alone. All of these find the site's own scratch in the place of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path

from pegasus_bb.dag.joblists import Entries
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.errors import CatalogError, NotSealed
from pegasus_bb.model.placement import Placement
from pegasus_bb.planner.seal.view import OWN_FOLDER, View, reach, some
from pegasus_bb.runtime.bbdir import BBDir

_BRINGS = ("stage_in_", "chmod_")  # for tasks
_STAGES_OUT = "stage_out_"
USE, NONE = "use.bbf", "beyond.bbf"  # of bb/: what sbatch is given
NOTHING = "# no burst buffer: this job runs when there may be none\n"


def beyond_the_cut(
    dag: Dag,
    tasks: Set[str],
    entries: Callable[[str], Entries],
    placement: Placement,
) -> set[str]:
    """All such nodes; ``tasks`` are those that run jobs beyond the cut, ``entries``
    gives a node's job list. Linear in nodes and edges. Raises NotSealed where one of
    them would need a file that is on the buffer alone."""
    if not tasks:
        return set()
    ends = set(View(dag, set(), placement.tier.site, "").deletes)
    found = reach(tasks, dag.children) - ends
    found -= {name for name in found if OWN_FOLDER.fullmatch(name)}
    found |= _bringing(dag, found)
    out_of_reach = dict(_out_of_reach(dag, found, entries, placement))
    if out_of_reach:
        raise NotSealed(
            f"{some(out_of_reach)} would run when the buffer is given back, and needs "
            f"{some(out_of_reach.values())}, which is nowhere else. Plan with "
            "--bb-close end"
        )
    return found


def _bringing(dag: Dag, found: Set[str]) -> set[str]:
    """What brings files for nodes of ``found`` and of each other alone: a program that
    is staged comes with one node and is made ready by another."""
    waiting = [name for name in dag.nodes if name.startswith(_BRINGS)]
    bring: set[str] = set()
    while True:
        more = {n for n in waiting if _is_for(dag.children.get(n, ()), found, bring)}
        if more <= bring:
            return bring
        bring |= more


def _is_for(children: Sequence[str], found: Set[str], bring: Set[str]) -> bool:
    return bool(children) and all(c in found or c in bring for c in children)


def _out_of_reach(
    dag: Dag, beyond: Set[str], entries: Callable[[str], Entries], placement: Placement
) -> Iterator[tuple[str, str]]:
    """A node, and a file that is on the tier alone: a result that it stages out, or an
    input that is a link there, for it was brought with others."""
    closing = placement.closing
    assert closing is not None  # noqa: S101 - there are nodes beyond the cut
    for name in dag.nodes:
        if name.startswith(_STAGES_OUT) and name in beyond:
            for entry in entries(name):
                file = placement.files.get(str(entry.get("lfn")))
                here = file is not None and placement.on_tier(file.lfn)
                if file is not None and here and file.lfn not in closing.files:
                    yield name, file.lfn
        elif name.startswith("stage_in_") and name not in beyond:
            below = [n for n in dag.children.get(name, ()) if n in beyond]
            for entry in entries(name) if below and closing.links else ():
                if entry.get("lfn") in closing.links:
                    yield below[0], str(entry["lfn"])


def check_outside(dag: Dag, submit_dir: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The nodes that bb/prior and bb/beyond name, each of which starts so that it finds
    the PFS. Raises NotSealed, CatalogError."""
    bb = BBDir(str(submit_dir / "bb"))
    prior, beyond = bb.prior(), bb.beyond()
    outside = sorted(prior | beyond)
    wrong = [name for name in outside if not _finds_it(dag, submit_dir, name)]
    if wrong:
        raise NotSealed(
            f"{some(wrong)} of bb/prior and bb/beyond must be in this DAG, start with "
            f"bb/bin/launch where it runs on the site, and not name bb/{USE}: else it "
            "would look for a buffer that is not there. Plan again"
        )
    lost = bb.uncarried() if beyond else []
    if lost:
        raise NotSealed(
            f"nothing in bb/carry says who copies {some(lost)} to the PFS, where jobs "
            "look for it when the buffer is given back. Plan again"
        )
    return prior, beyond


def _finds_it(dag: Dag, submit_dir: Path, name: str) -> bool:
    node = dag.nodes.get(name)
    if node is None:
        return False
    file = submit_dir / node.directory / node.submit_file
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise CatalogError(
            f"cannot be read: {error.strerror}", str(file), would_do="plan again"
        ) from error
    lines = (line.partition("=") for line in text.splitlines())
    said = {key.strip().lower(): value.strip() for key, _, value in lines}
    if said.get("universe") == "local":
        return True
    launch = submit_dir / "bb/bin/launch"
    starts = Path(said.get("executable", "")).resolve() == launch.resolve()
    told = f"PEGASUS_DAG_JOB_ID={name}" in text
    return starts and told and f"/bb/{USE}" not in text


def without_the_buffer(text: str, submit_dir: Path) -> str:
    """The submit file of such a node: its directives name no buffer."""
    bb = submit_dir / "bb"
    return text.replace(f"{bb / USE}", f"{bb / NONE}")
