"""An assignment: tasks of one user, done with the mover of staging/."""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.removal import remove
from pegasus_bb.service.dataspace import Dataspace, enter_made, open_parent, parse_place
from pegasus_bb.service.memory import copy_memory, number_of
from pegasus_bb.service.moving import (
    check_not_itself,
    moved_earlier,
    rename,
    write_note,
)
from pegasus_bb.service.task import COPY, MOVE, REMOVE, SWEEP
from pegasus_bb.service.trees import copy_tree, remove_copied
from pegasus_bb.staging.failures import CopyFailed, not_a_file
from pegasus_bb.staging.items import Folder, Item, Landed, item_of, stamp
from pegasus_bb.staging.mover import Mover
from pegasus_bb.staging.onefile import digest_file
from pegasus_bb.staging.parts import new_tag, remove_parts

SMALL = 8 << 20  # bytes; a larger file is moved alone, so that it can be cancelled


class Stopped(Exception):
    """The user has cancelled the task."""


class Hands(NamedTuple):
    """An open source and destination of a task."""

    task: Dict[str, Any]
    source: Folder  # the folder that has it
    name: str
    dest: Folder
    as_name: str
    found: os.stat_result

    @property
    def number(self) -> int:
        """The task's."""
        return int(self.task["id"])


Began = Callable[[List[int], str], None]
Ended = Callable[[int, int, Optional[BaseException]], None]
Moved = Callable[[Optional[int], int], None]
Outcome = Callable[[int, Dict[str, Any]], None]


class Copying:
    """Does one assignment and tells of each task how it ended."""

    def __init__(
        self,
        began: Began,
        ended: Ended,
        moved: Moved,
        control: Any,
        descriptor: Callable[[int], int],
        outcome: Outcome,
    ) -> None:
        """``descriptor`` gives that of a task, which is closed here; ``outcome`` hears
        of copies with ``digest``, before their end."""
        self._began, self._ended, self._moved = began, ended, moved
        self._control, self._descriptor = control, descriptor
        self._outcome = outcome

    def run(self, tasks: List[Dict[str, Any]]) -> None:
        """Do all of ``tasks``; what fails costs only itself."""
        small: List[Hands] = []
        for task in tasks:
            if self._control.is_cancelled(task["id"]):
                self._ended(task["id"], 0, Stopped())
                continue
            try:
                if task["kind"] == SWEEP:
                    dest, name = _parent(task, "dest", make=False)
                    remove_parts(dest.fd, name, task["tags"])
                    self._ended(task["id"], 0, None)
                    continue
                if number_of(task["source"]) >= 0:
                    self._ended(task["id"], self._memory(task), None)
                    continue
                if task["kind"] == REMOVE:
                    self._remove(task)
                    self._ended(task["id"], 0, None)
                    continue
                hands = self._opened(task)
                if hands is None:
                    self._ended(task["id"], 0, None)
                    continue
                if self._is_small(hands):
                    small.append(hands)
                    continue
                size = self._alone(hands)
            except (OSError, PegasusBBError, Stopped) as error:
                self._ended(task["id"], 0, error)
            else:
                self._ended(task["id"], size, None)
        if small:
            self._together(small)

    def _opened(self, task: Dict[str, Any]) -> Optional[Hands]:
        """None for a move that is done then. Raises OSError, PegasusBBError."""
        source, name = _parent(task, "source", make=False)
        try:
            found = os.stat(name, dir_fd=source.fd, follow_symlinks=False)
        except FileNotFoundError as error:
            if task["kind"] == MOVE and moved_earlier(task, *_parent(task, "dest")):
                return None
            error.filename = source.at(name)
            raise
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise not_a_file(source.at(name))
        dest, as_name = _parent(task, "dest")
        if task["kind"] == MOVE:
            check_not_itself(source, name, dest, as_name)
            if rename(task, source, name, dest, as_name, found):
                return None
        return Hands(task, source, name, dest, as_name, found)

    def _remove(self, task: Dict[str, Any]) -> None:
        source, name = _parent(task, "source", make=False)
        remove(f"/proc/self/fd/{source.fd}/{name}")
        os.fsync(source.fd)

    def _memory(self, task: Dict[str, Any]) -> int:
        number: int = task["id"]
        handle = self._descriptor(number)
        try:
            dest, name = _parent(task, "dest")
            remove_parts(dest.fd, name, task["tags"])
            tag = new_tag()
            self._began([number], tag)
            tell = partial(self._moved, number)
            return copy_memory(handle, dest, name, tag, tell)
        finally:
            os.close(handle)

    def _is_small(self, hands: Hands) -> bool:
        is_file = stat.S_ISREG(hands.found.st_mode)
        return is_file and hands.found.st_size <= SMALL and not hands.task["tags"]

    def _alone(self, hands: Hands) -> int:
        """Do a tree, a large file, or what an earlier try has begun; bytes moved."""
        if stat.S_ISDIR(hands.found.st_mode):
            return self._tree(hands)
        remove_parts(hands.dest.fd, hands.as_name, hands.task["tags"])
        earlier = _copied_earlier(hands) if hands.task["tags"] else None
        if earlier is not None:
            return self._finish(hands, earlier)
        for landed in self._landed([hands], hands.number):
            if isinstance(landed, CopyFailed):
                raise landed
            return self._finish(hands, landed)
        raise CopyFailed(f"{hands.source.at(hands.name)}: no reason is known")

    def _together(self, all_hands: List[Hands]) -> None:
        left = {hands.number: hands for hands in all_hands}
        try:
            for hands, landed in zip_landed(self._mover(None), all_hands, self._begin):
                del left[hands.number]
                self._end(hands, landed)
        except (OSError, PegasusBBError) as error:
            for number in left:
                self._ended(number, 0, error)

    def _end(self, hands: Hands, landed: Any) -> None:
        try:
            if isinstance(landed, CopyFailed):
                raise landed
            size = self._finish(hands, landed)
        except (OSError, PegasusBBError) as error:
            self._ended(hands.number, 0, error)
        else:
            self._ended(hands.number, size, None)

    def _landed(self, all_hands: List[Hands], number: Optional[int]) -> Iterator[Any]:
        for _, landed in zip_landed(self._mover(number), all_hands, self._begin):
            yield landed

    def _mover(self, number: Optional[int]) -> Mover:
        return Mover(follow=False, tell=lambda size: self._moved(number, size))

    def _begin(self, all_hands: List[Hands], tag: str) -> None:
        self._began([hands.number for hands in all_hands], tag)

    def _tree(self, hands: Hands) -> int:
        source = hands.source.enter(hands.name)
        dest = enter_made(hands.dest, hands.as_name)
        journal = f"{hands.task['state']}/{hands.number}.jsonl"
        size = copy_tree(
            source, dest, journal, lambda more: self._moved(hands.number, more)
        )
        if hands.task["kind"] == MOVE:
            remove_copied(source, dest, journal)
            write_note(hands.task, os.fstat(dest.fd))
            os.rmdir(hands.name, dir_fd=hands.source.fd)
            os.fsync(hands.source.fd)
        return size  # the service removes the journal when the end is durable

    def _finish(self, hands: Hands, landed: Landed) -> int:
        """The copy is durable: a move removes the source, if it is still what was
        copied. Raises CopyFailed, OSError."""
        if hands.task["digest"]:
            self._outcome(hands.number, landed.as_noted())
        if hands.task["kind"] == COPY:
            return landed.size
        now = os.stat(hands.name, dir_fd=hands.source.fd, follow_symlinks=False)
        if stamp(now) != landed.source:
            raise CopyFailed(
                f"{hands.source.at(hands.name)}: it changed after it was copied, so "
                "the source stays; the copy is whole"
            )
        copy = os.stat(hands.as_name, dir_fd=hands.dest.fd, follow_symlinks=False)
        write_note(hands.task, copy)
        os.unlink(hands.name, dir_fd=hands.source.fd)
        os.fsync(hands.source.fd)
        return landed.size


