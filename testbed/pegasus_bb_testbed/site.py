"""The site inside: its users, its settings, its daemons."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import write_text
from pegasus_bb.core.units import MIB
from pegasus_bb_testbed import blahp, lua, nodes
from pegasus_bb_testbed.datawarp.install import install
from pegasus_bb_testbed.datawarp.place import Place, Pool
from pegasus_bb_testbed.holder import HOST, MOUNTS
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call
from pegasus_bb_testbed.nodes import AS_A_NODE

USERS = {"wfuser": 1000, "other": 1001}
DATAWARP = Path("/opt/dw")  # inside
POOL = "wlm_pool"
_MEMORY = _DISK = 1 << 20  # MiB of the node: Slurm counts them, nothing limits them
_SLURM_CONF = "etc/slurm/slurm.conf"
_STARTD = "/usr/local/sbin/startd-of-a-node"  # condor.conf.j2 names it
_HIDDEN = (
    "unshare --mount --propagation unchanged sh -c "
    """'mount -t tmpfs -o size=4k none "$0" && exec "$@"'"""
)
_SLURM_FILES = {
    "slurm.conf.j2": _SLURM_CONF,
    "burst_buffer.conf.j2": "etc/slurm/burst_buffer.conf",
    "cgroup.conf.j2": "etc/slurm/cgroup.conf",
    "gres.conf.j2": "etc/slurm/gres.conf",
    "hosts.j2": "etc/hosts",
}
_CONDOR_FILES = {
    "condor.conf.j2": "etc/condor/config.d/50-testbed.config",
}
# What daemons leave behind: a testbed that comes up knows no job of the last one.
_STATE = ("var/spool/slurmctld", "var/spool/slurmd", "var/log/slurm")
_CONDOR_STATE = ("var/spool/condor", "var/lib/condor/execute", "var/log/condor")


def configure(home: Home, pool_size: int, node_count: int = 1) -> None:
    """Write every setting afresh, with an empty burst buffer of that many bytes."""
    for name in (*_STATE, *_CONDOR_STATE):
        shutil.rmtree(home.root / name, ignore_errors=True)
    for name in _STATE:
        (home.root / name).mkdir(parents=True)
    write_settings(home, node_count)
    if home.flavour.plugin == "lua":
        lua.configure(home, pool_size)
    else:
        empty_datawarp(home, pool_size)


def write_settings(home: Home, node_count: int) -> None:
    """Those of Slurm and HTCondor, with so many nodes of Slurm. No daemon is told."""
    templates = Environment(  # noqa: S701 - configuration files, not HTML
        loader=PackageLoader("pegasus_bb_testbed"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    facts = {
        "host": HOST,
        "cpus": os.cpu_count(),
        "pool": POOL,
        "datawarp": DATAWARP,
        "memory": _MEMORY,
        "disk": _DISK,
        "slurm": float(home.flavour.slurm),
        "plugin": home.flavour.plugin,
        "nodes": nodes.described(node_count) if node_count > 1 else [],
    }
    files = _SLURM_FILES | (_CONDOR_FILES if home.flavour.htcondor else {})
    for name, place in files.items():
        text = templates.get_template(name).render(facts)
        (home.root / place).parent.mkdir(parents=True, exist_ok=True)
        (home.root / place).write_text(text)
    nodes.install(home)
    _write_node_programs(home)
    if home.flavour.htcondor:
        slurm_conf = (home.root / _SLURM_CONF).read_text()
        blahp.configure(home.root, _with_patience(slurm_conf, 60))


def _write_node_programs(home: Home) -> None:
    """The startd sees nothing below the folder ``unseen``, nor do the jobs of the
    pool, nor those of several nodes of Slurm."""
    home.unseen.mkdir(parents=True, exist_ok=True)
    home.unseen.chmod(0o1777)
    for name, text in (
        (
            AS_A_NODE,
            f'#!/bin/sh\nexec {_HIDDEN} {shlex.quote(str(home.unseen))} "$@"\n',
        ),
        (
            _STARTD,
            f'#!/bin/sh\nexec $ON_A_NODE {AS_A_NODE} /usr/sbin/condor_startd "$@"\n',
        ),
    ):
        program = _inside(home, Path(name))
        program.write_text(text)
        program.chmod(0o755)


def empty_datawarp(home: Home, pool_size: int) -> Place:
    shutil.rmtree(_inside(home, DATAWARP), ignore_errors=True)
    pools = [Pool(POOL, MIB, pool_size // MIB)]
    return install(
        _inside(home, DATAWARP), pools, seen_as=DATAWARP, mounts=MOUNTS, bind=True
    )


def datawarp(home: Home) -> Place:
    return Place(_inside(home, DATAWARP))


def start_daemons(home: Home, say: Callable[[str], None]) -> None:
    """Users, munge, Slurm, HTCondor; back when a node is idle and a schedd answers."""
    for name, uid in USERS.items():
        if call(home, ["id", name]).status != 0:
            must(home, ["useradd", "-m", f"-u{uid}", "-s/bin/bash", "-U", name])
    _start_munge(home)
    if home.flavour.plugin == "lua":
        must(home, ["chown", "-R", "slurm", *(f"/{name}" for name in _STATE)])
        lua.install_hooks(home)
        lua.start_service(home)
    say("waiting for the daemons")
    nodes.make_disks(home)
    if home.flavour.htcondor:
        _start_condor(home)
    start_controller(home)
    if home.flavour.htcondor:
        _await(home, ["condor_status", "-schedd", "-af", "Name"], HOST)


def daemons(home: Home) -> dict[str, list[str]]:
    """The daemons of the site, in the order of their start, and what pgrep knows them
    by."""
    found = {name: ["-x", name] for name in ("munged", "slurmctld", "slurmd")}
    if home.flavour.plugin == "lua":
        found |= {name: ["-f", pattern] for name, pattern in lua.SERVICES.items()}
    if home.flavour.htcondor:
        found["condor_master"] = ["-x", "condor_master"]
    return found


def dead_daemons(home: Home) -> list[str]:
    """The daemons of the site that do not run."""
    dead = [
        name
        for name, words in daemons(home).items()
        if call(home, ["pgrep", *words]).status != 0
    ]
    if "slurmd" not in dead and nodes.missing(home):  # of some nodes
        dead.append("slurmd")
    return dead


def restart(home: Home, daemon: str) -> None:
    """Start ``daemon``, which has ended. Raises PegasusBBError."""
    if daemon == "munged":
        _start_munge(home)
    elif daemon == "slurmctld":
        start_controller(home)
    elif daemon == "condor_master":
        _start_condor(home)
    elif daemon == "slurmd":
        nodes.start(home)
    else:
        lua.restart(home, daemon)


def start_controller(home: Home) -> None:
    """Start slurmctld; back when its nodes are idle and its burst buffer is known.

    slurmd, too, where it has ended: its node would stay unknown for ever.
    """
    _be_patient(home, 30)  # seconds; a busy machine may need them
    must(home, ["/usr/sbin/slurmctld"])
    nodes.start(home)
    for name in nodes.names(home):
        _await(home, ["sinfo", "-h", "-n", name, "-o%t"], "idle", "mix", "alloc")
    pool = lua.POOL if home.flavour.plugin == "lua" else POOL
    _await(home, ["scontrol", "show", "burst"], pool)


def stop_controller(home: Home) -> None:
    """Stop slurmctld; jobs that run go on. Back when it has ended.

    Until it is started again the commands of Slurm say soon that it is away.
    """
    call(home, ["pkill", "-x", "slurmctld"])
    await_end(home, "slurmctld")
    _be_patient(home, 2)


def _be_patient(home: Home, seconds: int) -> None:
    """Slurm's commands wait so many seconds for slurmctld to answer."""
    conf = home.root / _SLURM_CONF
    write_text(str(conf), _with_patience(conf.read_text(), seconds))


