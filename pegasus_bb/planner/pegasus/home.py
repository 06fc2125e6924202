"""Where the real pegasus-plan is. The one that is ours is never taken for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.files import is_file, is_there
from pegasus_bb.model.properties import PREFIX, Properties

PLAN = "pegasus-plan"
# In the first lines of planner-hooks/pegasus-plan, however it is copied or linked.
OURS = b"`pegasus-bb plan`"


@dataclass(frozen=True)
class Home:
    """An installed Pegasus. Its tools look beside themselves for each other, so each
    is called by its own path and never through a link."""

    bin: Path

    def tool(self, name: str) -> str:
        return str(self.bin / name)

    def is_of(self, folder: str) -> bool:
        return (
            bool(folder) and (Path(folder) / "bin" / PLAN).resolve().parent == self.bin
        )


def find_home(environ: Mapping[str, str]) -> Home | None:
    """$PEGASUS_HOME/bin, else the first folder of PATH with a real pegasus-plan."""
    for folder in _folders(environ):
        if is_real(folder / PLAN):
            return Home((folder / PLAN).resolve().parent)
    return None


def need_home(environ: Mapping[str, str]) -> Home:
    """As ``find_home``. Raises UsageError where there is none."""
    home = find_home(environ)
    if home is None:
        raise UsageError(
            "--bb-planner pegasus: there is no pegasus-plan; set PEGASUS_HOME or put "
            "the bin folder of a Pegasus 5.1 on PATH, or say --bb-planner builtin"
        )
    return home


def resolve_home(planner: str, environ: Mapping[str, str]) -> Home | None:
    """The Pegasus that plans, as ``pegasus.bb.planner`` has it; None: the built-in
    planner does. Raises UsageError where there has to be one, and is none: a user who
    sets PEGASUS_HOME wants that Pegasus, and no other planner in silence."""
    if planner == "builtin":
        return None
    if planner == "pegasus":
        return need_home(environ)
    home, said = find_home(environ), environ.get("PEGASUS_HOME")
    if home is None and said and not is_there(Path(said) / "bin" / PLAN):
        raise UsageError(
            f"PEGASUS_HOME is {said}, and there is no {PLAN} in {said}/bin, nor one on "
            "PATH; correct it, or say --bb-planner builtin"
        )
    return home


def is_real(program: Path) -> bool:
    if not is_file(program) or not os.access(program, os.X_OK):
        return False
    try:
        with program.open("rb") as source:
            return OURS not in source.read(1024)
    except OSError:
        return False


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("PEGASUS_HOME"):
        yield Path(environ["PEGASUS_HOME"]) / "bin"
    for folder in environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder).absolute()


def planned_by(properties: Properties, home: Home | None, version: str = "") -> str:
    """Which planner does it, and why that one."""
    said = properties.origin(PREFIX + "planner")
    if home is None:
        why = said or "no pegasus-plan in PEGASUS_HOME or on PATH"
        return f"planner:  built-in ({why})"
    by = "PEGASUS_HOME" if home.is_of(os.environ.get("PEGASUS_HOME", "")) else "PATH"
    return f"planner:  {version or PLAN} in {home.bin} ({by})"
