"""One root error, a leaf per decision that a caller makes, and the exit codes.

The table for people is docs/exit-codes.md; a test holds the two together.
"""

from __future__ import annotations

import errno

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE = 0
BUG = 1
USAGE = 2
NOT_YET = 75
RESERVATION_FAILED = 76
DEADLINE_PASSED = 77
SCHEDULER_UNREACHABLE = 78
DATA_NOT_SAFE = 79
RUN_FAILED = 80
NOT_COPIED = 81
NOT_MEASURED = 82
INTERRUPTED = 130


# What to do about an error that a person mends, and no change of ours.
_ADVICE = {
    errno.EACCES: "get the right to write there",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
    errno.EIO: "look after the file system",
    errno.EISDIR: "move that folder away; a file belongs in its place",
    errno.ELOOP: "mend the symbolic links of that path",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENAMETOOLONG: "take a shorter path",
    errno.ENFILE: "let others close files",
    errno.ENOSPC: "free some space",
    errno.ENOTDIR: "move the file away that stands for a folder of that path",
    errno.EPERM: "get the right to write there",
    errno.EROFS: "make it writable",
    errno.ESTALE: "look after the file system",
}


def advice_on(error: OSError, otherwise: str = "") -> str:
    """What to do about ``error``, by its number alone: a disk that fails needs no
    room."""
    return _ADVICE.get(error.errno or 0, otherwise)


class PegasusBBError(Exception):
    """Root of everything that this package raises on purpose.

    The text is for a person: what was found, where, and the fix.
    """

    exit_code = BUG


class UsageError(PegasusBBError):
    """The command line or a catalog is wrong; nothing was left behind."""

    exit_code = USAGE


class SeveralObstacles(UsageError):
    """Several mistakes, in the order in which to mend them."""

    def __init__(self, errors: Sequence[UsageError]) -> None:
        lines = [f"{len(errors)} obstacles, in the order in which to mend them"]
        for number, error in enumerate(errors, 1):
            first, *more = str(error).splitlines()
            lines.append(f"{number}. {first}")
            lines += [f"   {line}" for line in more]
        super().__init__("\n".join(lines))
        self.errors = tuple(errors)


class NothingToRun(UsageError):
    """pegasus-plan leaves out every job, so nothing would use a reservation."""


class NotSealed(UsageError):
    """An executable DAG breaks a rule of the seal, so it is not submitted."""


class ReservationNotReady(PegasusBBError):
    """Not yet: ask again later (DAGMan's DEFER does)."""

    exit_code = NOT_YET


class ReservationFailed(PegasusBBError):
    """Refused, held, gone or of another user: waiting will not help."""

    exit_code = RESERVATION_FAILED


class DeadlinePassed(PegasusBBError):
    """The reservation did not come up in the time that the user allowed."""

    exit_code = DEADLINE_PASSED


class SchedulerUnreachable(PegasusBBError):
    """No answer. Says nothing about the reservation: neither gone nor ready."""

    exit_code = SCHEDULER_UNREACHABLE


class DataNotSafe(PegasusBBError):
    """Giving the reservation back now would lose data; it was kept."""

    exit_code = DATA_NOT_SAFE


class RunFailed(PegasusBBError):
    """A node of the workflow failed; a rescue file says where to go on."""

    exit_code = RUN_FAILED


class RunInterrupted(RunFailed):
    """Ctrl-C or SIGTERM: everything was stopped and noted; run again goes on."""

    exit_code = INTERRUPTED


class NotMeasured(PegasusBBError):
    """A process of a benchmark failed, so that there is no figure of its tier."""

    exit_code = NOT_MEASURED


class UnplacedError(UsageError):
    """A mistake in a value whose place the caller knows: it makes a CatalogError of
    this. ``at`` has the keys from the caller's entry to the value."""

    def __init__(
        self,
        what: str,
        at: Sequence[str | int] = (),
        found: str = "",
        would_do: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.at = at
        self.found = found
        self.would_do = would_do


class CatalogError(UsageError):
    """A mistake in a file of the user's: file, line, key, found, fix. Code that does
    not know the file raises an UnplacedError."""

    def __init__(
        self,
        what: str,
        file: str,
        line: int = 0,
        *,
        key: str = "",
        found: str = "",
        would_do: str = "",
    ) -> None:
        place = f"{file}:{line}" if line else file
        lines = [f"{place}: {what}"]
        if key:
            lines.append(f"  key:      {key}")
        if found:
            lines.append(f"  found:    {found}")
        if would_do:
            lines.append(f"  fix:      {would_do}")
        super().__init__("\n".join(lines))
        self.file = file
        self.line = line
        self.key = key
        self.found = found
        self.would_do = would_do
