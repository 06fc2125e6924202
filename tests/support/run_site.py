"""A site in a temporary folder: a fast tier, a PFS, a run, and its programs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.support import forked

NAME = "pbb4f1c2a9e"
PREFIX = f"/bb/{NAME}"
NODE = "work_ID0000001"


class Site:
    def __init__(self, root: Path, reserved: bool = True) -> None:
        self.root, self.bb = root, root / "submit" / "bb"
        self.fast, self.pfs, self.out = root / "fast", root / "pfs", root / "out"
        for folder in (self.bb / "nodes", self.fast, self.pfs, self.out):
            folder.mkdir(parents=True)
        self.real = self.fast / NAME
        self.scratch = self.real / "run0001"
        self.pfs_scratch = self.pfs / "scratch" / "run0001"
        self.request = Request(
            name=NAME,
            backend="directory",
            capacity=4 << 20,
            prefix=PREFIX,
            uuid="run-1",
            tier="bb",
            site="cori",
            settings={"path": str(self.fast)},
        )
        if reserved:
            open_backend("directory", self.request.settings).create(self.request)
            self.scratch.mkdir()
        self.write("request.json", self.request.to_json())
        self.place({})

    def place(
        self, files: dict[str, str], outputs: dict[str, str] | None = None
    ) -> None:
        """Write placement.json; files by LFN as "tier how"."""
        placed = {
            lfn: dict(zip(("tier", "how"), words.split(), strict=True))
            for lfn, words in files.items()
        }
        self.write(
            "placement.json",
            {
                "version": 1,
                "prefix": PREFIX,
                "scratch": f"{PREFIX}/run0001",
                "pfs_scratch": str(self.pfs_scratch),
                "files": placed,
                "outputs": outputs or {},
            },
        )

    def link(
        self, links: dict[str, str], node: str = NODE, **more: dict[str, str]
    ) -> None:
        data = {"version": 2, "links": links, **more}
        self.write(f"nodes/{node}.json", data)

    def plan_without_buffer(self, scratch: Path) -> None:
        (self.bb / "request.json").unlink()
        plan = {"version": 2, "mode": "off", "scratch": str(scratch), "uuid": "run-1"}
        self.write("plan.json", plan)

    def write(self, name: str, data: Any) -> None:
        (self.bb / name).write_text(json.dumps(data))

    @property
    def bbdir(self) -> BBDir:
        return BBDir(str(self.bb))

    def program(self, name: str) -> str:
        return str(self.bb / "bin" / name)

    def start(
        self, *argv: str, stdin: str | bytes = b"", **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        self._install()
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        known = {"PATH": os.environ["PATH"], "PEGASUS_DAG_JOB_ID": NODE}
        words = [self.program(argv[0]), *argv[1:]]
        return forked.program(words, self.root, {**known, **environ}, data)

    def begin(
        self, *argv: str, stdin: str = "", leads_group: bool = True
    ) -> subprocess.Popen[bytes]:
        """The same in the background, with programs that are real."""
        self._install()
        with TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            return subprocess.Popen(
                [self.program(argv[0]), *argv[1:]],
                cwd=self.root,
                env={**os.environ, "PEGASUS_DAG_JOB_ID": NODE},
                stdin=given,
                stdout=subprocess.PIPE,
                start_new_session=leads_group,
            )

    def _install(self) -> None:
        if not (self.bb / "bin").exists():
            forked.install_programs(self.bb)
