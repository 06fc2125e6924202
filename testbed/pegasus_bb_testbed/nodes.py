"""Compute nodes: the testbed's host itself, or several, each with a disk of its own.

/nodes/NAME/disk    its disk, as the submit host names it
/nvme               the same in the mount namespace of the node's daemons, and its jobs
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import is_below
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import MIB
from pegasus_bb_testbed.holder import HOST
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call, call_at_new_root, mounted_inside

DISK = "/nvme"  # of a node, as its jobs see it
GRES = "nvme"  # how a job asks for it, in MB
GRANTED = 60  # MB of a disk
_CPUS = 2
_MEMORY = 2048  # MiB of each of several nodes
_PORT = 6830  # of the first of several
_SIZE = 64 * MIB
_PATIENCE = 30.0  # seconds
TMP_OF_JOBS = ".jobs"  # on it: Slurm has the /tmp of each job there
_PRIVATE = ("/tmp", "/var/tmp")  # noqa: S108
_JOBS = "condor"  # on it, where HTCondor starts jobs
ON_A_NODE = "/usr/local/sbin/on-a-node"
AS_A_NODE = "/usr/local/sbin/as-a-node"  # starts a program that sees what nodes see
_PROGRAM = f"""#!/bin/sh
# on-a-node NAME PROGRAM ARG...: with the host name and the disk of that node alone
exec unshare --mount --propagation unchanged --uts sh -c '
  echo "$0" > /proc/sys/kernel/hostname &&
  mount --bind "/nodes/$0/disk" {DISK} &&
  mount -t tmpfs -o size=4k none /nodes && exec "$@"' "$@"
"""
_NODE = re.compile(r"^NodeName=(\S+)", re.MULTILINE)


def described(count: int) -> list[dict[str, Any]]:
    """What slurm.conf says of each node, where there are several."""
    return [
        {"name": f"node{number}", "port": _PORT + number, "cpus": _CPUS}
        | {"memory": _MEMORY, "gres": f"{GRES}:{GRANTED}"}
        for number in range(1, count + 1)
    ]


def names(home: Home) -> list[str]:
    """Of the nodes, as slurm.conf has them."""
    return _NODE.findall((home.root / "etc/slurm/slurm.conf").read_text())


def start(home: Home) -> None:
    """Start the slurmd of each node that has none. Raises PegasusBBError."""
    make_disks(home)
    _write_private_folders(home)
    late = missing(home)
    for number, name in enumerate(names(home)):
        if name not in late:
            continue
        argv = ["/usr/sbin/slurmd"]
        if name == HOST:
            answer = call(home, argv)
        else:
            argv = [*_on_one_cpu(number), ON_A_NODE, name, AS_A_NODE, *argv]
            answer = call_at_new_root(home, argv)
        if answer.status != 0:
            raise PegasusBBError(f"in the testbed, {' '.join(argv)}: {answer.err}")
    until = time.monotonic() + _PATIENCE  # a slurmd notes its number after its start
    while late := missing(home):
        if time.monotonic() > until:
            raise PegasusBBError(f"in the testbed, no slurmd runs for {late}")
        time.sleep(0.1)


def _write_private_folders(home: Home) -> None:
    """What each job has to itself: /tmp and /var/tmp, unless something of the host is
    seen there, which would be hidden."""
    root = str(home.root)
    shown = [path.removeprefix(root) for path in mounted_inside(home, home.root)]
    free = [x for x in _PRIVATE if not any(is_below(p, x) and p != x for p in shown)]
    folders = ",".join(free or ["/dev/shm"])  # noqa: S108 - it is private in any case
    text = f"AutoBasePath=true\nBasePath={DISK}/{TMP_OF_JOBS}\nDirs={folders}\n"
    (home.root / "etc/slurm/job_container.conf").write_text(text)


def _on_one_cpu(number: int) -> list[str]:
    """Linux 6.18 numbers namespaces for each processor. Slurm keeps that of a job by a
    mount, which Linux refuses where the namespace is older than slurmd's."""
    known = sorted(os.sched_getaffinity(0))
    return ["taskset", "--cpu-list", str(known[number % len(known)])]


def missing(home: Home) -> list[str]:
    """The nodes whose slurmd does not run."""
    lives = {
        name: call(home, ["pgrep", "-F", f"/run/slurmd.{name}.pid", "-x", "slurmd"])
        for name in names(home)
    }
    return [name for name, answer in lives.items() if answer.status != 0]


def install(home: Home) -> None:
    program = home.root / ON_A_NODE.lstrip("/")
    program.write_text(_PROGRAM)
    program.chmod(0o755)
    (home.root / DISK.lstrip("/")).mkdir(exist_ok=True)


def disk_of(home: Home, name: str) -> Path:
    """Where the disk of that node is among the mounts of the testbed."""
    return Path("/nodes", name, "disk")


def make_disks(home: Home) -> None:
    """Of several nodes; those that are there stay. Raises PegasusBBError."""
    for name in names(home):
        if name != HOST:
            _make_disk(home, name)


def _make_disk(home: Home, name: str) -> None:
    """A file system of its own on a loop device; in memory if the host has none.

    A disk that is there already stays as it is. Raises PegasusBBError.
    """
    disk = str(disk_of(home, name))
    folder = home.root / disk.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    if call(home, ["mountpoint", "-q", disk]).status == 0:
        return
    image = folder.parent / "image"
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        os.truncate(file.fileno(), _SIZE)
    options = ["-q", "-m0", "-O^has_journal"]
    made = ask(["mkfs.ext4", *options, str(image)]).status == 0
    loop = ["mount", "-o", "loop", f"/nodes/{name}/image", disk]
    if not made or call(home, loop).status != 0:
        memory = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "none", disk]
        answer = call(home, memory)
        if answer.status != 0:
            raise PegasusBBError(f"in the testbed, no disk of {name}: {answer.err}")
    call(home, ["chmod", "1777", disk])
    if home.flavour.htcondor:
        call(home, ["install", "-d", "-o", "condor", "-g", "condor", f"{disk}/{_JOBS}"])
