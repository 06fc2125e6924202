"""pegasus-plan is started before we know what it shall read.

Its scripts and its Java take half a second until they open the workflow; we read and
rewrite a long one in that time. Only the workflow's name and the command line are known
then. The workflow is given to it as soon as it can be rewritten, before it has been
decided where every file lives, and whether that can be done at all. Whatever was
foreseen is compared in the end with what came of it; where it is not the same, or where
this Pegasus takes no file that it has to wait for, pegasus-plan is ended, nothing of it
stays, and all begins anew without this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.catalogs import SOURCES
from pegasus_bb.planner.deciding import RunName, name_run, properties_of
from pegasus_bb.planner.options import PlanOptions, home_of_runs
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.call import Planner, plan_argv
from pegasus_bb.planner.pegasus.folder import claimed, planned_folder, write_files
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import (
    PROPERTIES,
    WORKFLOW,
    files_for_pegasus,
    properties_file,
    with_catalogs,
)
from pegasus_bb.planner.pegasus.lifeline import ended_with_us
from pegasus_bb.planner.pegasus.pipe import Feeder, LateFile
from pegasus_bb.rewrite import Inputs, properties_on_the_site

LATE = (*(name for name, _ in SOURCES.values()), WORKFLOW)
LONG = 500_000  # bytes; a shorter workflow is read before Java has come up
_HEAD = 65536
_NAME = re.compile(rb"""^name:[ ]+(["']?)([A-Za-z0-9_.-]+)\1[ ]*\r?$""", re.MULTILINE)


class Unforeseen(Exception):
    """What came of the workflow is not what pegasus-plan was started for."""


@dataclass(frozen=True)
class Foreseen:
    """What can be known of a run without reading its workflow."""

    named: RunName
    argv: list[str]
    properties: bytes


class Ahead:
    """A pegasus-plan that waits for what it reads, in a submit directory of its own."""

    def __init__(
        self,
        foreseen: Foreseen,
        planner: Planner,
        late: Mapping[str, LateFile],
        feeder: Feeder,
    ) -> None:
        self._foreseen, self._planner = foreseen, planner
        self._late, self._feeder = late, feeder
        self._given: Inputs | None = None
        planner.is_heard = False  # or all would be said twice where it begins anew

    @property
    def uuid(self) -> str:
        """Of the run."""
        return self._foreseen.named.uuid

    @property
    def submit_dir(self) -> Path:
        """Of the run."""
        return self._foreseen.named.directories.submit_dir

    def named(self, label: str) -> RunName:
        """What the run is called. Raises Unforeseen where ``label`` seemed another."""
        if label != self._foreseen.named.label:
            raise Unforeseen
        return self._foreseen.named

    def give(self, inputs: Inputs, files: Mapping[str, bytes]) -> None:
        """Let it read ``inputs``, as ``files``: what has not been decided yet is not in
        them. Raises OSError."""
        self._given = inputs
        for name, file in self._late.items():
            file.write(files[name])
        self._feeder.start()

    def goes_on(self, argv: Sequence[str], inputs: Inputs) -> None:
        """All is decided. Raises Unforeseen where it should have been started, or told,
        something else."""
        properties = properties_file(inputs.properties)
        if (argv, properties) != (self._foreseen.argv, self._foreseen.properties):
            raise Unforeseen
        if self._given is None:
            self.give(inputs, dict(files_for_pegasus(inputs)))
        elif self._given != inputs:
            raise Unforeseen

    def has_ended(self) -> bool:
        """As of a Planner."""
        self._planner.is_heard = self._has_read()
        return self._planner.has_ended()

    def printed(self) -> bytes:
        """As of a Planner. Raises Unforeseen where it failed before it had read."""
        if self._planner.status() != 0 and not self._has_read():
            raise Unforeseen
        self._planner.is_heard = True
        return self._planner.printed()

    def _has_read(self) -> bool:
        """Whether it got through the workflow, so that what it does from now on is not
        for having been started ahead: before that it writes nothing."""
        if self._late[WORKFLOW].was_waited_for:
            return True
        bb = planned_folder(self.submit_dir).parent
        return any(entry != bb for entry in self.submit_dir.iterdir())


@contextmanager
def started_ahead(
    options: PlanOptions, call: Call, home: Home
) -> Iterator[Ahead | None]:
    """A pegasus-plan that is at work before its workflow is read; None where that is
    not worth it, or where too much is not known yet.

    Whatever ends the block with an exception ends it, and takes its folder away.
    """
    foreseen = _foreseen(options, call, home)
    if foreseen is None:
        yield None
        return
    with _claimed(foreseen.named, force=False) as submit_dir:
        folder = planned_folder(submit_dir)
        write_files(folder, {PROPERTIES: foreseen.properties})
        with (
            _late_files(folder) as late,
            Feeder(late.values()) as feeder,
            Planner(foreseen.argv, folder, options.cwd) as planner,
            ended_with_us(planner.group, [folder / name for name in LATE]),
        ):
            yield Ahead(foreseen, planner, late, feeder)


@contextmanager
def reading(
    inputs: Inputs,
    argv: Sequence[str],
    named: RunName,
    options: PlanOptions,
    ahead: Ahead | None,
) -> Iterator[Planner | Ahead]:
    """A pegasus-plan at work on ``inputs``, in a submit directory that is gone again
    where the block fails. Raises Unforeseen where ``ahead`` reads something else."""
    if ahead is not None:
        ahead.goes_on(argv, inputs)
        yield ahead
        return
    with _claimed(named, options.force) as submit_dir:
        folder = planned_folder(submit_dir)
        write_files(folder, dict(files_for_pegasus(inputs)))
        with Planner(argv, folder, options.cwd) as planner:
            yield planner


def _claimed(named: RunName, force: bool) -> AbstractContextManager[Path]:
    run = named.directories
    besides = run.base_dir / home_of_runs(named.label)
    return claimed(run.submit_dir, force, besides)


@contextmanager
def _late_files(folder: Path) -> Iterator[dict[str, LateFile]]:
    """All that depends on the workflow, in whatever order it is opened."""
    with ExitStack() as opened:
        late = {}
        for name in LATE:
            try:
                late[name] = opened.enter_context(closing(LateFile(folder / name)))
            except OSError as error:  # no pipes on this file system
                raise Unforeseen from error
        yield late


def _foreseen(options: PlanOptions, call: Call, home: Home) -> Foreseen | None:
    try:
        options.check()
        workflow = options.absolute(options.workflow)
        label = _name_of(workflow)
        if label is None or len(options.sites) != 1:
            return None
        named = name_run(options, label)
        submit_dir = named.directories.submit_dir
        if submit_dir.exists() or submit_dir.is_symlink():
            return None
        folder = planned_folder(submit_dir)
        properties = properties_on_the_site(properties_of(options), options.sites[0])
        return Foreseen(
            named,
            plan_argv(home, named.directories, folder, call.passed, workflow),
            properties_file(with_catalogs(properties, folder)),
        )
    except (PegasusBBError, OSError):
        return None  # whoever reads all of it says what is wrong


def _name_of(workflow: Path) -> str | None:
    """What a long workflow seems to be called."""
    with workflow.open("rb") as source:
        if workflow.stat().st_size < LONG:
            return None
        found = _NAME.search(source.read(_HEAD))
    return found and found[2].decode()
