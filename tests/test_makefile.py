"""make setup with a Python that will not do: one line that says what would."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def setup(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    (folder / "pegasus_bb" / "staging").mkdir(parents=True)
    copier = "pegasus_bb/staging/_small.c"
    for name in ("Makefile", "pyproject.toml", "setup.py", copier):
        shutil.copy(ROOT / name, folder / name)
    return subprocess.run(
        ["make", "--silent", "setup", f"PYTHON={python}"],
        cwd=folder,
        # These tests may be run by a make themselves, which would talk to this one.
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
        capture_output=True,
        text=True,
    )


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    done = setup(tmp_path, "/nope")
    assert done.returncode == 2
    said, *of_make = done.stderr.splitlines()
    assert said.startswith("/nope is no Python that starts; pegasus_bb needs 3.10")
    assert all(line.startswith("make: ***") for line in of_make)


@pytest.mark.parametrize("version", ["3.9", "2.7"])
def test_a_python_that_is_too_old(tmp_path: Path, version: str) -> None:
    """A script plays it: it starts, and answers no to the question for its age."""
    python = tmp_path / f"python{version}"
    python.write_text('#!/bin/sh\n[ -z "$2" ]\n')
    python.chmod(0o755)
    done = setup(tmp_path, str(python))
    assert done.returncode == 2
    said, *of_make = done.stderr.splitlines()
    assert said.startswith(f"pegasus_bb needs Python 3.10 or newer; {python} is older")
    assert all(line.startswith("make: ***") for line in of_make)
