"""The demo: its own folders, the commands that it types, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
PYTHON = sys.executable
needs_shared_memory = pytest.mark.skipif(
    not os.access("/dev/shm", os.W_OK), reason="this machine has no shared memory"
)
Play = Callable[..., list[list[str]]]


def on_fast_storage(folders: Any, demo: Path) -> list[Path]:
    """The tiers of the demo in that folder."""
    return [
        path.parent
        for path in folders.SHARED_MEMORY.glob(f"pegasus-bb-demo-*/{folders.MARKER}")
        if json.loads(path.read_bytes())["demo"] == str(demo)
    ]


def test_each_side_runs_once_the_pfs_first_and_the_end_says_where_the_numbers_are(
    play: Play, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = play()

    side = ["plan", "sync", "run", "sync"]  # nothing is left to write
    assert [call[1] for call in calls] == [*side, *side, *["explain"] * 3, "report"]
    assert {call[0] for call in calls if call[1] != "sync"} == {"cybershake"}
    run = ["cybershake", "run", "--engine", "local"]
    assert calls[2:7:4] == [[*run, "pfs"], [*run, "bb"]]

    lines = capfd.readouterr().out.splitlines()
    told = lines.index(next(line for line in lines if line.startswith("A line pr")))
    rows = [line.split() for line in lines[told - 4 : told]]
    of_bb = "2.5 to 3.0 2.00 +25% persistent 0%"
    of_pfs = "4.0 to 5.0 4.00 +0% persistent 0%"
    assert rows == [
        f"cybershake bb pfs {of_bb}".split(),
        f"cybershake pfs bb {of_pfs}".split(),
        f"cybershake pfs pfs and bb {of_pfs}".split(),
        f"cybershake bb pfs and bb {of_bb}".split(),
    ]
    assert lines[told - 8].split() == ["cybershake", "makespan", "4.00", "2.00", "2.00"]
    assert "every number: demo/report.json" in lines
    page = (tmp_path / "demo/report.html").read_text()
    assert '<h1 class="headline">The burst buffer was ' in page
    report = json.loads((tmp_path / "demo/report.json").read_bytes())
    assert report["made_with"]["throttled"] is False
    cybershake = report["examples"]["cybershake"]
    assert cybershake["order"] == list(cybershake["load_averages"]) == ["pfs", "bb"]
    assert [len(loads) for loads in cybershake["load_averages"].values()] == [3, 3]
    assert cybershake["outputs"] == {"identical": True, "files": 1}


def test_a_folder_with_a_blank_is_refused_before_anything_is_done(
    demo: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--demo-dir", str(tmp_path / "my demo")]) == 2
    assert "has a blank or a quote in its path" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@needs_shared_memory
def test_a_demo_that_failed_leaves_its_tier_until_the_next(
    play: Play, demo: Any, folders: Any, tmp_path: Path
) -> None:
    with pytest.raises(demo.DemoError, match="this step failed"):
        play(fails="run")
    assert not (tmp_path / "demo/report.json").exists()
    left = on_fast_storage(folders, tmp_path / "demo")

    play()

    assert len(left) == 1
    assert on_fast_storage(folders, tmp_path / "demo") == []


@pytest.mark.sweep  # the README's first command: every change runs it before it lands
def test_the_quick_demo_from_end_to_end(tmp_path: Path) -> None:
    command = [PYTHON, str(EXAMPLES / "demo.py"), "--quick", "--demo-dir"]
    done = subprocess.run(
        [*command, str(tmp_path / "d")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )

    assert done.returncode == 0, done.stdout
    report = json.loads((tmp_path / "d/report.json").read_bytes())
    assert set(report["examples"]) == {"cybershake", "1000genome"}
    page = (tmp_path / "d/report.html").read_text()
    assert page.count('class="quiet">Burst buffer: /') == 2
    assert page.count("iB/s there before the runs") == 4
    assert all(f'id="p{number}-timeline"' in page for number in (1, 2))
    for name, example in report["examples"].items():
        comparison = example["comparison"]
        assert (tmp_path / "d" / name / "pfs" / "braindump.yml").exists()
        assert (tmp_path / "d" / name / "bb" / "bb" / "request.json").exists()
        runs = {side: comparison["runs"][side][0] for side in ("pfs", "bb")}
        assert comparison["workflow"]["makespan"]["pfs"]["mean"] > 0
        assert comparison["workflow"]["reserve"]["bb"]["mean"] > 0
        assert comparison["all_compute"]["bytes_read"]["bb"]["mean"] > 0
        assert (runs["bb"]["problems"], runs["bb"]["missing"]) == ([], [])
        assert (runs["pfs"]["mode"], runs["bb"]["mode"]) == ("off", "persistent")
