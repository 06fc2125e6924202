"""The service of Slurm's host and those of nodes n1 and n2, each a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.stager.conftest import Daemon
from tests.stager.slurm.conftest import ERROR, SERVE, SUCCESS, Job, SlurmSite, until

_OWN_STORAGE = 'mount --bind "$0" "$1" && shift && exec "$@"'
_MOUNTS = ["unshare", "--mount", "--", "sh", "-c", _OWN_STORAGE]


class NodeSite(SlurmSite):
    """A site whose nodes have storage of their own at the same path, ``nvme``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.nvme, self.mailbox = folder / "nvme", folder / "mailbox"
        self.nodes: dict[str, Any] = {"timeout": "20s", "poll": 0.05}

    def configure(self) -> Path:
        path = super().configure()
        config = json.loads(path.read_text())
        places = {"path": str(self.nvme), "mailbox": str(self.mailbox)}
        config["slurm"]["nodes"] = {**places, **self.nodes}
        path.write_text(json.dumps(config))
        return path

    @property
    def waiting(self) -> dict[str, str]:
        """What bbstat says of nodes that have not done what they shall do."""
        rows = self.ask("list")["ok"]["nodes"]
        return {row["node"]: row["message"] for row in rows}

    @property
    def kept(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.ask("list")["ok"]["kept"]
        return rows


class Node(Daemon):
    """The service of one node. ``nvme`` is its storage as seen from here; a node that
    is ``alone`` sees it at the path that all nodes have."""

    def __init__(self, site: NodeSite, name: str, alone: bool = False) -> None:
        super().__init__(site.folder / name)
        self.site, self.name = site, name
        self.nvme = self.folder / "nvme" if alone else site.nvme
        self.before = [*_MOUNTS, str(self.nvme), str(site.nvme)] if alone else []
        self.settings: dict[str, Any] = {"path": str(site.nvme), "poll": 0.05}
        for folder in (self.folder, site.nvme, self.nvme):
            folder.mkdir(exist_ok=True)

    def serve(self) -> None:
        self.launch()
        until((self.site.mailbox / self.name / "alive").exists)

    def launch(self) -> subprocess.Popen[bytes]:
        mailbox = str(self.site.mailbox)
        spaces = {"scratch": self.site.lustre, "fast": self.site.bb}  # their own names
        config = {
            "dataspaces": {name: {"path": str(path)} for name, path in spaces.items()},
            "state": str(self.folder / "var"),
            "sockets": str(self.sockets),
            "node": {"name": self.name, "mailbox": mailbox, **self.settings},
        }
        path = self.folder / "node.json"
        path.write_text(json.dumps(config))
        argv = [sys.executable, "-c", SERVE, "--node", str(path), "60"]
        self.process = subprocess.Popen([*self.before, *argv])
        return self.process

    def kill(self, number: int = 9) -> None:
        super().kill(number)
        (self.site.mailbox / self.name / "alive").unlink(missing_ok=True)

    def ask_control(self, what: str) -> None:
        with self.control() as client:
            client.ask(what)

    @property
    def folders(self) -> list[Path]:
        """Those of jobs."""
        return [path for path in self.nvme.iterdir() if path.name.startswith("job.")]

    @property
    def orders(self) -> list[str]:
        box = self.site.mailbox / self.name / "orders"
        return [path.name for path in box.glob("*.json")]


class NodeJob(Job):
    """A job on ``nodes``, a list of hosts as Slurm writes it."""

    def __init__(
        self, site: SlurmSite, *directives: str, nodes: str = "n1", **more: Any
    ) -> None:
        super().__init__(site, *directives, **more)
        self.nodes = nodes

    def begin(self) -> subprocess.Popen[str]:
        """pre_run in a process of its own, as Slurm has it: it may wait."""
        call = (
            "import json, sys; from pathlib import Path; "
            "from tests.stager.slurm.conftest import Hooks; "
            "spool, *words = json.load(sys.stdin); "
            "print(json.dumps(Hooks(Path(spool)).call('pre_run', *words)))"
        )
        info = {"burst_buffer": self.lines, "nodes": self.nodes}
        words = [str(self.site.spool), self.id, self.script, self.uid, self.uid, info]
        pipe = subprocess.PIPE
        hook = subprocess.Popen(
            [sys.executable, "-c", call], stdin=pipe, stdout=pipe, text=True
        )
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(words))
        hook.stdin.close()
        return hook

    def begun(self, hook: subprocess.Popen[str]) -> tuple[int, str]:
        """What pre_run answered."""
        hook.stdin = None  # closed by ``begin``
        try:
            said, _ = hook.communicate(timeout=30)
        finally:
            hook.kill()
        code, words = json.loads(said)
        return code, words

    def start(self) -> tuple[int, str]:
        """From setup to what pre_run answers."""
        assert self.stage_in() == (SUCCESS, "")
        return self.begun(self.begin())

    def environ(self) -> dict[str, str]:
        path = self.site.folder / "path"
        path.write_text("")
        words = (self.id, self.script, str(path), self.uid, self.uid, {})
        assert self.site.hooks.call("paths", *words) == (SUCCESS, "")
        pairs = [line.split("=", 1) for line in path.read_text().splitlines()]
        return dict(pairs)

    def fails_to_start(self) -> str:
        """The sentence of pre_run; Slurm tears the job down then."""
        code, words = self.start()
        assert code == ERROR
        self.tear_down(hurry=True)
        return words


@pytest.fixture
def site(tmp_path: Path) -> Iterator[NodeSite]:
    site = NodeSite(tmp_path)
    site.serve()
    with ExitStack() as stack:
        stack.callback(end, site)
        yield site


@pytest.fixture
def n1(site: NodeSite) -> Iterator[Node]:
    node = Node(site, "n1")
    node.serve()
    yield node
    end(node)


@pytest.fixture
def n2(site: NodeSite) -> Iterator[Node]:
    node = Node(site, "n2", alone=True)
    probe = [*node.before, "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount: two nodes need a path of their own each")
    node.serve()
    yield node
    end(node)


def end(daemon: Daemon) -> None:
    if daemon.process is not None and daemon.process.poll() is None:
        daemon.kill(15)
