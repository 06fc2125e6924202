"""The paths in a submit directory, planned by us or by hand."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.files import ENGINE_LOCK, read_json
from pegasus_bb.core.similar_path import similar_path
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.document import parse
from pegasus_bb.runtime.bbdir import BBDir

# how far submit directories below a folder are looked for
_LEVELS = 4
_WIDTH = 200
_NAMED = 2  # of them
_PARTS = ("nodes", "edges")
_RESCUE = re.compile(r"\.rescue([0-9]{3})")


@dataclass(frozen=True)
class SubmitDir:
    """A folder with one DAG file, and with a bb folder where we planned it."""

    path: Path
    dag: Path
    time_to_save: int = 0  # seconds that jobs may take for that after a signal
    dag_size: tuple[int, int] = (1, 0)  # nodes and edges that it has at the least

    def read_dag(self) -> Dag:
        """Raises CatalogError with file and line, and if a part of the file is gone."""
        dag = read_dag(self.dag)
        for what, found, planned in zip(_PARTS, dag.size, self.dag_size, strict=True):
            if found < planned:
                raise CatalogError(
                    f"a part of it is gone: {what} are missing",
                    str(self.dag),
                    found=f"{found}, of {planned} or more",
                    would_do="the file as it was planned; or plan again",
                )
        return dag

    @property
    def journal(self) -> Path:
        return self.path / "jobstate.log"

    @property
    def bb(self) -> Path:
        return self.path / "bb"

    @property
    def bb_dir(self) -> BBDir:
        """What ``bb`` has, as programs of a run read it."""
        return BBDir(str(self.bb))

    @property
    def processes(self) -> Path:
        return (self.bb if self.bb.is_dir() else self.path) / "engine.jsonl"

    @property
    def lock(self) -> Path:
        return self.path / ENGINE_LOCK

    def braindump(self) -> dict[str, Any]:
        """What the planner noted of itself; empty where there is no braindump.yml.

        Raises UsageError where it cannot be read.
        """
        file = self.path / "braindump.yml"
        if not file.is_file():
            return {}
        try:
            data = parse(file.read_text(encoding="utf-8"), file)
        except (OSError, ValueError) as error:
            raise UsageError(f"{file}: cannot be read ({error})") from error
        return data if isinstance(data, dict) else {}

    @property
    def workflow(self) -> Path:
        copy = self.path / Path(str(self.braindump().get("dax") or "")).name
        return copy if copy.is_file() else self.path / "workflow.yml"

    def rescues(self) -> list[Path]:
        found = []
        for file in self.path.glob(f"{glob.escape(self.dag.name)}.rescue*"):
            match = _RESCUE.fullmatch(file.name[len(self.dag.name) :])
            if match:
                found.append((int(match[1]), file))
        return [file for _, file in sorted(found)]

    @property
    def last_rescue(self) -> Path | None:
        return next(reversed(self.rescues()), None)

    def next_rescue(self) -> Path:
        last = self.last_rescue
        number = int(last.name[-3:]) + 1 if last else 1
        return self.path / f"{self.dag.name}.rescue{min(number, 999):03d}"


def find_submit_dir(path: Path) -> SubmitDir:
    """What ``path`` holds. Raises UsageError where there is not exactly one DAG."""
    folder = path.absolute()
    if ".." in folder.parts:
        folder = folder.resolve()
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        hint = similar_path(path) or "; name a submit directory"
        raise UsageError(f"{path}: {what}{hint}")
    planned = folder / "bb" / "plan.json"
    if planned.exists():
        return _planned(folder, planned)
    dags = sorted(folder.glob("*.dag"))
    if len(dags) != 1:
        names = ", ".join(dag.name for dag in dags) or "none"
        raise UsageError(
            f"{path}: a submit directory has one .dag file, found: {names}; "
            f"{_below(folder) or 'plan one with pegasus-bb plan'}"
        )
    return SubmitDir(folder, dags[0])


def _below(folder: Path) -> str:
    """What is said of submit directories a few levels below; empty if there are none.

    Pegasus makes them at USER/pegasus/WORKFLOW/run0001 below the folder of --dir.
    """
    found: list[Path] = []
    level = [folder]
    for _ in range(_LEVELS):
        folders = (
            Path(each.path)
            for parent in level
            for each in _entries(parent)
            if each.is_dir(follow_symlinks=False)
        )
        level = sorted(islice(folders, _WIDTH))
        found += (
            each
            for each in level
            if any(entry.name.endswith(".dag") for entry in _entries(each))
        )
    first = " or ".join(map(str, found[:_NAMED]))
    return f"name one of those below, say {first}" if first else ""


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """None of a folder that this user may not list."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _planned(folder: Path, plan: Path) -> SubmitDir:
    try:
        data = read_json(str(plan))
        if not isinstance(data, dict):
            raise TypeError("it is no mapping")
        nodes, edges = data.get("dag_size", (1, 0))
        return SubmitDir(
            folder,
            folder / str(data["dag"]),
            int(data.get("evacuate_within", 0)),
            (int(nodes), int(edges)),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise UsageError(f"{plan}: does not name a DAG file ({error})") from error
