"""Lets the jobs that pegasus-plan has planned bring what they need of the submit
directory, where their nodes do not see it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.dag.nodes import Node
from pegasus_bb.model.dag.quoting import quote_environment
from pegasus_bb.model.placement import Placement
from pegasus_bb.planner.pegasus.exclusive_folder import change_submit_file
from pegasus_bb.planner.travelling import files_of_traveller
from pegasus_bb.runtime.bbdir import SUBMIT_DIR

_BRINGS = re.compile(r"^transfer_input_files *= *", re.MULTILINE)
_PROGRAM_IS_THERE = re.compile(r"^transfer_executable *= *false$", re.MULTILINE)
_ENVIRONMENT = re.compile(r'^(environment *= *".*)"$', re.MULTILINE)
_COMES_BACK = re.compile(r"^(\+TransferOutput|transfer_output_files) *=", re.MULTILINE)


def check_own_jobs(given: PlanningInput) -> None:
    """Raises CatalogError for a sub-workflow, whose jobs are planned later."""
    inner = (job for job in given.workflow if job.is_sub_workflow)
    for job in inner:
        raise given.workflow.job_error(
            job,
            "pegasus-plan plans the jobs of a sub-workflow when the workflow runs, and "
            "they would look for the submit directory on their nodes",
            job.kind,
            "--bb-planner builtin, or --dir with a folder of the tier",
            "type",
        )


def let_travel(
    folder: Path, nodes: Iterable[Node], launch: str, placement: Placement | None
) -> None:
    """Change the submit files of those ``nodes`` that ``launch`` starts on the site.
    Raises CatalogError for one that is not as pegasus-plan writes it."""
    has_container = (folder / "bb" / "containers.json").exists()

    def travelling(text: str, node: Node) -> str:
        if f"\nexecutable = {launch}\n" not in text or "\nuniverse = local" in text:
            return text
        names = files_of_traveller(node.name, placement, has_container=has_container)
        changed = _travelling(text, folder, names)
        if changed is None:
            raise CatalogError(
                f"the submit file of node {node.name} is none of a job that can bring "
                "its files",
                file=str(node.file(folder)),
                would_do="--bb-planner builtin, or --dir with a folder of the tier",
            )
        return changed

    for node in nodes:
        change_submit_file(folder, node, partial(travelling, node=node))


def _travelling(text: str, folder: Path, names: Iterable[str]) -> str | None:
    """``text`` of a job that takes the files ``names`` of ``folder`` with it; None if
    it lacks a line that has to change."""
    where = quote_environment({SUBMIT_DIR: str(folder)})[1:-1]
    text, programs = _PROGRAM_IS_THERE.subn("transfer_executable = true", text)
    text, environments = _ENVIRONMENT.subn(lambda m: f'{m[1]} {where}"', text)
    if (programs, environments) != (1, 1):
        return None
    files = ", ".join(f"{folder}/{name}" for name in names)
    line = f"transfer_input_files = {files}"
    text, known = _BRINGS.subn(lambda _: f"{line}, ", text)
    added = [] if known else [line]
    if not _COMES_BACK.search(text):
        added.append('transfer_output_files = ""')
    lines = "".join(f"{each}\n" for each in added)
    return text.replace("\nqueue\n", f"\n{lines}queue\n", 1)
