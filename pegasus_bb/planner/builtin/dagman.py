"""DAG nodes: names, scripts, retries, priorities, categories."""

from __future__ import annotations

from collections.abc import Mapping

from pegasus_bb.dag.nodes import Node, Script
from pegasus_bb.errors import CatalogError
from pegasus_bb.model.properties import Properties
from pegasus_bb.planner.builtin.checks import REAL_PLANNER
from pegasus_bb.planner.builtin.executable import PlannedJob
from pegasus_bb.planner.context import PlanContext

# As pegasus-plan writes them by default.
_MAX_JOBS = {"cleanup": 4, "registration": 1, "stageout": 10, "stagein": 10}
_RETRY = 1
_VARS = {"My.DAGNodeRetry": "$(RETRY)"}
_KNOWN = {"RETRY", "PRIORITY", "CATEGORY", "PRE", "PRE.ARGUMENTS", "ABORT-DAG-ON"}
_POST = {"POST", "POST.ARGUMENTS", "POST.SCOPE"}


class Nodes:
    """Makes the DAG nodes of one run."""

    def __init__(self, context: PlanContext) -> None:
        self._exitcode = f"{context.bin}/exitcode"
        self._arguments = f"-r $RETURN {context.submit_dir}/"

    def node(self, planned: PlannedJob, profiles: Mapping[str, str]) -> Node:
        """The node of ``planned``. Raises CatalogError for a profile it cannot have."""
        files = f"{planned.folder}/{planned.name}"
        node = Node(
            planned.name,
            f"{files}.sub",
            post=Script(self._exitcode, f"{self._arguments}{files}.out"),
            retry=_RETRY,
            priority=planned.priority,
            category=planned.role.category,
            vars=_VARS,
        )
        if profiles:
            _apply(node, planned, profiles)
        return node


def max_jobs(properties: Properties) -> dict[str, int]:
    """Throttles per category: Pegasus's, and dagman.<category>.maxjobs."""
    found = dict(_MAX_JOBS)
    for key in properties:
        parts = key.split(".")
        if len(parts) == 3 and parts[0] == "dagman" and parts[2].lower() == "maxjobs":
            found[parts[1]] = _number(properties[key], key, 1)
    return found


def _apply(node: Node, planned: PlannedJob, profiles: Mapping[str, str]) -> None:
    _refuse(planned, profiles)
    if "RETRY" in profiles:
        node.retry = _number(profiles["RETRY"], "dagman.RETRY", 0)
    if planned.job is None:  # a task's script or category is not for transfers
        return
    if "PRIORITY" in profiles:
        node.priority = _number(profiles["PRIORITY"], "dagman.PRIORITY", -(10**9))
    node.category = profiles.get("CATEGORY", node.category)
    if "PRE" in profiles:
        node.pre = Script(profiles["PRE"], profiles.get("PRE.ARGUMENTS", ""))
    if "ABORT-DAG-ON" in profiles:
        node.abort_on = _abort_on(profiles["ABORT-DAG-ON"])


def _refuse(planned: PlannedJob, profiles: Mapping[str, str]) -> None:
    for key in profiles:
        if key in _POST or (key.startswith("PRE") and planned.job is None):
            why = "this place is taken: the planner needs it for a script of its own"
        elif key not in _KNOWN:
            why = "the built-in planner does not know it"
        else:
            continue
        raise CatalogError(
            f"the dagman profile {key} cannot be kept on {planned.name}: {why}",
            key=f"dagman.{key}",
            found=profiles[key],
            would_do=f"remove it, or {REAL_PLANNER}",
        )


def _abort_on(text: str) -> tuple[int, int | None]:
    words = text.split()
    if len(words) not in (1, 3) or (len(words) == 3 and words[1].upper() != "RETURN"):
        raise CatalogError(
            "not an exit status to abort on",
            key="dagman.ABORT-DAG-ON",
            found=text,
            would_do="such as 3, or 3 RETURN 1",
        )
    numbers = [_number(word, "dagman.ABORT-DAG-ON", 0) for word in words[::2]]
    return numbers[0], numbers[1] if len(numbers) > 1 else None


def _number(text: str, key: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise CatalogError("a whole number is needed", key=key, found=text)
    return value
