"""bb/planned_by.json: the command that planned a run, and the files that it has read.

A run works by its plan. These notes tell whether a catalog was edited since, and how to
plan again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.placement.decision import PlanningInput
from pegasus_bb.planner.run_plan import RunPlan

PLANNED_BY = "planned_by.json"
_CAPACITY = "--bb-capacity"
_OWN_FOLDER = "--relative-submit-dir"


def planned_by(decided: PlanningInput, context: RunPlan) -> bytes:
    """The contents of planned_by.json. A stamp is size and mtime_ns."""
    catalogs = decided.catalogs
    documents = (
        decided.workflow.document,
        catalogs.sites.document,
        catalogs.replicas.document,
        catalogs.transformations.document,
    )
    stamps = {str(document.path): _stamp(document.path) for document in documents}
    read = {path: stamp for path, stamp in stamps.items() if stamp}
    noted = {"cwd": str(context.cwd), "argv": context.arguments, "read": read}
    return json.dumps(noted, indent=2).encode() + b"\n"  # a name may be no text


@dataclass(frozen=True)
class PlanningCommand:
    """How a run was planned; all empty if nothing was noted (a plan from Python, or of
    an older version)."""

    cwd: str = ""
    argv: tuple[str, ...] = ()
    read: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of_run(cls, bb: Path) -> PlanningCommand:
        try:
            noted = json.loads((bb / PLANNED_BY).read_text(encoding="utf-8"))
            return cls(str(noted["cwd"]), tuple(noted["argv"]), dict(noted["read"]))
        except (OSError, ValueError, TypeError, KeyError):
            return cls()

    def changed(self) -> list[str]:
        """The files that were written since the run was planned."""
        return [path for path, stamp in self.read.items() if _stamp(path) != stamp]

    def again(self, capacity: str = "") -> str:
        """A shell line that plans anew; empty if the command is unknown. ``capacity``
        takes the place of the one that was given."""
        if self.argv[:1] != ("plan",):
            return ""
        words = list(self.argv)
        if capacity:
            words = [*_without_capacity(words), f"{_CAPACITY}={capacity}"]
            words[1:] = [words[-1], *words[1:-1]]
        if "--force" not in words and any(w.startswith(_OWN_FOLDER) for w in words):
            words.insert(1, "--force")
        return f"cd {shlex.quote(self.cwd)} && {shlex.join(['pegasus-bb', *words])}"


def _without_capacity(words: list[str]) -> list[str]:
    kept: list[str] = []
    for word in words:
        if kept[-1:] == [_CAPACITY]:
            kept.pop()
        elif not word.startswith(f"{_CAPACITY}="):
            kept.append(word)
    return kept


def _stamp(path: str | Path) -> list[int]:
    """Empty if the file cannot be looked at."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
