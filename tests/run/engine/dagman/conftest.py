"""A submit directory, and HTCondor's tools as small programs that play recordings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir

RECORDED = Path(__file__).parents[3] / "recorded" / "htcondor-23.9"

# Plays what DAGMan and HTCondor once wrote, in place of submitting anything.
SUBMIT = """#!/bin/sh
echo "$@" >> {tools}/submitted
for act in $(cat {tools}/next); do
    cat {recorded}/$act.dagman.log >> w.dag.dagman.log
    sed "/{end}/q" {recorded}/$act.jobstate.log >> jobstate.log
    for rescue in {recorded}/$act.rescue*; do
        test ! -f "$rescue" || cp "$rescue" w.dag.${{rescue##*/$act.}}
    done
done
test -s {tools}/next
"""
QUEUE = """#!/bin/sh
case "$*" in
    *"JobUniverse == 5"*) cat {tools}/idle 2>/dev/null ;;
    *DAGManJobId*) cat {tools}/jobs 2>/dev/null ;;
    *UserLog*) cat {tools}/unlogged 2>/dev/null ;;
    *"-constraint false"*) ;;
    *) cat {tools}/queue 2>/dev/null ;;
esac
test ! -f {tools}/no-answer || {{ echo "Failed to fetch ads" >&2; exit 1; }}
"""


class Tools:
    """The tools on PATH, and what they will answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {"condor_submit_dag": SUBMIT, "condor_q": QUEUE}.items():
            self.program(name, text)
        self.plays("failed")

    def program(self, name: str, text: str, end: str = "no such line") -> None:
        file = self.folder / name
        words = text.format(tools=self.folder, recorded=RECORDED, end=end)
        file.write_text(words)
        file.chmod(0o755)

    def plays(self, *acts: str) -> None:
        """What happens when a DAG is submitted; nothing: it is refused."""
        (self.folder / "next").write_text(" ".join(acts))

    def queue(self, *rows: str) -> None:
        """JobStatus and HoldReason of the job that is asked after."""
        (self.folder / "queue").write_text("".join(f"{row}\n" for row in rows))

    def jobs(self, *numbers: int) -> None:
        """Jobs of nodes."""
        (self.folder / "jobs").write_text("".join(f"{n}\n" for n in numbers))

    def unlogged(self, number: int) -> None:
        """A DAGMan on the same log, which does not tell of it."""
        (self.folder / "unlogged").write_text(f"{number}\n")

    def falls_silent(self) -> None:
        """No schedd answers."""
        (self.folder / "no-answer").touch()

    @property
    def submitted(self) -> list[str]:
        """The arguments of each submission."""
        file = self.folder / "submitted"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # root may not submit
    monkeypatch.setattr("socket.gethostname", lambda: "testbed")
    return Tools(folder)


@pytest.fixture
def place(tmp_path: Path) -> SubmitDir:
    """The recorded DAG; its programs are not needed where recordings play."""
    folder = tmp_path / "submit"
    folder.mkdir()
    shutil.copy(RECORDED / "w.dag", folder)
    return find_submit_dir(folder)


def write_log(place: SubmitDir, act: str, lines: int | None = None) -> None:
    """As if DAGMan had come so far in that recording: so many lines of its log."""
    text = (RECORDED / f"{act}.dagman.log").read_text().splitlines(keepends=True)
    with place.dag.with_name("w.dag.dagman.log").open("a") as log:
        log.writelines(text[:lines])


class Listener:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def begin(self, total: int, done: int) -> None:
        self.heard.append(f"{total} nodes, {done} done")

    def running(self, name: str) -> None:
        self.heard.append(f"{name} runs")

    def waiting(self, name: str) -> None:
        self.heard.append(f"{name} waits")

    def ended(self, name: str, how: str, seconds: float) -> None:
        self.heard.append(f"{name} {how} after {seconds:.0f} s")

    def note(self, message: str) -> None:
        self.heard.append(message)

    def warn(self, message: str) -> None:
        self.heard.append(f"WARNING {message}")

    def close(self) -> None: ...
