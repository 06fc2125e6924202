"""`make bench-chains` runs a trace of WfInstances as a workflow of the same files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chain_shapes import TASK, Step, map_reduce, of_trace
from tests.support.shebang import shebang

SIZES = {"raw.fits": 4000, "d/p.fits": 2000, "area": 0, "mosaic": 1000}
TASKS = {  # listed in no order
    "add": (["d/p.fits", "area", "raw.fits"], ["mosaic"]),
    "project": (["raw.fits"], ["d/p.fits", "area"]),
    "stage out": (["mosaic"], []),
}


def new_form() -> dict[str, Any]:
    tasks = [
        {"name": name, "id": name, "inputFiles": inputs, "outputFiles": outputs}
        for name, (inputs, outputs) in TASKS.items()
    ]
    files = [{"id": lfn, "sizeInBytes": size} for lfn, size in SIZES.items()]
    return {"specification": {"tasks": tasks, "files": files}, "execution": {}}


def old_form() -> dict[str, Any]:
    tasks = []
    for name, lists in TASKS.items():
        files = [
            {"link": link, "name": lfn, "sizeInBytes": SIZES[lfn]}
            for link, lfns in zip(("input", "output"), lists, strict=True)
            for lfn in lfns
        ]
        tasks.append({"name": name, "files": files})
    return {"tasks": tasks}


@pytest.mark.parametrize("form", [new_form, old_form])
def test_a_trace_is_a_workflow_of_its_files_scaled(tmp_path: Path, form: Any) -> None:
    trace = tmp_path / "montage.json"
    trace.write_text(json.dumps({"workflow": form()}))
    shape, factor = of_trace(trace, most=6500)
    assert factor == 0.5
    assert shape.steps == (
        Step({"d_p.fits": 1000, "area": 1}, ("raw.fits",)),
        Step({"mosaic": 500}, ("d_p.fits", "area", "raw.fits")),
    )
    assert (dict(shape.inputs), shape.results) == ({"raw.fits": 2000}, {"mosaic"})


def test_a_task_writes_what_its_inputs_and_names_say(tmp_path: Path) -> None:
    task = tmp_path / "task.py"
    task.write_text(TASK.format(shebang=shebang("-IS")))
    task.chmod(0o755)
    (tmp_path / "in").write_text("input")
    found = []
    for text in ("input", "another"):
        (tmp_path / "in").write_text(text)
        step = Step({"one": 3000000, "two": 10}, ("in",))
        subprocess.run([sys.executable, task, *step.words], cwd=tmp_path, check=True)
        found += [(tmp_path / name).read_bytes() for name in step.outputs]
    assert [len(data) for data in found] == [3000000, 10] * 2
    assert len({data[:10] for data in found}) == 4


def test_a_map_reduce_of_500_tasks_has_them_and_the_sum() -> None:
    shape = map_reduce(500, size=10)
    assert len(shape.steps) == 501
    assert shape.results == {"sum"}
