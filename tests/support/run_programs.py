"""A run's bb folder on a directory tier, and its programs as DAGMan calls them."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import delete, gate, setup
from pegasus_bb.runtime.staging.items import stamp

UUID = "4f1c2a9e-0000-4000-8000-000000000001"
NAME = "pbb4f1c2a9e"
DIRECTIVE = f"#DW persistentdw name={NAME}\n"


class Run:
    def __init__(self, root: Path, **settings: str) -> None:
        self.root = root
        self.said = ""  # by the last program
        self.submit = root / "submit"
        self.tier = root / "tier"
        self.results = root / "results"
        for folder in (self.submit / "bb", self.tier, self.results):
            folder.mkdir(parents=True, exist_ok=True)
        self.bb = BBDir(str(self.submit / "bb"))
        self.request = Request(
            name=NAME,
            backend="directory",
            capacity=100 * MIB,
            prefix=f"/bb/{NAME}",
            uuid=UUID,
            tier="bb",
            site="cori",
            wait=3600,
            settings={"path": str(self.tier), "quota": "1GiB"},
        )
        self.change(None, **settings)
        self.promise({})

    # -- what planning wrote

    def change(self, wait: int | None = None, **settings: str) -> None:
        self.request = self.request._replace(
            wait=self.request.wait if wait is None else wait,
            settings={**self.request.settings, **settings},
        )
        self.write("request.json", self.request.to_json())

    def promise(self, outputs: dict[str, str]) -> None:
        prefix = self.request.prefix
        whole = {"version": 1, "prefix": prefix, "files": {}, "outputs": outputs}
        self.write("placement.json", whole)

    def place(self, **more: Any) -> None:
        """Write a placement that has a home on the PFS for the scratch."""
        prefix = self.request.prefix
        folders = {
            "prefix": prefix,
            "scratch": f"{prefix}/me/run0001",
            "pfs_scratch": f"{self.root}/pfs/me/run0001",
        }
        whole = {"version": 1, "files": {}, "outputs": {}}
        self.write("placement.json", {**whole, **folders, **more})

    # -- what stage-out does

    def stage_out(self, lfn: str, text: str = "result", **manifest: Any) -> Path:
        """A promised result at its destination, with its line in the manifest."""
        dest = self.results / lfn
        dest.write_text(text)
        placement = self.read("placement.json")
        self.promise({**placement["outputs"], lfn: str(dest)})
        found = dest.stat()
        line = {
            "lfn": lfn,
            "dest": str(dest),
            "size": found.st_size,
            "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
            "stat": stamp(found),
            "time": 0.0,
            "uuid": UUID,
        }
        with (self.submit / "bb" / "manifest.jsonl").open("a") as journal:
            journal.write(json.dumps({**line, **manifest}) + "\n")
        return dest

    # -- the programs

    def setup(self) -> int:
        return self._start(setup.main)

    def gate(self) -> int:
        return self._start(gate.main)

    def delete(self) -> int:
        return self._start(delete.main)

    def opens_its_gate(self) -> None:
        assert (self.setup(), self.gate()) == (0, 0)

    def _start(self, program: Callable[[list[str]], int]) -> int:
        with redirect_stderr(io.StringIO()) as err:
            status = program(["--bb", self.bb.path])
        self.said = err.getvalue()
        sys.stderr.write(self.said)
        return status

    # -- what there is

    def write(self, name: str, data: Any) -> None:
        (self.submit / "bb" / name).write_text(json.dumps(data))

    def read(self, name: str) -> Any:
        return json.loads((self.submit / "bb" / name).read_text())

    def lose(self, name: str) -> None:
        """A file of bb/."""
        (self.submit / "bb" / name).unlink()

    def has(self, name: str) -> bool:
        return (self.submit / "bb" / name).exists()

    def noted(self) -> Reservation:
        found = self.bb.reservation()
        assert found is not None
        return found

    def folder(self) -> Path:
        return self.tier / NAME

    @property
    def stands(self) -> bool:
        """Whether its reservation is there."""
        return self.folder().exists()

    def backend(self) -> FolderBackend:
        return FolderBackend(self.request.settings)

    def vanish(self) -> None:
        for path in self.folder().iterdir():
            path.unlink()
        self.folder().rmdir()


def kept(run: Run) -> bool:
    return (run.folder() / "scratch").exists()
