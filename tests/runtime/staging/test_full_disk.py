"""A disk that is really full, or takes no writes: a small one, mounted for the test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

IN_A_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
MAY_MOUNT = os.geteuid() == 0 and shutil.which("unshare") is not None
pytestmark = [
    pytest.mark.usefixtures("copier"),
    pytest.mark.skipif(not MAY_MOUNT, reason="only root can mount a disk for it"),
]

SCRIPT = """
import json, os, subprocess, sys
from pathlib import Path
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage

root, options = Path(sys.argv[1]), sys.argv[2]
disk = root / "disk"
subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
failures = []
journal = StageJournal(str(root / "journal"), "", "")
say = lambda failure: failures.append(str(failure))
Stage(str(root / "from"), str(disk), journal, SHA256, say).run()
copies = {path.name: path.stat().st_size for path in disk.iterdir()}
print(json.dumps([failures, copies]))
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in ("from", "disk"):
        (tmp_path / name).mkdir()
    return tmp_path


def staged(work: Path, options: str) -> tuple[list[str], dict[str, int]]:
    done = subprocess.run(
        [*IN_A_NAMESPACE, sys.executable, "-c", SCRIPT, str(work), options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    answer: Any = json.loads(done.stdout)
    return answer[0], answer[1]


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_what_has_no_room_is_named_with_what_it_needs(work: Path, size: int) -> None:
    """One is too large for the disk; those that fit are there."""
    (work / "from" / "large").write_bytes(os.urandom(size))
    for name in "abc":
        (work / "from" / name).write_bytes(name.encode() * 1000)
    failures, copies = staged(work, "size=200k")
    assert copies == {"a": 1000, "b": 1000, "c": 1000}
    (words,) = failures
    assert "/from/large -> " in words and "No space left on device" in words
    assert "it needs" in words and "free" in words
