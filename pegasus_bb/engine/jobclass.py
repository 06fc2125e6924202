"""What kind of job a node runs, by the attribute that either planner writes."""

from __future__ import annotations

import re

from pegasus_bb.dag.nodes import Node
from pegasus_bb.engine.submitdir import SubmitDir

TASK, STAGE_IN, CREATE_DIR, CLEAN_UP, CHMOD = 1, 2, 6, 8, 9
SUB_WORKFLOWS = (10, 11)
_LINE = re.compile(r"^\+pegasus_job_class\s*=\s*([0-9]+)\s*$", re.MULTILINE | re.I)


def job_class(place: SubmitDir, node: Node) -> int:
    """Pegasus's number; 0 where the submit file has none. Raises OSError."""
    if node.kind == "SUBDAG":
        return SUB_WORKFLOWS[-1]
    file = node.file(place.path)
    found = _LINE.search(file.read_text(encoding="utf-8", errors="surrogateescape"))
    return int(found[1]) if found else 0
