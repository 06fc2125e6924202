"""What the start of a job loads: a workflow pays for each module ten thousand times."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.runtime.install import install_runtime
from tests.support.run_site import NODE, Site

# Each takes 2 ms or more to import, and most of them bring others.
HEAVY = {"argparse", "ctypes", "dataclasses", "inspect", "json", "re", "signal"}
HEAVY |= {"subprocess", "tempfile", "threading", "typing"}
# The states of a reservation are an enum, which brings these.
OF_ENUMS = {"collections", "functools", "types"}
OURS = {"off": 25, "shared": 35}
OF_PYTHON = {"off": 45, "shared": 52}  # with those that every Python has, some 30


def loaded(site: Site, local: Path) -> set[str]:
    """The modules of a later start on a node, which has the code already."""
    install_runtime(str(site.bb), sys.executable)
    program = str(site.bb / "bin" / "launch")
    words = [sys.executable, "-IS", "-X", "importtime", program]
    words += [str(site.bb / "bin" / "record"), "/bin/true"]
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(local), "PEGASUS_DAG_JOB_ID": NODE}
    for _ in range(3):
        done = subprocess.run(words, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "- invocation: True" in done.stdout
    lines = done.stderr.splitlines()
    return {line.split("|")[2].strip() for line in lines if line.count("|") == 2}


@pytest.mark.parametrize("mode", ["off", "shared"])
def test_a_job_starts_without_what_it_does_not_use(mode: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    if mode == "off":
        site.plan_without_buffer(tmp_path / "pfs")
    found = loaded(site, tmp_path)
    ours = {name for name in found if name.startswith("pegasus_bb")}
    assert not found & (HEAVY | OF_ENUMS if mode == "off" else HEAVY)
    assert len(ours) <= OURS[mode], sorted(ours)
    assert len(found - ours) <= OF_PYTHON[mode], sorted(found - ours)
