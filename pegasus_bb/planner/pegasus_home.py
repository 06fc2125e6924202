"""Finds the real pegasus-plan, and never takes our hook for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_file, is_there
from pegasus_bb.model.settings import PREFIX, Properties

PLAN = "pegasus-plan"
# Identifies planner-hooks/pegasus-plan, also as a copy or through a link.
OURS = b"`pegasus-bb plan`"


@dataclass(frozen=True)
class PegasusHome:
    """An installed Pegasus. Its tools look for each other in their own folder, so each
    is called by its real path and never through a link."""

    bin: Path

    def tool(self, name: str) -> str:
        return str(self.bin / name)

    @property
    def properties(self) -> Path:
        """The properties of all its users; often there are none."""
        etc = Path("/etc/pegasus") if self.bin == Path("/usr/bin") else None
        return (etc or self.bin.parent / "etc") / "pegasus.properties"

    def is_in(self, folder: str) -> bool:
        return (
            bool(folder) and (Path(folder) / "bin" / PLAN).resolve().parent == self.bin
        )


def find_home() -> PegasusHome | None:
    """$PEGASUS_HOME/bin, else the first folder of PATH with a real pegasus-plan."""
    for folder in _folders(os.environ):
        if is_real(folder / PLAN):
            return PegasusHome((folder / PLAN).resolve().parent)
    return None


def is_builtin(planner: str) -> bool:
    """Whether the built-in planner plans, which has limits of its own."""
    try:
        return resolve_home(planner) is None
    except UsageError:  # there is no Pegasus where one is asked for
        return False


def resolve_home(planner: str) -> PegasusHome | None:
    """The Pegasus that plans, by ``pegasus.bb.planner``; None: the built-in planner
    does.

    Raises UsageError if a Pegasus is required and there is none. A user who sets
    PEGASUS_HOME wants that Pegasus, not another planner in silence.
    """
    if planner == "builtin":
        return None
    home = find_home()
    given = os.environ.get("PEGASUS_HOME")
    if home is None and planner == "pegasus":
        raise UsageError(
            "--bb-planner pegasus: there is no pegasus-plan; set PEGASUS_HOME or put "
            "the bin folder of a Pegasus 5.1 on PATH, or say --bb-planner builtin"
        )
    if home is None and given and not is_there(Path(given) / "bin" / PLAN):
        raise UsageError(
            f"PEGASUS_HOME is {given}, and there is no {PLAN} in {given}/bin, nor one "
            "on PATH; correct it, or say --bb-planner builtin"
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


def planner_line(
    properties: Properties, home: PegasusHome | None, version: str = ""
) -> str:
    """A line for a person: which planner plans, and why."""
    origin = properties.origin(PREFIX + "planner")
    if home is None:
        why = origin or "no pegasus-plan in PEGASUS_HOME or on PATH"
        return f"planner:  built-in ({why})"
    by = "PEGASUS_HOME" if home.is_in(os.environ.get("PEGASUS_HOME", "")) else "PATH"
    return f"planner:  {version or PLAN} in {home.bin} ({by})"
