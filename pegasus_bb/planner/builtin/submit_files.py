"""Submit files. Jobs that differ only in name and arguments share a frame
(frame.py)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from pegasus_bb.core.errors import UnplacedError, UsageError
from pegasus_bb.model.dag.blahp import GRID
from pegasus_bb.model.dag.quoting import quote_arguments
from pegasus_bb.model.value_lines import ValueLines
from pegasus_bb.model.workflow import OWN_RUN
from pegasus_bb.planner.builtin.executable import (
    COMPUTE,
    CREATE_DIR,
    LEAF_CLEANUP,
    BuiltInExecutable,
    PlannedJob,
)
from pegasus_bb.planner.builtin.frame import frame
from pegasus_bb.planner.builtin.profiles import (
    Profiles,
    batch_name,
    condor_keys,
    grid_keys,
    merge,
    of_properties,
    style_of,
)
from pegasus_bb.planner.run_plan import RunPlan

# HTCondor gives a job on the submit host no variable of its user's environment, but
# Slurm's programs are found on PATH. DAGMan passes on its own environment.
_USER_ENVIRONMENT = "PATH, HOME, USER, PEGASUS_*, XDG_*, SLURM_CONF"

# create_dir starts before scratch exists. A leaf cleanup that was killed halfway must
# find a folder to start in when it is tried again.
OUTSIDE_SCRATCH = "/tmp"  # noqa: S108 - as Pegasus does for create_dir


@dataclass(frozen=True, slots=True)
class _Frame:
    text: str  # of the submit file, with %(slots)s
    executable: str
    profiles: Profiles
    launcher: list[str]  # arguments before the recorder's options
    before: list[str]  # options before the job's id
    after: list[str]  # arguments between the id and the job's files
    program: list[str]  # label, timestamp and the program itself


class SubmitFiles:
    def __init__(self, executable: BuiltInExecutable, run: RunPlan) -> None:
        rewritten = executable.rewritten
        self._scratch = executable.scratch
        self._catalogs = rewritten.catalogs
        self._run = run
        self._places = ValueLines(rewritten.workflow, rewritten.catalogs)
        self._common = of_properties(rewritten.catalogs.properties)
        self._frames: dict[tuple[int, int, bool, bytes], _Frame] = {}

    def text(self, planned: PlannedJob) -> str:
        """The submit file of ``planned``. Raises CatalogError."""
        name = planned.name
        with self._places.placed(*planned.origin):
            kind = self._frame(planned)
            arguments = _quoted(planned, self._arguments(planned, kind))
        text = kind.text % {
            "name": name,
            "files": f"{planned.folder}/{name}",
            "arguments": arguments,
            "priority": planned.priority,
            "id": planned.job.id if planned.job else "null",
            "batch": batch_name(name),
            "tasks": len(planned.tasks) or 1,
            **self._transferred(planned),
        }
        placement = self._run.placement
        if placement is None or placement.job_tier.request is None:
            return text
        from pegasus_bb.planner.grown_requests import with_growth  # few tiers ask

        job = planned.job.id if planned.job else name
        return with_growth(text, placement, job, self._run.request_growth)

    def _travels(self, planned: PlannedJob) -> bool:
        return self._run.jobs_travel and not planned.on_submit_host

    def _transferred(self, planned: PlannedJob) -> dict[str, str]:
        """What HTCondor brings with the job, and takes back."""
        if not self._travels(planned):
            return {}
        from pegasus_bb.planner.travelling import (  # few pools
            brought_by_traveller,
            returned_by_traveller,
        )

        tasks = planned.tasks or (planned,)
        has_container = any(task.program.container for task in tasks)
        run, scratch, name = self._run, self._scratch, planned.name
        own = run.job_reservations.get(planned.job.id if planned.job else name)
        brought = brought_by_traveller(run, name, own, scratch, contained=has_container)
        return {
            "brought": brought,
            "returned": returned_by_traveller(run, name, scratch),
        }

    def task_list(self, planned: PlannedJob) -> str:
        """What the cluster ``planned`` reads on stdin. Raises CatalogError."""
        return "".join(self._task_lines(planned)) if planned.tasks else ""

    def _task_lines(self, planned: PlannedJob) -> Iterator[str]:
        from pegasus_bb.planner.builtin.cluster_nodes import (
            added_environment,
            task_line,
        )

        cluster = self._frame(planned).profiles
        for number, task in enumerate(planned.tasks, 1):
            (job,) = task.jobs
            with self._places.placed(*task.origin):
                kind = self._frame(task)
            words = added_environment(kind.profiles, cluster)
            words += [kind.executable, *self._arguments(task, kind)]
            yield f"#@ {number} {job.transformation} {job.id}\n{task_line(words)}\n"

    def _arguments(self, planned: PlannedJob, kind: _Frame) -> list[str]:
        """Kickstart's options, then the program with its own arguments."""
        if planned.tasks:
            return [*kind.launcher, *planned.arguments]
        job = planned.job
        files: list[str] = []
        for use in (*job.outputs(), *job.checkpoints()) if job else ():
            # -s notes size and date of a file; a leading @ means a list of files.
            files += [] if use.lfn.startswith("@") else ["-s", f"{use.lfn}={use.lfn}"]
        return [
            *kind.launcher,
            *kind.before,
            job.id if job and job.kind != OWN_RUN else "null",
            *(_streams(job.data) if job else ()),
            *kind.after,
            *files,
            *kind.program,
            *planned.arguments,
        ]

    def _frame(self, planned: PlannedJob) -> _Frame:
        own = planned.profiles
        key = (
            id(planned.program),
            id(planned.role),  # both kinds of clean-up have the same job class
            planned.detached,
            orjson.dumps(own, option=orjson.OPT_NON_STR_KEYS) if own else b"",
        )
        kind = self._frames.get(key)
        if kind is None:
            kind = self._frames[key] = self._make_frame(planned)
        return kind

    def _make_frame(self, planned: PlannedJob) -> _Frame:
        run = self._run
        site = self._catalogs.sites.sites.get(planned.site)
        profiles = merge(
            self._common,
            site.profiles if site else {},
            planned.program.profiles,
            planned.profiles,
        )
        starts = planned.program.pfn if planned.tasks else f"{run.bin}/record"
        executable = starts
        launcher: list[str] = []
        keys = {
            "universe": "local",
            "initialdir": str(run.submit_dir),
            "getenv": _USER_ENVIRONMENT,
        }
        style = "local"
        if not planned.detached:
            executable, launcher = self._launcher(planned, profiles, starts)
        if not planned.on_submit_host:
            site = self._catalogs.sites.site(planned.site)
            style = style_of(site, profiles)
            guarded = bool(self._run.request)
            role = "compute" if planned.role is COMPUTE else "auxillary"
            keys = (
                grid_keys(site, style, profiles, role, guarded=guarded)
                if style in GRID
                else condor_keys(profiles)
            )
        if self._travels(planned):
            from pegasus_bb.planner.travelling import keys_of_traveller  # few pools

            keys = {**keys, **keys_of_traveller(run, self._scratch)}
        directory = self._directory(planned)
        text = frame(
            planned,
            profiles,
            run,
            keys=keys,
            executable=executable,
            directory=directory,
            style=style,
        )
        stamp = ["-L", run.label, "-T", run.timestamp, planned.program.pfn]
        stdin = ["-i", "-"] if planned.entries is not None else []
        where = ["-w", directory] if directory else []
        return _Frame(
            text,
            executable,
            profiles,
            launcher,
            ["-n", planned.program.transformation, "-N"],
            [*stdin, "-R", planned.site, *where],
            stamp,
        )

    def _launcher(
        self, planned: PlannedJob, profiles: Profiles, starts: str
    ) -> tuple[str, list[str]]:
        """The executable, and the arguments that end with ``starts``: the recorder, or
        what runs a cluster."""
        pegasus = profiles.get("pegasus", {})
        is_task = bool(planned.jobs)
        needed = (
            self._run.request is not None
            or planned.program.container
            or (self._run.is_private and is_task)
        )
        default = f"{self._run.bin}/launch" if needed else ""
        launcher = pegasus.get("gridstart.launcher", default)
        if not launcher:
            return starts, []
        key = "gridstart.launcher.arguments"
        try:
            return launcher, [*shlex.split(pegasus.get(key, "")), starts]
        except ValueError as error:
            at = ("profiles", "pegasus", key)
            what = f"{key} are not words of a shell: {error}"
            raise UnplacedError(what, at, pegasus[key], "close the quote") from error

    def _directory(self, planned: PlannedJob) -> str:
        if planned.detached:
            return ""
        outside = planned.role in (CREATE_DIR, LEAF_CLEANUP)
        return OUTSIDE_SCRATCH if outside else self._scratch


def _streams(data: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for key, option in (("stdin", "-i"), ("stdout", "-o"), ("stderr", "-e")):
        if data.get(key) is not None:
            words += [option, f"./{data[key]}"]  # a path: Kickstart interprets - and "
    return words


def _quoted(planned: PlannedJob, arguments: list[str]) -> str:
    try:
        return quote_arguments(arguments)
    except UsageError as error:
        place = "arguments" if planned.arguments else "uses"
        what = f"an argument of {planned.name} cannot be passed on: {error}"
        raise UnplacedError(what, (place,), would_do="a file with that text") from error
