"""Slurm with burst_buffer/lua inside a testbed: our hooks, and the staging service."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pegasus_bb
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.process import start
from pegasus_bb.service.slurm.hooks import hooks_text
from pegasus_bb.testbed.home import Home
from pegasus_bb.testbed.namespace import call, inside
from pegasus_bb.units import MIB

SPOOL, STATE, BB = "/var/spool/pegasus-bb", "/var/lib/pegasus-bb/stager", "/bb"
POOL = "flash"
LOG = "var/log/stager.log"
_CONFIG = "etc/pegasus-bb/stager.json"
_SERVE = ["/usr/bin/python3", "-m", "pegasus_bb.service", "--site", f"/{_CONFIG}"]
_PATTERN = "pegasus_bb.service "  # of command lines: the service and its workers
_running: list[Any] = []  # what this process has started


def configure(home: Home, pool_size: int) -> None:
    """Our hooks in the folder of slurm.conf, and an empty pool of that many bytes."""
    forget(home)
    pool = {"path": BB, "capacity": pool_size, "granularity": MIB}
    config = {
        "dataspaces": {"work": {"path": str(home.work)}, "home": {"path": "/home"}},
        "state": STATE,
        "slurm": {"user": "slurm", "spool": SPOOL, "pools": {POOL: pool}},
    }
    path = home.root / _CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=1))
    (home.root / "etc/slurm/burst_buffer.lua").write_text(hooks_text(SPOOL))


def forget(home: Home) -> None:
    """No job and no buffer of earlier times is known. The service must not run."""
    for name in (SPOOL, STATE, BB):
        shutil.rmtree(home.root / name.lstrip("/"), ignore_errors=True)


def start_service(home: Home) -> None:
    """Run the service as root; back when it answers. Raises PegasusBBError."""
    package = str(Path(pegasus_bb.__file__).resolve().parents[1])
    argv = inside(home, ["env", f"PYTHONPATH={package}", *_SERVE])
    with (home.root / LOG).open("ab") as log:
        _running.append(
            start(argv, stdout=log.fileno(), stderr=log.fileno(), new_session=True)
        )
    until = time.monotonic() + 30
    while not (home.root / SPOOL.lstrip("/") / "alive").exists():
        if time.monotonic() > until or _running[-1].poll() is not None:
            said = (home.root / LOG).read_text()[-600:]
            raise PegasusBBError(f"the staging service does not start: {said}")
        time.sleep(0.05)


def kill_service(home: Home, signal: str = "KILL") -> None:
    """End the service and its workers; back when they have ended."""
    call(home, ["pkill", f"-{signal}", "-f", _PATTERN])
    until = time.monotonic() + 30
    while call(home, ["pgrep", "-f", _PATTERN]).status == 0:
        if time.monotonic() > until:
            raise PegasusBBError("the staging service does not end")
        time.sleep(0.05)
    (home.root / SPOOL.lstrip("/") / "alive").unlink(missing_ok=True)
