"""Commands of the demo: how they are shown, and how they end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.shebang import shebang
from tests.support.waiting import until

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
# Stands for pegasus-bb: a run does not end until it is told to, and then tidies up.
PEGASUS_BB = """\
{shebang}
import pathlib, signal, sys, time
home = pathlib.Path({home!r})
def stop(number, frame):
    (home / "stopped").touch()
    sys.exit(130)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, stop)
if sys.argv[1] == "run":
    (home / "running").touch()
    time.sleep(60)
"""
GENERATOR = """\
{shebang}
import pathlib, sys
pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1]).mkdir()
"""
DRIVER = """\
import os, sys
sys.path.insert(0, sys.argv[1])
import demo
sys.executable = sys.argv[2]
os.sync = lambda: None  # waits for what other tests write
demo.write_speeds = lambda *_: None  # takes some seconds
sys.exit(demo.main(sys.argv[3:]))
"""


@pytest.fixture
def under_way(folders: Any, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo in the midst of its first run."""
    programs = tmp_path / "bin"
    programs.mkdir()
    values = {"shebang": shebang(), "home": str(tmp_path)}
    for name, text in (("pegasus-bb", PEGASUS_BB), ("python", GENERATOR)):
        (programs / name).write_text(text.format(**values))
        (programs / name).chmod(0o755)
    options = ["--quick", "--only", "cybershake", "--demo-dir", str(tmp_path / "demo")]
    driver = [sys.executable, "-c", DRIVER, str(EXAMPLES), str(programs / "python")]
    pipes: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen([*driver, *options], text=True, **pipes) as demo:
        until((tmp_path / "running").exists)
        yield demo
        demo.kill()
    folders.fresh_folder(tmp_path / "demo")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_stops_its_run_and_leaves_no_memory_behind(
    under_way: subprocess.Popen[str], tmp_path: Path, folders: Any, number: int
) -> None:
    tiers = list(folders.SHARED_MEMORY.glob("pegasus-bb-demo-*"))
    mine = [t for t in tiers if str(tmp_path) in (t / folders.MARKER).read_text()]

    under_way.send_signal(number)
    _, said = under_way.communicate(timeout=120)

    assert (tmp_path / "stopped").exists()
    assert under_way.returncode == 128 + number
    assert "demo: interrupted; " in said
    assert "Traceback" not in said
    assert len(mine) == os.access("/dev/shm", os.W_OK)
    assert [tier for tier in mine if tier.exists()] == []
