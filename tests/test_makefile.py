"""make setup with a Python that will not do: one line that says what would. What is in
no target but make nightly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def setup(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    copier = "pegasus_bb/runtime/staging/_small.c"
    lab = ("lab/pyproject.toml", "lab/setup.py")
    for name in ("Makefile", "pyproject.toml", "setup.py", copier, *lab):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return subprocess.run(
        ["make", "--silent", "setup", f"PYTHON={python}"],
        cwd=folder,
        # These tests may be run by a make themselves, which would talk to this one.
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "{0} is no Python that starts; pegasus_bb needs 3.10"),
        # It starts, and answers no to the question for its age.
        ('#!/bin/sh\n[ -z "$2" ]\n', "pegasus_bb needs Python 3.10 or newer; {0} is"),
    ],
    ids=["not there", "too old"],
)
def test_a_python_that_will_not_do(tmp_path: Path, text: str | None, says: str) -> None:
    python = tmp_path / "python3.9"
    if text:
        python.write_text(text)
        python.chmod(0o755)
    done = setup(tmp_path, str(python))
    assert done.returncode == 2
    said, *of_make = done.stderr.splitlines()
    assert said.startswith(says.format(python))
    assert all(line.startswith("make: ***") for line in of_make)


@pytest.mark.parametrize("options", [[], ["--thorough"]], ids=["test", "test-all"])
def test_a_nightly_test_is_in_no_other_target(options: list[str]) -> None:
    words = [sys.executable, "-m", "pytest", "--collect-only", *options]
    done = subprocess.run(
        [*words, "tests/nightly"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "1 deselected" in done.stdout
