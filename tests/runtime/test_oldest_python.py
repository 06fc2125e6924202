"""Compute nodes have old Pythons and new ones: the same story, told by each that is
found here. Jobs start with modules of Python that are not public (_json, _ctypes)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.core.errors import USAGE
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.install import install_runtime
from tests.support.job_lists import SCRATCH, Site, folder, transfer

PYTHONS = ["3.9", "3.13"]


def find_python(version: str) -> str:
    """Its path. Skips the test where there is none."""
    found = [shutil.which(f"python{version}") or ""]
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found += [str(path) for path in home.glob(f"{version}*/bin/python{version}")]
    for path in filter(None, found):
        # pyenv leaves commands on PATH that only say that they are not switched on.
        if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    pytest.skip(f"no python{version} on PATH or in pyenv")


@pytest.fixture(params=PYTHONS)
def old(site: Site, request: pytest.FixtureRequest) -> Site:
    install_runtime(str(site.bb), find_python(request.param))
    return site


def test_a_whole_run(old: Site) -> None:
    dest = old.out / "out.txt"
    old.place({"in": "pfs copy", "out.txt": "pfs write"}, {"out.txt": str(dest)})
    old.link({"out.txt": str(old.pfs_scratch / "out.txt")})
    (old.pfs / "in").write_text("input\n")
    wrap = ("launch", old.program("record"))

    assert listed(old, wrap, folder("mkdir", SCRATCH)) == 0
    assert listed(old, wrap, transfer("in", old.pfs / "in", f"{SCRATCH}/in")) == 0
    task = "cat in > tmp; echo more >> tmp; mv tmp out.txt"
    done = old.start(*wrap, "-w", SCRATCH, "-s", "out.txt", "sh", "-c", task)
    (record,) = yaml.safe_load(done.stdout)
    row = record["mainjob"]["procs"][record["mainjob"]["pid"]]
    assert record["files"]["out.txt"]["size"] == 11
    assert row["wchar"] >= 11 and row["rchar"] > 0
    assert listed(old, wrap, transfer("out.txt", f"{SCRATCH}/out.txt", dest)) == 0
    assert dest.read_text() == "input\nmore\n"
    assert "out.txt" in manifest.read(str(old.bb / "manifest.jsonl"), "run-1")

    (old.root / "node.out").write_bytes(done.stdout)
    assert old.start("exitcode", "-r", "0", str(old.root / "node.out")).returncode == 0
    assert old.start("record", "sh", "-c", "kill -9 $$").returncode == 137
    assert old.start("record", "/absent").returncode == 127
    for name in ("request.json", "placement.json"):
        (old.bb / name).unlink()
    for program in ("setup", "gate", "delete"):
        assert old.start(program).returncode == USAGE  # they load


def listed(site: Site, wrap: tuple[str, ...], *jobs: dict[str, Any]) -> int:
    done = site.start(
        *wrap, "-i", "-", site.program("transfer"), stdin=json.dumps(jobs)
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return int(done.returncode)
