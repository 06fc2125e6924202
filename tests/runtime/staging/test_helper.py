"""The compiled helper, where it is not what it should be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import helper

LOADS = """
import sys
from pegasus_bb.runtime.staging import helper
helper.__file__ = sys.argv[1] + "/helper.py"
print(helper.load(digest=True) is not None)
"""


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The helper, alone in a folder."""
    found = list(Path(helper.__file__).parent.glob("_small*.so"))
    if not found:
        pytest.skip("the compiled helper was not built: no compiler")
    return Path(shutil.copy(found[0], tmp_path))


def is_loaded(path: Path) -> bool:
    command = [sys.executable, "-c", LOADS, str(path.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout == "True\n"


def test_a_complete_helper_loads(built: Path) -> None:
    assert is_loaded(built)


@pytest.mark.parametrize("kept", [0, 4096, -1])
def test_a_truncated_helper_is_not_loaded(built: Path, kept: int) -> None:
    """The loader trusts it, and dies of SIGBUS where its end is missing."""
    size = built.stat().st_size
    os.truncate(built, kept if kept >= 0 else size - 1)
    assert not is_loaded(built)
