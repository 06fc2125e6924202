"""Two processes fill folders, each what the other has not begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.planner.builtin.folders import fill_folders

WANTED = {f"{n}/{k}.sub": f"{n} {k}".encode() for n in range(6) for k in range(3)}
# A test's own process may have threads, and then nothing runs beside it.
PROGRAM = """\
import os, sys, time
from pathlib import Path
from pegasus_bb.planner.builtin.folders import fill_folders

mine, (root, how) = os.getpid(), sys.argv[1:]

def files(n):
    for k in range(3):
        if how == "killed" and n == 2 and k == 1 and os.getpid() != mine:
            os.kill(os.getpid(), 9)
        (Path(root).parent / f"by-{os.getpid()}").touch()
        yield f"{n}/{k}.sub", f"{n} {k}".encode()

def meanwhile():
    time.sleep(0.5)  # long enough for the other to take all it will

folders = {str(n): lambda n=n: files(n) for n in range(6)}
fill_folders(Path(root), folders, True, meanwhile)
"""
two_processors = pytest.mark.skipif(
    (os.cpu_count() or 1) < 2, reason="one processor: nothing runs beside"
)


def contents(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def filled(root: Path, how: str) -> list[Path]:
    """Fill ``root`` in a process of its own; who took part in it."""
    root.mkdir()
    subprocess.run([sys.executable, "-c", PROGRAM, root, how], check=True, timeout=120)
    return list(root.parent.glob("by-*"))


def test_one_process_fills_them_all(tmp_path: Path) -> None:
    def files(folder: str) -> list[tuple[str, bytes]]:
        return [(p, c) for p, c in WANTED.items() if p.startswith(f"{folder}/")]

    said: list[str] = []
    folders = {str(n): lambda n=n: files(str(n)) for n in range(6)}
    fill_folders(tmp_path, folders, False, lambda: said.append("meanwhile"))
    assert (contents(tmp_path), said) == (WANTED, ["meanwhile"])


@two_processors
def test_who_is_held_up_finds_the_work_done(tmp_path: Path) -> None:
    assert len(filled(tmp_path / "root", "slow")) == 1
    assert contents(tmp_path / "root") == WANTED


@two_processors
def test_what_a_killed_process_had_begun_is_written_again(tmp_path: Path) -> None:
    filled(tmp_path / "root", "killed")
    assert contents(tmp_path / "root") == WANTED
