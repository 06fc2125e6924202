"""Copies of #DW stage_in and stage_out, made as the owner of the session."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, ReservationFailed, UsageError
from pegasus_bb_testbed.datawarp.accounts import Session
from pegasus_bb_testbed.datawarp.directives import Directive, split_variable


def stage(
    wanted: list[Directive], word: str, buffers: Mapping[str, Path], session: Session
) -> None:
    """Do every directive ``word`` among ``wanted``; ``buffers`` by their variable.

    Raises ReservationFailed with the words of the first copy that fails.
    """
    todo = [directive for directive in wanted if directive.word == word]
    if todo:
        _as_user(session, lambda: _copy_all(todo, buffers))


def _copy_all(todo: list[Directive], buffers: Mapping[str, Path]) -> None:
    for values in (directive.values for directive in todo):
        source = _place(values["source"], buffers)
        destination = _place(values["destination"], buffers)
        if values["type"] == "directory":
            shutil.copytree(source, destination, symlinks=True, dirs_exist_ok=True)
        else:
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, destination)


def _place(end: str, buffers: Mapping[str, Path]) -> Path:
    if not end.startswith("$"):
        return Path(end)
    variable, rest = split_variable(end)
    if variable not in buffers:
        raise UsageError(f"{end!r}: this job has no ${variable}")
    return buffers[variable] / rest


def _as_user(session: Session, work: Callable[[], None]) -> None:
    """Do ``work`` in a child that has the rights of the session's owner alone.

    The paths are the user's own words: with the scheduler's rights they would reach
    what the user cannot.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_child(session, work, writing))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise ReservationFailed(f"dwsd: staging failed: {said or f'ended by {status}'}")


def _child(session: Session, work: Callable[[], None], writing: int) -> int:
    try:
        if os.geteuid() == 0:
            _become(session)
        work()
        return 0
    except (OSError, PegasusBBError, shutil.Error, ValueError) as error:
        os.write(writing, " ".join(str(error).split()).encode(errors="replace")[:1000])
        return 1
    finally:
        sys.stdout.flush()


def _become(session: Session) -> None:
    try:
        name = pwd.getpwuid(session.owner).pw_name
        os.initgroups(name, session.group)
    except KeyError:
        os.setgroups([session.group])
    os.setgid(session.group)
    os.setuid(session.owner)
    os.umask(0o022)
