"""Lets the launcher start pegasus-plan's chmod jobs, where they run on the submit host.

A staged program gets its mode by a job of its own there. On
the submit host pegasus-plan gives it no launcher, and its path is the planned one.
"""

from __future__ import annotations

import re
from pathlib import Path

from pegasus_bb.model.dag.nodes import Dag, submit_text
from pegasus_bb.planner.pegasus.exclusive_folder import replace_text

_NAME = "chmod_"  # begins the names of such nodes
_PROGRAM = re.compile(r"^executable = (.*)$", re.MULTILINE)
_ARGUMENTS = '\narguments = "'


def start_by_launch(folder: Path, dag: Dag, launch: str) -> None:
    """Put ``launch`` before the program of each such job. Raises CatalogError."""
    for name, node in dag.nodes.items():
        text = submit_text(folder, node) if name.startswith(_NAME) else ""
        program = _PROGRAM.search(text)
        if program is None or program[1] == launch or "\nuniverse = local" not in text:
            continue
        text = text.replace(program[0], f"executable = {launch}")
        text = text.replace(_ARGUMENTS, f"{_ARGUMENTS}{program[1]} ")
        replace_text(node.file(folder), text.encode("utf-8", "surrogateescape"))
