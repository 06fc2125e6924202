"""The rights of a site's service that is not root's: Linux capabilities.

It has them as ambient ones, so that the processes of workers begin with them, too. A
worker becomes root's number for a moment: the kernel takes all capabilities from who
leaves that number (capabilities(7)), and from no one else who changes his. What it
leaves, as the inheritable ones, the worker gives up itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pwd

from pegasus_bb.core.errors import UsageError

NEEDED = {  # name -> number in linux/capability.h
    "CAP_CHOWN": 0,  # gives folders to users
    "CAP_DAC_OVERRIDE": 1,  # removes what is in them
    "CAP_FOWNER": 3,  # shares them
    "CAP_KILL": 5,  # ends workers
    "CAP_SETGID": 6,
    "CAP_SETUID": 7,
}


_NO_GROUP = 65534  # nogroup
_LATER = [
    "hashlib",
    "resource",
    "ctypes",
    "tempfile",
    "pegasus_bb.runtime.staging.hashing",
    "pegasus_bb.runtime.staging.helper",
]

_VERSION_3 = 0x20080522  # of capset(2): _LINUX_CAPABILITY_VERSION_3


def check_site() -> None:
    """Raises UsageError where this process cannot serve all users."""
    ambient = held(b"CapAmb")
    missing = [name for name, bit in NEEDED.items() if not ambient >> bit & 1]
    if os.getuid() != 0 and missing:
        raise UsageError(
            f"user {os.getuid()} cannot serve a site: it lacks the ambient "
            f"capabilities {' '.join(missing)}; start the service as root, or write "
            f"User= and AmbientCapabilities={' '.join(NEEDED)} into its unit"
        )


def held(*sets: bytes) -> int:
    """The capabilities of this process that are in one of ``sets``, as bits. Imports
    nothing: a worker's user may not read our Python. Raises OSError."""
    found = 0
    with open("/proc/self/status", "rb") as status:
        for line in status:
            name, _, value = line.partition(b":")
            if name in sets:
                found |= int(value, 16)
    return found


def drop() -> None:
    """Give up all, also those that only a program with file capabilities would get.
    Raises OSError."""
    import ctypes  # a user's own service needs none of it

    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)  # 0: this process
    none = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


def check_powerless() -> None:
    """Raises PermissionError where this process has kept a capability."""
    if held(b"CapPrm", b"CapEff", b"CapAmb", b"CapInh"):
        raise PermissionError("a worker has kept capabilities of the service")


def become(uid: int) -> None:
    """From now on have the rights of ``uid`` only, and no capability. Raises OSError.

    Everything that is imported later elsewhere is imported first: the user may not be
    let read the Python of root.
    """
    if os.getuid() == uid and not held(b"CapAmb"):
        return
    for name in _LATER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    os.setuid(0)  # who leaves root's number loses all capabilities
    try:
        user = pwd.getpwuid(uid)
        os.initgroups(user.pw_name, user.pw_gid)
        os.setgid(user.pw_gid)
    except KeyError:  # a number without a name has no groups
        os.setgroups([])
        os.setgid(_NO_GROUP)
    os.setuid(uid)
    if uid != 0:
        drop()
        check_powerless()
