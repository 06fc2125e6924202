"""Copies of #DW stage_in and stage_out, made as the owner of the session."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from pathlib import Path
from typing import Callable, Iterator, Mapping, NamedTuple

from pegasus_bb.errors import PegasusBBError, ReservationFailed, UsageError
from pegasus_bb.testbed.datawarp.accounts import Session
from pegasus_bb.testbed.datawarp.directives import (
    Directive,
    check_ends,
    split_variable,
)


class Copy(NamedTuple):
    """One copy of a file or of a whole directory."""

    source: Path
    destination: Path
    whole: bool  # a directory with all below it


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
    for directive in todo:
        for copy in _copies(directive, buffers):
            _copy(copy)


def _copies(directive: Directive, buffers: Mapping[str, Path]) -> Iterator[Copy]:
    values = directive.values
    if values["type"] != "list":
        whole = values["type"] == "directory"
        source = _place(values["source"], buffers)
        yield Copy(source, _place(values["destination"], buffers), whole)
        return
    text = Path(values["source"]).read_text(encoding="utf-8", errors="surrogateescape")
    for number, line in enumerate(text.splitlines(), start=1):
        pair = line.split()
        if not pair:
            continue
        if len(pair) != 2:
            raise UsageError(
                f"{values['source']}:{number}: {line!r} is not a source and a "
                "destination with a blank between"
            )
        check_ends(directive.word, pair[0], pair[1])
        yield Copy(_place(pair[0], buffers), _place(pair[1], buffers), False)


def _place(end: str, buffers: Mapping[str, Path]) -> Path:
    if not end.startswith("$"):
        return Path(end)
    variable, rest = split_variable(end)
    if variable not in buffers:
        raise UsageError(f"{end!r}: this job has no ${variable}")
    return buffers[variable] / rest


def _copy(copy: Copy) -> None:
    if copy.whole:
        shutil.copytree(
            copy.source, copy.destination, symlinks=True, dirs_exist_ok=True
        )
        return
    copy.destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(copy.source, copy.destination)


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
