"""pegasus-plan is started before we know what it shall read.

Its scripts and its Java take half a second until they open the workflow; we read and
rewrite a long one in that time. Only the workflow's name and the command line are known
then, so whatever was foreseen is compared with what came of it before pegasus-plan gets
anything to read. Where it is not the same, or where this Pegasus takes no file that it
has to wait for, it is ended and all begins anew without this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.catalogs import SOURCES
from pegasus_bb.planner.deciding import RunName, name_run, properties_of
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.call import Planner, plan_argv
from pegasus_bb.planner.pegasus.folder import claimed, planned_folder, write_files
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import (
    PROPERTIES,
    WORKFLOW,
    properties_file,
    with_catalogs,
)
from pegasus_bb.planner.pegasus.pipe import LateFile
from pegasus_bb.rewrite import properties_on_the_site

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
        self, foreseen: Foreseen, planner: Planner, late: Mapping[str, LateFile]
    ) -> None:
        self._foreseen, self._planner, self._late = foreseen, planner, late

    def named(self, label: str) -> RunName:
        """What the run is called. Raises Unforeseen where ``label`` seemed another."""
        if label != self._foreseen.named.label:
            raise Unforeseen
        return self._foreseen.named

    def go_on(self, argv: Sequence[str], files: Mapping[str, bytes]) -> None:
        """Let it read ``files``. Raises OSError; Unforeseen where it was started in
        another way, or has ended."""
        known = (self._foreseen.argv, self._foreseen.properties)
        if known != (argv, files[PROPERTIES]) or self._planner.has_ended():
            raise Unforeseen
        for name, file in self._late.items():
            file.write(files[name])

    def has_ended(self) -> bool:
        """As of a Planner; asked again and again."""
        for file in self._late.values():
            file.feed()
        return self._planner.has_ended()

    def printed(self) -> bytes:
        """As of a Planner. Raises Unforeseen where it failed and did not wait."""
        if self._planner.status() != 0 and not self._late[WORKFLOW].was_waited_for:
            raise Unforeseen
        return self._planner.printed()


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
    with claimed(foreseen.named.directories.submit_dir, force=False) as submit_dir:
        folder = planned_folder(submit_dir)
        write_files(folder, {PROPERTIES: foreseen.properties})
        with (
            _late_files(folder) as late,
            Planner(foreseen.argv, folder, options.cwd) as planner,
        ):
            yield Ahead(foreseen, planner, late)


@contextmanager
def reading(
    files: Mapping[str, bytes],
    argv: Sequence[str],
    named: RunName,
    options: PlanOptions,
    ahead: Ahead | None,
) -> Iterator[Planner | Ahead]:
    """A pegasus-plan at work on ``files``, in a submit directory that is gone again
    where the block fails. Raises Unforeseen where ``ahead`` was started otherwise."""
    if ahead is not None:
        ahead.go_on(argv, files)
        yield ahead
        return
    with claimed(named.directories.submit_dir, options.force) as submit_dir:
        folder = planned_folder(submit_dir)
        write_files(folder, files)
        with Planner(argv, folder, options.cwd) as planner:
            yield planner


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
            plan_argv(home, named.directories, folder, call.passed),
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
