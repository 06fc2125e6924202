"""Slurm with burst_buffer/lua inside a testbed: our hooks, and the staging service."""

from __future__ import annotations

import json
import shutil
import signal as signals
import time
from pathlib import Path
from typing import Any

import pegasus_bb
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.process import start
from pegasus_bb.core.units import MIB
from pegasus_bb_testbed.holder import HOST
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call, inside

SPOOL = "/var/spool/pegasus-bb"
STATE = "/var/lib/pegasus-bb/stager"
BB = "/bb"
POOL = "flash"
LOG = "var/log/stager.log"
NODE_STATE = "/var/lib/pegasus-bb/node"
NVME = "/local/nvme/pegasus-bb"
MAILBOX = "/var/lib/pegasus-bb/mailbox"
NODE_LOG = "var/log/stager-node.log"
_CONFIG = "etc/pegasus-bb/stager.json"
_NODE_CONFIG = "etc/pegasus-bb/node.json"
HOOKS = "etc/slurm/burst_buffer.lua"
_INSTALL = (
    "import sys; from pegasus_bb.stager.slurm.install_hooks import install; "
    "install('/etc/slurm', sys.argv[1])"
)
SITE_SERVICE = "staging service"
NODE_SERVICE = "staging service of the node"
SERVICES = {  # of command lines
    SITE_SERVICE: "pegasus_bb.stager --site",
    NODE_SERVICE: "pegasus_bb.stager --node",
}
PATTERN = "pegasus_bb.stager "  # of command lines: the service and its workers
_running: list[Any] = []  # what this process has started


def configure(home: Home, pool_size: int) -> None:
    """The services' settings, and an empty pool of that many bytes."""
    forget(home)
    pool = {"path": BB, "capacity": pool_size, "granularity": MIB}
    spaces = {"work": {"path": str(home.work)}, "home": {"path": "/home"}}
    places = {"path": NVME, "mailbox": MAILBOX}
    slurm = {"user": "slurm", "spool": SPOOL, "pools": {POOL: pool}}
    nodes = {**places, "timeout": "40s"}  # OtherTimeout is 60 s here
    config = {"dataspaces": spaces, "state": STATE, "slurm": {**slurm, "nodes": nodes}}
    node = {
        "dataspaces": {**spaces, POOL: {"path": BB}},
        "state": NODE_STATE,
        "sockets": "/run/pegasus-bb-node",
        "node": {**places, "name": HOST},
    }
    for name, data in ((_CONFIG, config), (_NODE_CONFIG, node)):
        path = home.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1))


def install_hooks(home: Home) -> None:
    """Our hooks in the folder of slurm.conf, as an administrator puts them there, and
    nothing of earlier times beside them. slurmctld must not run. Raises
    PegasusBBError."""
    for name in (HOOKS, f"{HOOKS}.before"):
        (home.root / name).unlink(missing_ok=True)
    answer = call(home, _python("-c", _INSTALL, SPOOL))
    if answer.status != 0:
        raise PegasusBBError(f"in the testbed, site install fails: {answer.err}")


def _python(*words: str) -> list[str]:
    """The testbed's own Python with this package, as a site has it without pip."""
    package = str(Path(pegasus_bb.__file__).resolve().parents[1])
    return ["env", f"PYTHONPATH={package}", "/usr/bin/python3", *words]


def forget(home: Home) -> None:
    """No job and no buffer of earlier times is known, and the storage is empty. The
    service must not run."""
    for name in (SPOOL, STATE, BB, NODE_STATE, MAILBOX, NVME):
        shutil.rmtree(home.root / name.lstrip("/"), ignore_errors=True)
    for name in (BB, NVME):
        (home.root / name.lstrip("/")).mkdir(mode=0o755, parents=True)


def start_service(home: Home) -> None:
    """Run the services of Slurm's host and of its node as root; back when they answer.
    Raises PegasusBBError."""
    _start_site(home)
    start_node(home)


def restart(home: Home, service: str) -> None:
    """Start a service that has ended. Raises PegasusBBError."""
    if service == NODE_SERVICE:
        kill_node(home)
        start_node(home)
    else:
        _kill(home, "KILL", SERVICES[SITE_SERVICE], f"{SPOOL}/alive")
        _start_site(home)


def _start_site(home: Home) -> None:
    _start(home, "--site", _CONFIG, f"{SPOOL}/alive", LOG)


def start_node(home: Home) -> None:
    """Run the node's alone. Raises PegasusBBError."""
    _start(home, "--node", _NODE_CONFIG, f"{MAILBOX}/{HOST}/alive", NODE_LOG)


def _start(home: Home, life: str, config: str, alive: str, log_name: str) -> None:
    serve = ["-m", "pegasus_bb.stager", life, f"/{config}"]
    argv = inside(home, _python(*serve))
    with (home.root / log_name).open("ab") as log:
        _running.append(
            start(argv, stdout=log.fileno(), stderr=log.fileno(), new_session=True)
        )
    until = time.monotonic() + 30
    while not (home.root / alive.lstrip("/")).exists():
        if time.monotonic() > until or _running[-1].poll() is not None:
            said = (home.root / log_name).read_text()[-600:]
            raise PegasusBBError(f"the staging service does not start: {said}")
        time.sleep(0.05)


def wake() -> None:
    """Go on with what stopped when the services were: nsenter stops with its child, and
    a namespace ends only when nsenter has heard that the child has ended."""
    for process in _running:
        if process.poll() is None:
            process.send_signal(signals.SIGCONT)


def kill_service(home: Home, signal: str = "KILL") -> None:
    """End both services and their workers; back when they have ended."""
    _kill(home, signal, PATTERN, f"{SPOOL}/alive", f"{MAILBOX}/{HOST}/alive")


def kill_node(home: Home, signal: str = "KILL") -> None:
    """End the node's service alone; back when it has ended."""
    _kill(home, signal, SERVICES[NODE_SERVICE], f"{MAILBOX}/{HOST}/alive")


def _kill(home: Home, signal: str, pattern: str, *alive: str) -> None:
    call(home, ["pkill", f"-{signal}", "-f", pattern])
    until = time.monotonic() + 30
    while call(home, ["pgrep", "-f", pattern]).status == 0:
        if time.monotonic() > until:
            raise PegasusBBError("the staging service does not end")
        time.sleep(0.05)
    for name in alive:
        (home.root / name.lstrip("/")).unlink(missing_ok=True)
