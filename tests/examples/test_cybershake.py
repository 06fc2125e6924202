"""The CyberShake example: what the generator promises, and what its jobs then do."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cybershake"
SGT_FILES = ["fx.sgt", "fx.sgtheader", "fy.sgt", "fy.sgtheader"]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"cs_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


pytest.importorskip("numpy", reason="CyberShake's jobs compute with NumPy")
pegasus_yaml = pytest.importorskip("Pegasus.yaml")
generator = load("workflow_generator")

TINY = generator.Options(
    points=90, timesteps=150, ruptures=14, variations=(2, 5), seed=7
)


def generate(folder: Path, **options: Any) -> dict[str, Any]:
    """A tiny abstract workflow, read back by Pegasus's own reader."""
    path = generator.generate(replace(TINY, output_dir=folder, **options))
    assert path == folder / "workflow.yml"
    workflow: dict[str, Any] = pegasus_yaml.loads(path.read_text())
    return workflow


def catalog(folder: Path, name: str) -> Any:
    return pegasus_yaml.loads((folder / f"{name}.yml").read_text())


def start(folder: Path, job: dict[str, Any], cwd: Path) -> Any:
    """One job as a site would start it: the catalog's PFN, in a scratch directory."""
    entries = catalog(folder, "transformations")["transformations"]
    (entry,) = (e for e in entries if e["name"] == job["name"])
    argv = [entry["sites"][0]["pfn"], *job["arguments"]]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)


def run(folder: Path, workflow: dict[str, Any], cwd: Path) -> None:
    cwd.mkdir(exist_ok=True)
    shutil.copy(folder / "ruptures.txt", cwd)
    for job in workflow["jobs"]:
        done = start(folder, job, cwd)
        assert (done.returncode, done.stderr) == (0, "")


def outputs(workflow: dict[str, Any]) -> dict[str, int]:
    """LFN -> declared size, of every file that a job writes."""
    uses = [use for job in workflow["jobs"] for use in job["uses"]]
    return {use["lfn"]: use["size"] for use in uses if use["type"] == "output"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], Path]:
    """A tiny instance, run with one process per job: its folder, workflow, scratch."""
    folder = tmp_path_factory.mktemp("one process")
    workflow = generate(folder, processes=1)
    run(folder, workflow, folder / "scratch")
    return folder, workflow, folder / "scratch"


def test_the_sgts_flow_from_the_first_job_to_the_second(tmp_path: Path) -> None:
    workflow = generate(tmp_path)
    writer, reader = workflow["jobs"]
    assert (writer["name"], reader["name"]) == ("sgt_generator", "direct_synth")
    edge = {"id": writer["id"], "children": [reader["id"]]}
    assert workflow["jobDependencies"] == [edge]
    assert sorted(use["lfn"] for use in writer["uses"]) == SGT_FILES
    assert not any(u["stageOut"] or u["registerReplica"] for u in writer["uses"])
    read = {use["lfn"] for use in reader["uses"] if use["type"] == "input"}
    assert read == {*SGT_FILES, "ruptures.txt"}
    results = [use for use in reader["uses"] if use["type"] == "output"]
    assert {u["lfn"] for u in results} == {"seismograms.tar", "peaks.txt"}
    assert all(u["stageOut"] and not u["registerReplica"] for u in results)


def test_the_jobs_leave_what_is_declared_and_nothing_else(tiny: Any) -> None:
    _, workflow, scratch = tiny
    sizes = {path.name: path.stat().st_size for path in scratch.iterdir()}
    assert sizes.pop("ruptures.txt") > 0
    assert sizes == outputs(workflow)


def test_neither_processes_nor_leftovers_of_a_killed_attempt_change_a_byte(
    tiny: Any, tmp_path: Path
) -> None:
    _, workflow, scratch = tiny
    cwd = tmp_path / "other place"
    parts = cwd / "seismograms.tar.parts"
    parts.mkdir(parents=True)
    (parts / "Seismogram_0_0.grm").write_bytes(b"half of")
    (parts / "of_another_list").write_bytes(b"")
    for name in outputs(workflow):
        (cwd / name).write_bytes(b"left over" * 200_000)
    run(tmp_path, generate(tmp_path, processes=3), cwd)
    for name in outputs(workflow):
        assert (cwd / name).read_bytes() == (scratch / name).read_bytes(), name
    assert not parts.exists()
