"""What a testbed needs of its host; said clearly where something is missing."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Callable

from pegasus_bb.errors import UsageError
from pegasus_bb.process import ask

_PACKAGE = {"debootstrap": "debootstrap", "unshare": "util-linux"}
_PACKAGE |= {"nsenter": "util-linux", "mount": "mount", "chroot": "coreutils"}


def check_root() -> None:
    """Raises UsageError unless this is root on Linux."""
    if sys.platform != "linux":
        raise UsageError(f"a testbed needs Linux; this is {sys.platform}")
    if os.geteuid() != 0:
        raise UsageError(
            "a testbed needs root: it makes mount, process and network namespaces and "
            "a Debian root file system with its own users. Run it with sudo, or on a "
            "machine that is yours"
        )


def check_programs(
    wanted: tuple[str, ...], may_install: bool, say: Callable[[str], None]
) -> None:
    """Raises UsageError that names the packages to install; installs them if it may."""
    missing = [name for name in wanted if shutil.which(name) is None]
    if not missing:
        return
    packages = sorted({_PACKAGE[name] for name in missing})
    command = ["apt-get", "install", "--no-install-recommends", "-y", *packages]
    if not may_install:
        raise UsageError(
            f"{', '.join(missing)} not found on this host. Run `{' '.join(command)}`, "
            "or `pegasus-bb testbed up --install`, which does that"
        )
    say(f"installing on this host: {', '.join(packages)}")
    answer = ask(command, timeout=300.0)
    if answer.status != 0:  # the lists of packages are old, or there are none yet
        ask(["apt-get", "update"], timeout=300.0)
        answer = ask(command, timeout=300.0)
    still = [name for name in wanted if shutil.which(name) is None]
    if answer.status != 0 or still:
        raise UsageError(f"{' '.join(command)} failed: {answer.err.strip()[-400:]}")