def _with_patience(text: str, seconds: int) -> str:
    return re.sub(r"(?m)^MessageTimeout=\d+$", f"MessageTimeout={seconds}", text)


def await_end(home: Home, daemon: str) -> None:
    until = time.monotonic() + 30
    while call(home, ["pgrep", "-x", daemon]).status == 0:
        if time.monotonic() > until:
            raise PegasusBBError(f"{daemon} in the testbed does not end")
        time.sleep(0.1)


def forget_jobs(home: Home, pool_size: int) -> None:
    """As after `up`: no job, no buffer, a burst buffer of that many bytes. For tests.

    HTCondor and its jobs are left alone.
    """
    running = call(home, ["squeue", "-h", "-o%A"]).out.split()
    if running:
        call(home, ["scancel", *running])
    # Nothing is kept, slurmd neither: job numbers begin anew, and it refuses one that
    # still runs.
    for daemon in ("slurmctld", "slurmd", "slurmstepd"):
        call(home, ["pkill", "-KILL", "-x", daemon])
        await_end(home, daemon)
    # What it had begun would write to the DataWarp that comes next.
    call(home, ["pkill", "-KILL", "-f", f"{DATAWARP}/bin/dw_wlm_cli"])
    if home.flavour.plugin == "lua":
        lua.kill_service(home)
    for name in ("var/spool/slurmctld", "var/spool/slurmd"):
        shutil.rmtree(home.root / name, ignore_errors=True)
        (home.root / name).mkdir(exist_ok=True)
    if home.flavour.plugin == "lua":
        must(home, ["chown", "slurm", "/var/spool/slurmctld"])
        lua.configure(home, pool_size)
        lua.install_hooks(home)
        lua.start_service(home)
    else:
        empty_datawarp(home, pool_size)
    start_controller(home)


