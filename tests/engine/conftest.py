"""Small submit directories whose tasks note that they ran."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.dag.nodes import Dag, Node, Script
from pegasus_bb.dag.submitfile import quote_arguments
from pegasus_bb.dag.writer import write_dag
from pegasus_bb.engine import Outcome, run
from pegasus_bb.engine.journal import read_history

# One program for jobs and scripts: appends its words to `ran`, then does as told.
TASK = """#!{python} -IS
import os, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
name, options = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
def note(word):
    handle = os.open(os.path.join(here, "ran"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, (word + "\\n").encode())
    os.close(handle)
note(name)
if "kill" in options:
    os.kill(os.getpid(), int(options["kill"]))
if options.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "ready" in options:
    note(options["ready"])
    open(os.path.join(here, options["ready"]), "w").close()
while "until" in options and not os.path.exists(os.path.join(here, options["until"])):
    time.sleep(0.005)
print(options.get("out", "output of " + name), flush=True)
print(options.get("err", "errors of " + name), file=sys.stderr)
note(name + " ends")
codes = options.get("exits", "0").split(",")
with open(os.path.join(here, "ran")) as lines:
    times = lines.read().split("\\n").count(name)
sys.exit(int(codes[min(times, len(codes)) - 1]))
"""


@dataclass
class Folder:
    """A submit directory in the making, and then the run of it."""

    path: Path
    dag: Dag = field(default_factory=Dag)

    def __post_init__(self) -> None:
        self.path.mkdir(exist_ok=True)
        self.program.write_text(TASK.format(python=sys.executable))
        self.program.chmod(0o755)

    @property
    def program(self) -> Path:
        return self.path / "task.py"

    def job(self, name: str, *words: str, submit: str = "", **fields: Any) -> Node:
        """A node whose job notes ``name``; ``words`` tell the task what else to do."""
        node = Node(name, f"{name}.sub", **fields)
        self.dag.nodes[name] = node
        self.submit(name, [name, *words], submit)
        return node

    def submit(self, name: str, arguments: list[str], more: str = "") -> None:
        lines = [
            f"executable = {self.program}",
            f"arguments = {quote_arguments(arguments)}",
            f"output = {name}.out",
            f"error = {name}.err",
            *more.splitlines(),
            "queue",
        ]
        (self.path / f"{name}.sub").write_text("\n".join(lines) + "\n")

    def script(self, name: str, *words: str, defer: int | None = None) -> Script:
        """A script that notes ``name``; asked again at once where it defers."""
        time = None if defer is None else 0
        return Script("task.py", " ".join([name, *words]), defer, time)

    def chain(self, *names: str) -> None:
        for parent, child in pairwise(names):
            self.dag.children.setdefault(parent, []).append(child)

    def write(self) -> Path:
        write_dag(self.dag, self.path / "w.dag")
        return self.path

    def run(self, slots: int = 2, **more: Any) -> Outcome:
        if not (self.path / "w.dag").exists():
            self.write()
        return run(self.path, slots=slots, **more)

    # --- as a user's command, to be killed ---

    def start(self, slots: int = 2) -> subprocess.Popen[str]:
        if not (self.path / "w.dag").exists():
            self.write()
        command = [sys.executable, "-m", "pegasus_bb", "run", "--slots", str(slots)]
        return subprocess.Popen(
            [*command, str(self.path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pegasus_bb", *words],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def wait_for(self, word: str, times: int = 1) -> None:
        """Until a task has noted ``word``."""
        deadline = time.monotonic() + 120
        while self.ran().count(word) < times:
            assert time.monotonic() < deadline, f"{word} never came: {self.ran()}"
            time.sleep(0.005)

    def wait_for_event(self, node: str, event: str) -> None:
        deadline = time.monotonic() + 120
        while (node, event) not in self.events():
            assert time.monotonic() < deadline, f"{event} of {node} never came"
            time.sleep(0.005)

    # --- what happened ---

    def ran(self) -> list[str]:
        """What tasks noted, without the lines that say that they ended."""
        return [word for word in self.noted() if not word.endswith(" ends")]

    def noted(self) -> list[str]:
        file = self.path / "ran"
        return file.read_text().splitlines() if file.exists() else []

    def times(self) -> Counter[str]:
        return Counter(self.ran())

    def events(self) -> list[tuple[str, str]]:
        history = read_history(self.path / "jobstate.log")
        return [(event.node, event.event) for event in history.events]

    def rescues(self) -> list[str]:
        return sorted(file.name for file in self.path.glob("w.dag.rescue*"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "submit")


def kill(engine: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    engine.send_signal(number)
    engine.wait(timeout=120)
    if engine.stderr:
        engine.stderr.close()


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] not in "ZX"


def children_named(mark: str) -> list[int]:
    """Processes with ``mark`` in their environment."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and alive(int(entry.name)):
            try:
                if mark.encode() in Path(entry.path, "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
