"""The options of ``plan``, and what follows from them alone."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.default_sites import LOCAL

CLEANUPS = ("none", "leaf", "inplace")
CLUSTERS = ("horizontal", "label", "whole", "none")
_SCRATCH = "wf-scratch"  # as Pegasus names it
_LONGEST = 200  # bytes of a folder's name: longer names are derived from it


@dataclass(frozen=True)
class PlanOptions:
    """pegasus-plan's options, and ours as properties in ``bb_options``."""

    workflow: Path
    cwd: Path
    conf: Path | None = None
    defines: tuple[str, ...] = ()
    bb_options: dict[str, str] = field(default_factory=dict)  # --bb-X as pegasus.bb.X
    origin: str = "command line"  # of ``bb_options``
    sites: tuple[str, ...] = ()
    output_sites: tuple[str, ...] = ()
    staging_site: tuple[str, ...] = ()  # SITE, or EXECUTION_SITE=STAGING_SITE
    output_dir: Path | None = None
    input_dir: tuple[Path, ...] = ()
    transformations_dir: tuple[Path, ...] = ()
    base_dir: Path = Path()
    relative_dir: str | None = None
    relative_submit_dir: str | None = None
    cleanup: str = "inplace"
    clusters: tuple[str, ...] = ()
    force: bool = False
    arguments: tuple[str, ...] = ()
    mode: str = ""  # used if neither an option nor a property sets one
    chosen_mode: str = ""  # by --bb-mode auto

    @property
    def may_run_here(self) -> bool:
        """Whether jobs may run on site local, which --sites names beside theirs."""
        return LOCAL in self.sites

    def absolute(self, path: Path) -> Path:
        """``path`` relative to the user's working directory. It has no ``..``, so that
        a path in the plan means the same when the workflow runs."""
        there = (self.cwd / path).absolute()
        return there.resolve() if ".." in there.parts else there

    @property
    def folder_of_sites(self) -> Path:
        """Where the sites that Pegasus makes have their folders: beside --dir."""
        relative = self.relative_submit_dir or ""
        if self.base_dir == Path() and not relative:
            return self.cwd
        return self.absolute(self.base_dir / relative).parent

    def scratch_beside(self, site: str) -> Path:
        """What stands for the scratch of ``site``, beside the submit directories."""
        return self.absolute(self.base_dir) / _SCRATCH / site

    def check(self) -> None:
        """Raises UsageError for mistakes that need no catalog to be seen."""
        for name in ("relative_dir", "relative_submit_dir"):
            value = getattr(self, name)
            if value is not None and not _plain_relative(value):
                raise UsageError(
                    f"--{name.replace('_', '-')} {value!r}: a relative path of a "
                    "folder of its own is needed, without '..', blanks, quotes, \\, "
                    f"$, %, ? and #, no part longer than {_LONGEST} bytes"
                )

    def check_builtin(self) -> None:
        """Raises UsageError for options that only a real pegasus-plan supports."""
        if self.cleanup not in CLEANUPS:
            why = (
                "needs a real pegasus-plan"
                if self.cleanup == "constraint"
                else "is no cleanup"
            )
            raise UsageError(
                f"--cleanup {self.cleanup} {why}; one of {', '.join(CLEANUPS)}"
            )
        for name in set(self.clusters).difference(CLUSTERS):
            raise UsageError(
                f"--cluster {name} is no way to make clusters of jobs; one of "
                f"{', '.join(CLUSTERS)}, or several with commas"
            )
        if len(self.output_sites) > 1 and self.output_dir is not None:
            raise UsageError(
                f"--output-dir {self.output_dir} is one folder, and --output-sites "
                f"names {len(self.output_sites)} sites; name one of them, or leave out "
                "--output-dir"
            )


@dataclass(frozen=True)
class RunDirectories:
    submit_dir: Path  # absolute
    base_dir: Path  # absolute
    relative_dir: str  # below the site's scratch


def run_directories(options: PlanOptions, label: str, uuid: str) -> RunDirectories:
    """Laid out as pegasus-plan does it: <dir>/<user>/pegasus/<label>/run0001.

    With --relative-submit-dir alone, pegasus-plan would give run0001 on the site to
    every run; here each run gets a folder of its own.
    """
    base = options.absolute(options.base_dir)
    home = runs_folder(label)
    relative = options.relative_dir and str(PurePosixPath(options.relative_dir))
    submit = options.relative_submit_dir or relative
    if submit is None:
        submit = relative = f"{home}/{_next_run(base / home)}"
    elif relative is None:
        relative = f"{home}/{Path(submit).name}-{uuid[:8]}"
    directories = RunDirectories(base / submit, base, relative)
    check_folder(directories.submit_dir)
    return directories


def runs_folder(label: str) -> str:
    """The folder below --dir, and below scratch, where pegasus-plan puts every run."""
    return f"{getpass.getuser()}/pegasus/{label}"


def _next_run(folder: Path) -> str:
    taken = [p.name[3:] for p in folder.glob("run[0-9]*")] if folder.is_dir() else []
    numbers = [int(n) for n in taken if n.isdigit()]
    return f"run{max(numbers, default=0) + 1:04d}"


def _plain_relative(value: str) -> bool:
    path = Path(value)
    plain = not any(c.isspace() or ord(c) < 33 or c in "\"'\\$%?#" for c in value)
    short = all(len(os.fsencode(part)) <= _LONGEST for part in path.parts)
    # "." would be the scratch directory of all runs, which cleanup would remove.
    inside = not path.is_absolute() and ".." not in path.parts and path != Path()
    return inside and plain and short


def check_folder(folder: Path) -> None:
    """Raises UsageError for a submit directory that DAGMan cannot carry: it splits
    script lines on blanks and knows no quotes."""
    if any(c.isspace() or ord(c) < 33 or c in "\"'\\$%\x7f" for c in str(folder)):
        raise UsageError(
            f"the submit directory {str(folder)!r} has a blank or a quote in its path, "
            "which DAGMan cannot carry; choose another --dir"
        )