def _start_munge(home: Home) -> None:
    owner = ["install", "-d", "-o", "munge", "-g", "munge"]
    for folder, mode in (
        ("/run/munge", "0755"),
        ("/var/log/munge", "0700"),
        ("/var/lib/munge", "0700"),
        ("/etc/munge", "0700"),
    ):
        must(home, [*owner, "-m", mode, folder])
    as_munge = ["setpriv", "--reuid=munge", "--regid=munge", "--init-groups"]
    if not (home.root / "etc/munge/munge.key").exists():
        must(home, [*as_munge, "mungekey", "-f"])
    must(home, [*as_munge, "/usr/sbin/munged", "--force"])


def _start_condor(home: Home) -> None:
    owner = ["install", "-d", "-o", "condor", "-g", "condor", "-m", "0755"]
    for folder in (*(f"/{name}" for name in _CONDOR_STATE), "/run/condor"):
        must(home, [*owner, folder])
    must(home, ["install", "-d", "-m", "1777", "/run/lock/condor"])
    must(home, ["/usr/sbin/condor_master"])


def must(home: Home, argv: Sequence[str]) -> None:
    """Run ``argv`` inside as root. Raises PegasusBBError where it fails."""
    answer = call(home, argv)
    if answer.status != 0:
        said = (answer.err or answer.out).strip()
        raise PegasusBBError(f"in the testbed, {' '.join(argv)} failed: {said}")


def _await(home: Home, argv: Sequence[str], *wanted: str) -> None:
    """Ask until one of ``wanted`` is said. Raises PegasusBBError after a minute."""
    until = time.monotonic() + 60
    while True:
        answer = call(home, argv)
        if any(word in answer.out for word in wanted):
            return
        if time.monotonic() > until:
            said = (answer.err or answer.out).strip()
            raise PegasusBBError(
                f"in the testbed, {' '.join(argv)} does not say {wanted[0]!r} but "
                f"{said!r}; logs are in {home.root}/var/log"
            )
        time.sleep(0.2)


def _inside(home: Home, path: Path) -> Path:
    return home.root / path.relative_to("/")
