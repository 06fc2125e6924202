"""up, down, run and status of a testbed, for the command and for tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.process import ask, start
from pegasus_bb_testbed import namespace, rootfs, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.sharing import (
    Installed,
    forget_pegasus,
    share_ourselves,
    share_pegasus,
)

_ALWAYS = ("unshare", "nsenter", "mount", "chroot")
_PACKAGE = {"debootstrap": "debootstrap", "unshare": "util-linux"}
_PACKAGE |= {"nsenter": "util-linux", "mount": "mount", "chroot": "coreutils"}

_SLURM = {
    "Slurm": ["scontrol", "--version"],
    "nodes": ["sinfo", "-h", "-o%P %D %t"],
    "burst buffer": ["scontrol", "show", "burst"],
    "Slurm jobs": ["squeue", "-h", "-o%i %u %T %r %j"],
}
_HTCONDOR = {"HTCondor": ["condor_q", "-allusers", "-totals"]}


class Status(NamedTuple):
    folder: Path
    built: bool
    holder: int | None  # process id on the host, while it is up
    processes: int
    answers: dict[str, str]  # of Slurm and HTCondor, in their own words
    dead: Sequence[str] = ()  # daemons that have ended


def up(
    home: Home,
    say: Callable[[str], None],
    *,
    install: bool = False,
    pool_size: int = 40 << 30,
    node_count: int = 1,
    shares: Sequence[Path] = (),
    pegasus: Installed | None = None,
    life: int = -1,
) -> bool:
    """Bring the site up; built first where it is not. False where it was up already:
    then daemons that have ended are started, and ``pegasus`` is shown in it.

    ``life``: the end of a pipe; the site goes down when the other end is closed.
    Raises UsageError where the host lacks something; PegasusBBError where it fails,
    with nothing left running.
    """
    check_root()
    with home.locked():
        if namespace.is_half(home):
            say("an `up` that was killed left half a site, which is taken down")
            namespace.release(home)
        if namespace.holder_of(home) is not None:
            for name in site.dead_daemons(home):
                say(f"{name} has ended; it is started again")
                site.restart(home, name)
            if pegasus is not None:
                share_pegasus(home, pegasus)
            return False
        check_host(home, install=install, say=say)
        namespace.check_namespaces()
        if not rootfs.is_whole(home):
            rootfs.build(home, say)
        home.work.mkdir(exist_ok=True)
        home.work.chmod(0o1777)
        site.configure(home, pool_size, node_count)
        forget_pegasus(home)
        try:
            namespace.hold(home, [home.work, *shares], life)
            share_ourselves(home)
            if pegasus is not None:
                share_pegasus(home, pegasus)
            site.start_daemons(home, say)
            namespace.note_whole(home)
        except BaseException:
            namespace.release(home)
            raise
    return True


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


def check_host(home: Home, *, install: bool, say: Callable[[str], None]) -> None:
    """Raises UsageError where programs are missing that `up` needs, now or to build."""
    has_root = rootfs.is_whole(home) or rootfs.twin_of(home)
    build = () if has_root else ("debootstrap",)
    with ExitStack() as until_installed:
        if install:  # of sites that are built at once, one installs
            home.folder.parent.mkdir(parents=True, exist_ok=True)
            path = home.folder.parent / "install.lock"
            lock = until_installed.enter_context(path.open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        check_programs((*_ALWAYS, *build), may_install=install, say=say)


def check_programs(
    wanted: tuple[str, ...], *, may_install: bool, say: Callable[[str], None]
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


def down(home: Home) -> bool:
    """End every process inside; its mounts go with them. False where none was up."""
    check_root()
    with home.locked():
        was_up = namespace.holder_of(home) is not None
        namespace.release(home)
    return was_up


def run(
    home: Home, argv: Sequence[str], user: str = "wfuser", folder: Path | None = None
) -> int:
    check_root()
    if user != "root" and user not in site.USERS:
        raise UsageError(f"no user {user!r} inside; there are {', '.join(site.USERS)}")
    words = namespace.inside(home, argv, user, str(folder or home.work))
    return start(words, stdin=None).wait()


def status(home: Home) -> Status:
    check_root()
    holder = namespace.holder_of(home)
    answers = {}
    dead = []
    if holder is not None:
        dead = site.dead_daemons(home)
        questions = _SLURM | (_HTCONDOR if home.flavour.htcondor else {})
        for name, argv in questions.items():
            answer = namespace.call(home, argv)
            answers[name] = (answer.out if answer.status == 0 else answer.err).strip()
    inside = len(namespace.processes(holder)) if holder is not None else 0
    return Status(home.folder, rootfs.is_whole(home), holder, inside, answers, dead)
