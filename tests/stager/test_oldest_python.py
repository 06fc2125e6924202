"""The service needs Python 3.9 and its standard library: each Python that is found here
runs it, and is its client."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.test_oldest_python import find_python
from tests.support.as_root import as_root
from tests.support.stager import SiteDaemon

pytestmark = as_root
LATER = ["3.10", "3.11", "3.12", "3.13"]
ROOT = Path(__file__).parents[2]
_ASK = """
import json, sys
from pegasus_bb.runtime.stager_client.client import Client

folder, do, tasks = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with Client(folder + "/control") as control, Client(folder) as client:
    if do == "pause":
        control.ask("pause")
        print(json.dumps(list(client.submit(tasks))))
        sys.exit()
    if do == "submit":
        tasks = client.submit(tasks)
    print(json.dumps([[t["state"], t["message"]] for t in client.wait(tasks)]))
"""


class Old(SiteDaemon):
    """A site's service in an old Python, and its client in the same."""

    def __init__(self, folder: Path, python: str) -> None:
        super().__init__(folder, lustre=folder / "lustre", bb=folder / "bb")
        self.config["dataspaces"]["bb"]["rate"] = "1GB/s"
        self.environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        self.program = [python, "-m", "pegasus_bb.stager"]

    def say(self, do: str, tasks: list[Any]) -> Any:
        words = ["-c", _ASK, str(self.sockets), do, json.dumps(tasks)]
        done = subprocess.run(
            [self.program[0], *words],
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(
    params=["3.9", *(pytest.param(v, marks=pytest.mark.sweep) for v in LATER)]
)
def old(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Old]:
    service = Old(tmp_path, find_python(request.param))
    yield service
    service.end()


def task(kind: str, name: str) -> dict[str, str]:
    return {"kind": kind, "source": f"lustre://{name}", "dest": f"bb://{name}"}


def test_a_site_is_served(old: Old) -> None:
    lustre = old.folder / "lustre"
    bb = old.folder / "bb"
    for name in ("tree/in", "later/in"):
        (lustre / name).mkdir(parents=True)
        (lustre / name / "file").write_text(name)
        (bb / name).mkdir(parents=True)  # so that a rename cannot move it
        (bb / name / "other").write_text("stays")
    (lustre / "file").write_text("a file")

    old.serve()
    done = old.say("submit", [task("copy", "file"), task("move", "tree")])
    assert done == [["done", ""]] * 2
    assert (bb / "file").read_text() == "a file"
    assert not (lustre / "tree").exists()

    numbers = old.say("pause", [task("move", "later")])
    old.serve_again()
    assert old.say("wait", numbers) == [["done", ""]]
    for name in ("tree/in", "later/in"):
        assert (bb / name / "file").read_text() == name
        assert (bb / name / "other").read_text() == "stays"
