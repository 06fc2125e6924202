"""A run's folders in the pools of a tier: made before the reservation, removed with it.

They have no identity file: their name is that of the reservation, which is unique.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.refusals import set_mode
from pegasus_bb.core.removal import remove


def make_pool_folders(folders: Sequence[str]) -> None:
    """Make ``folders``, reusing those of a killed try. Raises ReservationFailed."""
    for folder in folders:
        try:
            _make_with_parent_mode(os.path.dirname(folder))
            if not _is_ours(folder):
                os.mkdir(folder, 0o700)
        except OSError as error:
            raise ReservationFailed(
                f"{folder}: cannot be made ({error.strerror}); is the `path` of that "
                "pool right, and may you write there?"
            ) from error


def _make_with_parent_mode(folder: str) -> None:
    """Make a pool with the mode of the folder above, so that all users can use it."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    _make_with_parent_mode(above)
    try:
        os.mkdir(folder)
    except FileExistsError:
        return
    set_mode(folder, stat.S_IMODE(os.stat(above).st_mode), folder)


def check_pool_folders(folders: Sequence[str]) -> None:
    """Raises ReservationFailed if one is missing on this node, before anything is
    written."""
    for folder in folders:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ReservationFailed(
                f"{folder}, the reservation's folder in a pool of the tier, is not "
                "there; is the pool mounted here?"
            )


def remove_pool_folders(folders: Sequence[str], until: float) -> None:
    """Remove ``folders`` until ``until`` (time.monotonic). Raises ReservationFailed."""
    for folder in folders:
        try:
            if _is_ours(folder):
                remove(folder, until)
        except (OSError, TimeoutError) as error:
            raise ReservationFailed(
                f"{folder}, in a pool of the tier, could not be removed: {error}; the "
                "next delete goes on"
            ) from error


def _is_ours(folder: str) -> bool:
    """Whether ``folder`` exists and is this user's. Raises OSError."""
    try:
        status = os.lstat(folder)
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
