"""Where results go, which has to be there as it was when the run was planned.

A folder that is made again where its file system was mounted is hidden once that is
back, and what is in it as well.
"""

from __future__ import annotations

from pegasus_bb.core.files import UNREADABLE, is_on_root, read_json
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.staging.failures import missing_since


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
        except UNREADABLE:
            return cls()

    def fault(self, path: str = "") -> str:
        """Why results cannot go to ``path``, or to one of the folders; empty if they
        can."""
        for folder in _above(path, self.folders):
            fault = missing_since(folder, "when this was planned")
            if fault:
                return fault
        for folder in _above(path, self.mounted):
            if is_on_root(folder):
                return f"{folder}: was mounted when this was planned, and is not now"
        return ""


def _above(path: str, folders: list[str]) -> list[str]:
    """Those that ``path`` is below; all of them without a path."""
    return [folder for folder in folders if not path or is_below(path, folder)]
