"""Submit files. Jobs that differ only in name and arguments share a frame."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

import orjson

from pegasus_bb.dag.blahp import GRID
from pegasus_bb.dag.submitfile import quote_arguments
from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.planner.builtin.executable import (
    COMPUTE,
    CREATE_DIR,
    LEAF_CLEANUP,
    PlannedJob,
)
from pegasus_bb.planner.builtin.frame import frame
from pegasus_bb.planner.builtin.profiles import (
    Profiles,
    batch_name,
    check_arguments,
    condor_keys,
    grid_keys,
    merge,
    of_properties,
    style_of,
)
from pegasus_bb.planner.run_plan import RunPlan

# HTCondor gives a job on the submit host nothing of its user's environment, and Slurm's
# programs are found on PATH; a DAGMan passes on what it was submitted with.
_OF_THE_USER = "PATH, HOME, USER, PEGASUS_*, XDG_*, SLURM_CONF"

# Before scratch is there, and while it goes: a leaf cleanup that was killed halfway
# must find a folder to start in when it is tried again.
OUTSIDE_SCRATCH = "/tmp"  # noqa: S108 - as Pegasus does it for create_dir


@dataclass(frozen=True, slots=True)
class _Kind:
    text: str  # of the submit file, with %(slots)s
    before: list[str]  # arguments in front of the job's id
    after: list[str]  # arguments between the id and what the job's files are
    program: list[str]  # label, stamp and the program itself


class Submits:
    def __init__(self, scratch: str, catalogs: Catalogs, context: RunPlan) -> None:
        self._scratch = scratch
        self._catalogs, self._context = catalogs, context
        self._common = of_properties(catalogs.properties)
        self._kinds: dict[tuple[int, int, bool, bytes], _Kind] = {}

    def text(self, planned: PlannedJob) -> str:
        """The submit file of ``planned``. Raises CatalogError, UsageError."""
        kind = self._kind(planned)
        name = planned.name
        check_arguments(planned.arguments, f"an argument of {name}")
        try:
            arguments = quote_arguments(self._arguments(planned, kind))
        except UsageError as error:
            raise CatalogError(
                f"an argument of {name} cannot be passed on: {error}", key="arguments"
            ) from error
        return kind.text % {
            "name": name,
            "files": f"{planned.folder}/{name}",
            "arguments": arguments,
            "priority": planned.priority,
            "id": planned.job.id if planned.job else "null",
            "batch": batch_name(name),
        }

    def _arguments(self, planned: PlannedJob, kind: _Kind) -> list[str]:
        """Kickstart's options, then the program with its own arguments."""
        job = planned.job
        files: list[str] = []
        for use in job.outputs() if job else ():
            # -s notes size and date of an output; a leading @ means a list of files.
            files += [] if use.lfn.startswith("@") else ["-s", f"{use.lfn}={use.lfn}"]
        return [
            *kind.before,
            job.id if job else "null",
            *(_streams(job.data) if job else ()),
            *kind.after,
            *files,
            *kind.program,
            *planned.arguments,
        ]

    def _kind(self, planned: PlannedJob) -> _Kind:
        own = (planned.job.data.get("profiles") or {}) if planned.job else {}
        key = (
            id(planned.program),
            id(planned.role),  # not its class, which both kinds of clean-up share
            planned.detached,
            orjson.dumps(own, option=orjson.OPT_NON_STR_KEYS) if own else b"",
        )
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = self._make(planned, own)
        return kind

    def _make(self, planned: PlannedJob, own: dict[str, Any]) -> _Kind:
        context = self._context
        site = self._catalogs.sites.sites.get(planned.site)
        profiles = merge(
            self._common,
            site.profiles if site else {},
            planned.program.profiles,
            own,
        )
        record = f"{context.bin}/record"
        executable = record
        launcher: list[str] = []
        keys = {
            "universe": "local",
            "initialdir": str(context.submit_dir),
            "getenv": _OF_THE_USER,
        }
        style = "local"
        if not planned.detached:
            executable, launcher = self._launcher(planned, profiles, record)
        if not planned.is_here:
            assert site is not None  # noqa: S101 - the site that the plan is for
            style = style_of(site, profiles)
            guarded = bool(self._context.request)
            role = "compute" if planned.role is COMPUTE else "auxillary"
            keys = (
                grid_keys(site, style, profiles, role, guarded)
                if style in GRID
                else condor_keys(profiles)
            )
        directory = self._directory(planned)
        text = frame(planned, profiles, keys, executable, directory, style, context)
        stamp = ["-L", context.label, "-T", context.timestamp, planned.program.pfn]
        stdin = ["-i", "-"] if planned.entries is not None else []
        where = ["-w", directory] if directory else []
        return _Kind(
            text,
            [*launcher, "-n", planned.program.transformation, "-N"],
            [*stdin, "-R", planned.site, *where],
            stamp,
        )

    def _launcher(
        self, planned: PlannedJob, profiles: Profiles, record: str
    ) -> tuple[str, list[str]]:
        """The executable, and what stands in front of the recorder's options."""
        pegasus = profiles.get("pegasus", {})
        needed = self._context.request is not None or planned.program.container
        default = f"{self._context.bin}/launch" if needed else ""
        launcher = pegasus.get("gridstart.launcher", default)
        if not launcher:
            return record, []
        words = shlex.split(pegasus.get("gridstart.launcher.arguments", ""))
        return launcher, [*words, record]

    def _directory(self, planned: PlannedJob) -> str:
        if planned.detached:
            return ""
        outside = planned.role in (CREATE_DIR, LEAF_CLEANUP)
        return OUTSIDE_SCRATCH if outside else self._scratch


def _streams(data: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for key, option in (("stdin", "-i"), ("stdout", "-o"), ("stderr", "-e")):
        if data.get(key) is not None:
            words += [option, f"./{data[key]}"]  # as a path: - and quotes mean things
    return words
