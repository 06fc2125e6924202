"""Small submit directories whose tasks note that they ran, and what a run asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import RunFailed
from pegasus_bb.core.files import write_json
from pegasus_bb.core.units import MIB
from pegasus_bb.model.dag.nodes import Dag, Node, Script
from pegasus_bb.model.dag.quoting import quote_arguments
from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.model.reservation import Request
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.local import RunOutcome, run
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.support import forked
from tests.support.shebang import shebang

# One program for jobs and scripts: appends its words to `ran`, then does as told.
TASK = """{shebang}
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
        self.program.write_text(TASK.format(shebang=shebang("-IS")))
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

    def steps(self, *jobs: str) -> None:
        """Jobs in a chain, each as its name and its words."""
        names = [self.job(*words.split()).name for words in jobs]
        self.chain(*names)

    def write(self) -> Path:
        write_dag(self.dag, self.path / "w.dag")
        return self.path

    def run(self, slots: int = 2, **more: Any) -> RunOutcome:
        if not (self.path / "w.dag").exists():
            self.write()
        return run(self.path, slots=slots, **more)

    def fails(self, match: str | None = None, **more: Any) -> str:
        """Run it to its failure, and answer with what is said."""
        with pytest.raises(RunFailed, match=match) as caught:
            self.run(**more)
        return str(caught.value)

    def tasks_run(self, **more: Any) -> list[str]:
        """Run it to its good end, and answer with what tasks noted."""
        self.run(**more)
        return self.ran()

    # --- as a user's command, to be killed ---

    @property
    def errors(self) -> Path:
        """What the last one that was started has written to stderr."""
        return self.path.parent / "engine.err"

    def start(self, slots: int = 2, until: str = "") -> forked.ServedProcess:
        """``pegasus-bb run``, once a task has noted ``until``."""
        if not (self.path / "w.dag").exists():
            self.write()
        words = ["run", "--slots", str(slots), str(self.path)]
        engine = forked.start_pegasus_bb(words, Path.cwd(), os.environ, self.errors)
        if until:
            self.wait_for(until)
        return engine

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return forked.pegasus_bb(list(words), Path.cwd(), dict(os.environ))

    def start_and_kill(self, until: str) -> None:
        """A run that is killed with SIGKILL once a task has noted ``until``."""
        engine = self.start(until=until)
        engine.send_signal(signal.SIGKILL)
        engine.wait()

    def finish(self, engine: forked.ServedProcess) -> None:
        """Let tasks that wait for `go` go on, and the run come to its good end."""
        (self.path / "go").touch()
        assert engine.wait() == 0

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
def any_dag_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The DAGs here stand in for sealed ones; the seal has stories of its own."""
    monkeypatch.setattr(
        "pegasus_bb.run.engine.preparation.check_directory", lambda *_: None
    )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "submit")


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


def request_of(name: str, tier: Path) -> Request:
    return Request(
        name=name,
        backend="directory",
        capacity=8 * MIB,
        prefix=f"/bb/{name}",
        uuid="11111111-2222-3333-4444-555555555555",
        tier="bb",
        site="cluster",
        settings={"path": str(tier), "quota": "64MiB"},
    )


def reserved(submit_dir: Path, name: str, tier: Path) -> Request:
    """The bb folder of a run whose reservation is up and noted."""
    request = request_of(name, tier)
    bb = submit_dir / "bb"
    bb.mkdir()
    write_json(str(bb / "request.json"), request.to_json())
    write_json(str(bb / "plan.json"), {"version": 2, "dag": "w.dag"})
    placed = {"prefix": request.prefix, "files": {}, "outputs": {}}
    write_json(str(bb / "placement.json"), placed)
    BBDir(str(bb)).note_reservation(
        open_backend("directory", request.settings).create(request)
    )
    return request


def vanish(request: Request) -> None:
    open_backend("directory", request.settings).delete(request)


def give_back(submit_dir: Path, request: Request) -> None:
    """As bb_delete does it, on 14 November 2023."""
    vanish(request)
    bb = BBDir(str(submit_dir / "bb"))
    noted = bb.reservation()
    assert noted is not None
    bb.note_reservation(noted._replace(released_at=1700000000.0))


def without_answer(submit_dir: Path, request: Request) -> None:
    """From now on the tier does not say how the reservation is."""
    settings = {**request.settings, "fail": "status:unreachable"}
    data = {**request.to_json(), "settings": settings}
    write_json(str(submit_dir / "bb" / "request.json"), data)


def was_up(submit_dir: Path) -> None:
    noted = BBDir(str(submit_dir / "bb")).reservation()
    assert noted is not None
    ready = {"requested_at": noted.requested_at}
    write_json(str(submit_dir / "bb" / "ready.json"), ready)
