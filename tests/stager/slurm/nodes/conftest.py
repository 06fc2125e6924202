"""The service of Slurm's host and those of nodes n1 and n2, each a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.slurm_job import Job
from tests.support.slurm_stager import ERROR, SlurmSite
from tests.support.stager import SiteDaemon
from tests.support.waiting import until

_OWN_STORAGE = 'mount --bind "$0" "$1" && shift && exec "$@"'
_MOUNTS = ["unshare", "--mount", "--", "sh", "-c", _OWN_STORAGE]
_PRE_RUN = (
    "import json, sys; from pathlib import Path; "
    "from tests.support.slurm_stager import Hooks; "
    "spool, *words = json.load(sys.stdin); "
    "print(json.dumps(Hooks(Path(spool)).call('pre_run', *words)))"
)


class NodeSite(SlurmSite):
    """A site whose nodes have storage of their own at the same path, ``nvme``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.nvme, self.mailbox = folder / "nvme", folder / "mailbox"
        self.nodes = self.config["slurm"]["nodes"] = {
            "path": str(self.nvme),
            "mailbox": str(self.mailbox),
            "timeout": "20s",
            "poll": 0.05,
        }

    @property
    def waiting(self) -> dict[str, str]:
        """What bbstat says of nodes that have not done what they shall do."""
        return {row["node"]: row["message"] for row in self.rows_of("nodes")}


class Node(SiteDaemon):
    """The service of one node. ``nvme`` is its storage as seen from here; a node that
    is ``alone`` sees it at the path that all nodes have."""

    kind = "--node"

    def __init__(self, site: NodeSite, name: str, alone: bool = False) -> None:
        # Its dataspaces have their own names.
        super().__init__(site.folder / name, scratch=site.lustre, fast=site.bb)
        self.name, self.alive = name, site.mailbox / name / "alive"
        self.nvme = self.folder / "nvme" if alone else site.nvme
        self.before = [*_MOUNTS, str(self.nvme), str(site.nvme)] if alone else []
        mailbox = str(site.mailbox)
        self.node = {"path": str(site.nvme), "poll": 0.05}
        self.config["node"] = self.node
        self.node.update(name=name, mailbox=mailbox)
        for folder in (self.folder, site.nvme, self.nvme):
            folder.mkdir(exist_ok=True)

    def serve(self) -> None:
        super().serve()
        until(self.alive.exists)

    def kill(self, number: int = 9) -> None:
        super().kill(number)
        self.alive.unlink(missing_ok=True)

    @property
    def folders(self) -> list[Path]:
        """Those of jobs."""
        return [path for path in self.nvme.iterdir() if path.name.startswith("job.")]

    @property
    def orders(self) -> list[str]:
        return [path.name for path in self.alive.parent.glob("orders/*.json")]

    def until_clean(self) -> None:
        """Until nothing of any job is left."""
        until(lambda: self.folders == [] and self.orders == [])


class NodeJob(Job):
    """A job on ``nodes``, a list of hosts as Slurm writes it."""

    def __init__(
        self, site: SlurmSite, *directives: str, nodes: str = "n1", **more: Any
    ) -> None:
        super().__init__(site, *directives, **more)
        self.nodes = nodes

    def pre_run(self) -> subprocess.Popen[str]:
        """In a process of its own, as Slurm has it: it may wait."""
        info = {"burst_buffer": self.lines, "nodes": self.nodes}
        words = [str(self.site.spool), self.id, self.script, self.uid, self.uid, info]
        pipe = subprocess.PIPE
        argv = [sys.executable, "-c", _PRE_RUN]
        hook = subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(words))
        hook.stdin.close()
        return hook

    def begun(self, hook: subprocess.Popen[str]) -> tuple[int, str]:
        """What pre_run answered."""
        hook.stdin = None  # closed by ``pre_run``
        try:
            said, _ = hook.communicate(timeout=30)
        finally:
            hook.kill()
        code, words = json.loads(said)
        return code, words

    def start(self) -> tuple[int, str]:
        """From setup to what pre_run answers."""
        self.stage_in()
        return self.begun(self.pre_run())

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
    yield site
    site.end()


@pytest.fixture
def n1(site: NodeSite) -> Iterator[Node]:
    node = Node(site, "n1")
    node.serve()
    yield node
    node.end()


@pytest.fixture
def n2(site: NodeSite) -> Iterator[Node]:
    node = Node(site, "n2", alone=True)
    probe = [*node.before, "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount: two nodes need a path of their own each")
    node.serve()
    yield node
    node.end()
