"""bb/planned_by.json: the command that planned a run, the files that it has read, and
the programs of its tasks.

A run works by its plan. These notes tell whether one was edited since, and how to plan
again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pegasus_bb.core.files import read_json
from pegasus_bb.core.paths import local_path

if TYPE_CHECKING:  # a run reads the file, and loads no planner for that
    from pegasus_bb.decide.decision import PlanningInput
    from pegasus_bb.planner.run_plan import RunPlan

PLANNED_BY = "planned_by.json"
_CAPACITY = "--bb-capacity"
_OWN_FOLDER = "--relative-submit-dir"


def planned_by(given: PlanningInput, run: RunPlan) -> bytes:
    """The contents of planned_by.json. A stamp is size and mtime_ns."""
    catalogs = given.catalogs
    documents = (
        given.workflow.document,
        *catalogs.documents.values(),
        *catalogs.storage.values(),
    )
    settings = given.settings
    files = [
        *(document.path for document in documents),
        *(run.cwd / name for name in catalogs.properties.files()),
        *filter(None, (settings.placement, settings.speeds)),
    ]
    noted = {
        "cwd": str(run.cwd),
        "argv": run.arguments,
        "read": _stamps(files),
        "programs": _stamps(_programs(given)),
    }
    return json.dumps(noted, indent=2).encode() + b"\n"  # a name may be no text


def _programs(given: PlanningInput) -> Iterator[str]:
    """The programs of the tasks that are installed, if submit files have their paths
    as they are."""
    catalog = given.catalogs.transformations
    site = given.site.name
    for name in {job.transformation for job in given.workflow}:
        program = catalog.executable(name, site)
        if program is None or program.kind != "installed" or program.container:
            continue
        path = local_path(program.pfn)
        if path and shlex.quote(path) == path:
            yield path


@dataclass(frozen=True)
class PlanningCommand:
    """How a run was planned; all empty if nothing was noted (a plan from Python, or of
    an older version)."""

    cwd: str = ""
    argv: tuple[str, ...] = ()
    read: Mapping[str, list[int]] = field(default_factory=dict)
    programs: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of_run(cls, bb: Path) -> PlanningCommand:
        try:
            noted = read_json(str(bb / PLANNED_BY))
            read = dict(noted["read"])
            programs = dict(noted.get("programs", {}))
            return cls(str(noted["cwd"]), tuple(noted["argv"]), read, programs)
        except (OSError, ValueError, TypeError, KeyError):
            return cls()

    def changed(self) -> list[str]:
        """The files that were written since the run was planned."""
        return _changed(self.read)

    def changed_programs(self) -> list[str]:
        return _changed(self.programs)

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


def _stamps(files: Iterable[str | Path]) -> dict[str, list[int]]:
    """Those of the files that this machine sees."""
    found = {str(file): _stamp(file) for file in sorted(map(str, files))}
    return {path: stamp for path, stamp in found.items() if stamp}


def _changed(stamps: Mapping[str, list[int]]) -> list[str]:
    return [path for path, stamp in stamps.items() if _stamp(path) != stamp]


def _stamp(path: str | Path) -> list[int]:
    """Empty if the file cannot be looked at."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]
