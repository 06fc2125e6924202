"""Where results go, which has to be there as it was when the run was planned.

A folder that is made again where its file system was mounted is hidden once that is
back, and what is in it as well.
"""

from __future__ import annotations

import os

from pegasus_bb.core.files import is_on_root, read_json
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.bbdir import BBDir

_GONE = (
    "is not any more: is its file system mounted? If the folder was removed, make it "
    "again"
)


class ResultsPlace(NamedTuple):
    """What plan.json says of it."""

    folders: list[str] = []  # noqa: RUF012 - never changed
    # Those that were on another file system than the root of the machine.
    mounted: list[str] = []  # noqa: RUF012

    @classmethod
    def of(cls, bb: BBDir) -> ResultsPlace:
        """Empty if plan.json cannot be read."""
        try:
            found = read_json(bb.file("plan.json"))["results"]
            return cls(list(found["folders"]), list(found["mounted"]))
        except (OSError, ValueError, TypeError, KeyError):
            return cls()

    def fault(self, path: str = "") -> str:
        """Why results cannot go to ``path``, or to one of the folders; empty if they
        can."""
        for folder in self.folders:
            if (not path or is_below(path, folder)) and not os.path.isdir(folder):
                return f"{folder}: was there when this was planned, and {_GONE}"
        for folder in self.mounted:
            if (not path or is_below(path, folder)) and is_on_root(folder):
                return f"{folder}: was mounted when this was planned, and is not now"
        return ""
