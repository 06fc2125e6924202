"""The programs that copy: our mover and the usual ones, each an argument list."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.staging.sets import FileSet

OURS = "pegasus-bb"
UNVERIFIED = "pegasus-bb, unverified"
PEGASUS = "pegasus-transfer"
CORES = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Task:
    """What is to be copied where; ``work`` is a folder for what a program needs."""

    files: FileSet
    source: Path
    dest: Path
    work: Path


@dataclass(frozen=True)
class Peer:
    """A program that copies trees; ``missing`` is the reason why it cannot."""

    name: str
    argv: Callable[[Task], list[str]]
    missing: str = ""
    makes_dest: bool = True  # a program that does not finds it there, empty
    takes_minutes: bool = False  # so it has one round of a set's first scene


def all_peers(pegasus_transfer: str) -> list[Peer]:
    """Ours first. ``pegasus_transfer``: a program, or the virtual environment that pip
    has put it into."""
    start, missing = pegasus_transfer_start(pegasus_transfer)
    return [
        Peer(OURS, lambda task: _stage(task, "digest")),
        Peer(UNVERIFIED, lambda task: _stage(task, "none")),
        Peer("cp -r", lambda task: ["cp", "-r", str(task.source), str(task.dest)]),
        Peer(
            "rsync -a",
            lambda task: ["rsync", "-a", f"{task.source}/", f"{task.dest}/"],
            _unless("rsync", "apt install rsync"),
        ),
        Peer("tar | tar", _tar, _unless("tar", "apt install tar"), makes_dest=False),
        Peer(
            "fpsync", _fpsync, _unless("fpsync", "apt install fpart"), makes_dest=False
        ),
        Peer("dcp", _dcp, _unless("dcp", "mpiFileUtils: no package in Debian, Ubuntu")),
        Peer(
            PEGASUS,
            lambda task: [*start, "--file", _job_list(task)],
            missing,
            makes_dest=False,
            takes_minutes=True,
        ),
    ]


def pegasus_transfer_start(place: str) -> tuple[list[str], str]:
    """The command, and the reason why it cannot be started, if there is one.

    The package of PyPI brings it as a module without a program.
    """
    if place and (python := Path(place, "bin/python")).exists():
        return [str(python), "-m", "Pegasus.cli.pegasus-transfer"], ""
    program = shutil.which(place or "pegasus-transfer")
    where = place or "PATH"
    return [program or ""], "" if program else f"not at {where}: --pegasus-transfer"


def _unless(program: str, hint: str) -> str:
    return "" if shutil.which(program) else f"not installed ({hint})"


def _stage(task: Task, verify: str) -> list[str]:
    return [
        "env",
        f"PEGASUS_BB_LEDGER={task.work}/ledger",
        sys.executable,
        "-m",
        "pegasus_bb",
        "stage",
        "--json",
        "--verify",
        verify,
        str(task.source),
        str(task.dest),
    ]


def _tar(task: Task) -> list[str]:
    pipe = 'tar -C "$1" -cf - . | tar -C "$2" -xf -'
    return ["sh", "-c", pipe, "sh", str(task.source), str(task.dest)]


def _fpsync(task: Task) -> list[str]:
    """As many rsyncs at once as there are cores."""
    temporary = task.work / "fpsync"
    return [
        "fpsync",
        "-n",
        str(CORES),
        "-t",
        str(temporary),
        f"{task.source}/",
        f"{task.dest}/",
    ]


def _dcp(task: Task) -> list[str]:
    ranks = ["mpirun", "-n", str(CORES)] if shutil.which("mpirun") else []
    return [*ranks, "dcp", str(task.source), str(task.dest)]


def _job_list(task: Task) -> str:
    """The list that a planner would write: one entry a file."""
    path = task.work / "transfers.json"
    entries = [
        {
            "type": "transfer",
            "id": number,
            "lfn": name,
            "src_urls": [_url(task.source / name)],
            "dest_urls": [_url(task.dest / name)],
        }
        for number, (name, _) in enumerate(task.files.files, start=1)
    ]
    path.write_text(json.dumps(entries))
    return str(path)


def _url(path: Path) -> dict[str, str]:
    return {"site_label": "local", "url": f"file://{path}"}