def _parent(task: Dict[str, Any], side: str, make: bool = True) -> Tuple[Folder, str]:
    """The open folder of its ``source`` or ``dest``, and the name in it."""
    spaces = {name: Dataspace(name, root) for name, root in task["spaces"].items()}
    place = parse_place(task[side], spaces)
    return open_parent(spaces[place.space], place.parts, make), place.parts[-1]


def zip_landed(
    mover: Mover, all_hands: List[Hands], began: Callable[[List[Hands], str], None]
) -> Iterator[Any]:
    """(hands, Landed or CopyFailed) of each file, as it becomes durable."""
    began(all_hands, mover.tag)
    for outcome in mover.move(_items(all_hands)):
        landed: Optional[Landed] = outcome.landed
        yield outcome.item.mark, landed or outcome.failure


def _items(all_hands: List[Hands]) -> Iterator[Item]:
    for each in all_hands:
        yield item_of(each.source, each.name, each.dest, each.as_name, each.found, each)


def _copied_earlier(hands: Hands) -> Optional[Landed]:
    """The copy, if a killed try has given it its name already: same bytes there."""
    try:
        found = os.stat(hands.as_name, dir_fd=hands.dest.fd, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_size != hands.found.st_size:
            return None
        paths = (
            f"/proc/self/fd/{hands.source.fd}/{hands.name}",
            f"/proc/self/fd/{hands.dest.fd}/{hands.as_name}",
        )
        digest, other = (digest_file(path) for path in paths)
    except OSError:
        return None
    same = Landed(found.st_size, digest, stamp(found), stamp(hands.found))
    return same if digest == other else None
