"""A submit directory stands whole under its name, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.dag.htcondor_api import read_submit
from pegasus_bb.model.placement import PlacedFile
from pegasus_bb.planner.builtin.executable import PlannedJob
from pegasus_bb.planner.builtin.submit_files import SubmitFiles
from tests.planner.conftest import new_job


@pytest.fixture
def here(runner: Any, tmp_path: Path) -> Any:
    """The runner, with a submit directory that can be written."""
    runner.change(submit_dir=tmp_path / "submit" / "run0001")
    return runner


def left(runner: Any) -> list[Path]:
    folder: Path = runner.context.submit_dir.parent
    return list(folder.iterdir()) if folder.exists() else []


def test_links_are_named_after_the_node_that_needs_them(here: Any) -> None:
    here.placed["a.txt"] = PlacedFile(
        "a.txt", "intermediate", "pfs", "write", 1, "test"
    )
    here.persistent()
    folder: Path = here.write()
    files = sorted((folder / "bb" / "nodes").iterdir())
    notes = {file.stem: json.loads(file.read_text()) for file in files}
    path = "/lus/scratch/wfuser/pegasus/demo/run0001/a.txt"
    assert notes.pop("split_ID1")["links"] == {"a.txt": path}
    outputs = notes.pop("count_ID2")["outputs"]
    assert list(outputs) == ["sub/n.txt"], "its reader may rename the link to that"
    assert outputs["sub/n.txt"].endswith("/wfuser/pegasus/demo/run0001/sub/n.txt")
    assert notes == {}


def test_a_taken_name_is_refused_and_left_alone(here: Any) -> None:
    folder: Path = here.context.submit_dir
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("irreplaceable")
    with pytest.raises(UsageError, match="already there"):
        here.write()
    assert [p.name for p in folder.iterdir()] == ["thesis.tex"]
    assert left(here) == [folder]


class Trouble:
    """Lets ``after`` calls of a function through, raises once, works again."""

    def __init__(self, real: Callable[..., Any], error: BaseException) -> None:
        self.real, self.error = real, error
        self.after, self.calls = -2, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == self.after + 1:
            raise self.error
        return self.real(*args, **named)


FAULTS = {
    "write": OSError(28, "No space left on device"),
    "open": KeyboardInterrupt(),
    "replace": OSError(5, "Input/output error"),
    "rename": OSError(30, "Read-only file system"),
}


@pytest.mark.parametrize("call", FAULTS)
def test_a_failure_at_any_file_leaves_nothing_behind(
    here: Any, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.persistent()
    if call == "rename":  # pathlib of Python 3.10 knows os.rename by another name
        real = Path.rename
        trouble = Trouble(real, FAULTS[call])
        monkeypatch.setattr(Path, call, lambda *paths: trouble(*paths))
    else:
        trouble = Trouble(getattr(os, call), FAULTS[call])
        monkeypatch.setattr(os, call, trouble)
    here.write()
    calls = trouble.calls
    folder = here.context.submit_dir
    assert calls > 0
    for number in steps(calls):
        trouble.calls, trouble.after = 0, number
        here.change(submit_dir=folder.with_name(f"broken{number}"))
        with pytest.raises((UsageError, KeyboardInterrupt, OSError)):
            here.write()
        trouble.after = -2
        assert left(here) == [folder], f"{call} number {number}"


def steps(calls: int) -> Iterator[int]:
    """Every call of few, a good sample of many, the last one always."""
    yield from range(0, calls, max(1, calls // 25))
    yield calls - 1


@pytest.fixture
def many(here: Any) -> Any:
    """Enough jobs for a second process."""
    here.jobs = [
        new_job(f"J{n}", "split", ["in.txt"], [f"f{n}"], arguments=[str(n)])
        for n in range(5100)
    ]
    return here


def test_two_processes_write_what_one_would(
    many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = many.write()
    files = {str(p.relative_to(folder)) for p in folder.rglob("*.sub")}
    planned = many.plan()
    assert files == {f"{j.folder}/{j.name}.sub" for j in planned.jobs.values()}
    assert {str(Path(f).parent) for f in files} == {f"00/0{n}" for n in range(6)}
    assert max(len(list((folder / f"00/0{n}").glob("*.sub"))) for n in range(6)) == 1000
    submit = read_submit(folder / "00/00/split_J7.sub", {})
    assert submit.arguments[-1] == "7"


def test_the_second_process_may_fail_and_its_error_is_told(
    many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SubmitFiles.text

    def text(self: SubmitFiles, planned: PlannedJob) -> str:
        if planned.name == "split_J3":  # in the second process's share
            raise OSError(28, "No space left on device", planned.name)
        return real(self, planned)

    monkeypatch.setattr(SubmitFiles, "text", text)
    with pytest.raises(UsageError, match="split_J3: No space left on device; free"):
        many.write()
    assert left(many) == []


def test_what_a_killed_planning_left_is_swept_and_a_living_ones_stays(
    here: Any,
) -> None:
    above = here.context.submit_dir.parent
    name = here.context.submit_dir.name
    host = os.uname().nodename
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = above / f".{name}.{host}.{gone.pid}.part"
    alive = above / f".{name}.{host}.{os.getppid()}.part"
    elsewhere = above / f".{name}.{host}x.{gone.pid}.part"
    for folder in (left, alive, elsewhere):
        (folder / "00").mkdir(parents=True)
    here.write()
    assert [f.exists() for f in (left, alive, elsewhere)] == [False, True, True]
