"""A task whose source and destination are open: no link can move them any more."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from pegasus_bb.runtime.stager_client.dataspace import (
    Dataspace,
    open_parent,
    parse_place,
)
from pegasus_bb.runtime.staging.items import Folder
from pegasus_bb.runtime.staging.lookalikes import folded
from pegasus_bb.stager.conversation import WorkerTask

SMALL = 8 << 20  # bytes; a larger file is moved alone


class OpenPlace(NamedTuple):
    """A name in an open folder. Methods raise OSError."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        """For messages."""
        return self.folder.at(self.name)

    @property
    def handle(self) -> str:
        """A path through the open folder."""
        return f"/proc/self/fd/{self.folder.fd}/{self.name}"

    def lstat(self) -> os.stat_result:
        """Return the status of what is there."""
        return self.folder.lstat(self.name)

    def unlink(self) -> None:
        """Remove the file that is there."""
        self.folder.unlink(self.name)


class OpenTask(NamedTuple):
    """A copy or a move."""

    task: WorkerTask
    source: OpenPlace
    dest: OpenPlace
    found: os.stat_result  # of the source

    @property
    def is_small(self) -> bool:
        """Whether it is copied together with others."""
        return stat.S_ISREG(self.found.st_mode) and self.found.st_size <= SMALL

    @property
    def dest_key(self) -> tuple[int, int, str]:
        """The same for all destinations that may be one file."""
        folder = self.dest.folder
        return folder.device, folder.inode, folded(self.dest.name)


def open_place(task: WorkerTask, side: str, *, make: bool = True) -> OpenPlace:
    """Open the folder of the ``source`` or ``dest`` of ``task``. Raises OSError."""
    spaces = {name: Dataspace(name, root) for name, root in task.spaces.items()}
    place = parse_place(getattr(task, side), spaces)
    folder = open_parent(spaces[place.space], place.parts, make=make)
    return OpenPlace(folder, place.parts[-1])
