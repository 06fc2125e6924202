"""The CyberShake example: what the generator promises, and what its jobs then do."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
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
api = pytest.importorskip("Pegasus.api", reason="the generator writes with Pegasus.api")
pegasus_yaml = pytest.importorskip("Pegasus.yaml")
generator = load("workflow_generator")

GIVEN = {"capacity": "700GiB"}
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


def test_catalogs_say_where_everything_is(tmp_path: Path) -> None:
    folders = {"scratch": Path("/lus/scratch"), "results": Path("/home/out")}
    generate(tmp_path, site="knl", **folders)
    sites = {s["name"]: s for s in catalog(tmp_path, "sites")["sites"]}
    profiles = {"style": "condor", "data.configuration": "sharedfs"}
    assert sites["knl"]["profiles"]["pegasus"] == profiles
    paths = {
        name: {d["type"]: d["path"] for d in site["directories"]}
        for name, site in sites.items()
    }
    assert paths["knl"] == {"sharedScratch": "/lus/scratch"}
    assert paths["local"]["localStorage"] == "/home/out"
    replicas = catalog(tmp_path, "replicas")["replicas"]
    assert replicas[0]["pfns"][0]["pfn"] == f"{tmp_path}/ruptures.txt"
    properties = (tmp_path / "pegasus.properties").read_text()
    assert "pegasus.data.configuration = sharedfs" in properties
    assert f"pegasus.catalog.site.file = {tmp_path}/sites.yml" in properties


def test_a_tier_is_declared_only_where_one_is_asked_for(tmp_path: Path) -> None:
    generate(tmp_path)
    assert "x-storage-tiers" not in catalog(tmp_path, "sites")
    generate(tmp_path, tier_path=Path('/mnt/a "b": c'), **GIVEN)
    (tier,) = catalog(tmp_path, "sites")["x-storage-tiers"]["cluster"]
    said = {key: tier[key] for key in ("name", "backend", "path", "capacity")}
    path = '/mnt/a "b": c'
    assert said == {"name": "bb", "backend": "directory", "path": path, **GIVEN}


def test_the_papers_sizes_are_a_matter_of_options(tmp_path: Path) -> None:
    workflow = generate(
        tmp_path, points=3_819_445, timesteps=3000, ruptures=5734,
        variations=(10, 600),
    )  # fmt: skip
    sizes = outputs(workflow)
    assert sizes["fx.sgt"] == sizes["fy.sgt"] == 275_000_040_000
    assert sizes["seismograms.tar"] == pytest.approx(20e9, rel=0.1)


def test_surfaces_cover_the_mesh_once() -> None:
    following = 0
    for rupture in generator.rupture_list(TINY):
        assert rupture.first_point == following
        assert 2 <= rupture.variations <= 5
        following += rupture.points
    assert following == TINY.points
    shared = generator.rupture_list(replace(TINY, points=3, ruptures=7))
    assert all(r.points == 1 and r.first_point < 3 for r in shared)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": 0}, "--points is 0; 1 or more would do"),
        ({"ruptures": -1}, "--ruptures is -1; 1 or more would do"),
        ({"variations": (5, 2)}, "--variations is 5:2; FROM:TO"),
        ({"seed": -1}, "--seed is -1; 0 or more would do"),
        ({"outputs": "zip"}, "--outputs is 'zip'; tar or files would do"),
        ({"site": "local"}, "--site is 'local'; letters, digits"),
        ({"site": "a b"}, "--site is 'a b'; letters, digits"),
        ({"python": "no-such-python"}, "--python no-such-python: no such program"),
    ],
)
def test_refuses(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(generator.GeneratorError) as refusal:
        generate(tmp_path / "none", **options)
    assert message in str(refusal.value)
    assert not (tmp_path / "none").exists()


def test_command_line(tmp_path: Path, capsys: Any) -> None:
    options = generator.parse(
        ["--output-dir", str(tmp_path), "--variations", "3:9", "--outputs", "files"]
    )
    assert options == generator.Options(
        output_dir=tmp_path, variations=(3, 9), outputs="files"
    )
    with pytest.raises(SystemExit) as end:
        generator.parse(["--output-dir", "x", "--variations", "many"])
    assert end.value.code == 2
    assert "'many': FROM:TO would do" in capsys.readouterr().err


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


def test_four_files_per_rupture_in_the_tar_or_as_files(
    tiny: Any, tmp_path: Path
) -> None:
    _, _, scratch = tiny
    workflow = generate(tmp_path, outputs="files")
    cwd = tmp_path / "scratch"
    cwd.mkdir()
    for name in SGT_FILES:
        (cwd / name).symlink_to(scratch / name)
    shutil.copy(tmp_path / "ruptures.txt", cwd)
    assert start(tmp_path, workflow["jobs"][1], cwd).returncode == 0
    declared = outputs({"jobs": workflow["jobs"][1:]})
    files = {p.name: p for p in cwd.iterdir() if p.name in declared}
    assert {n: p.stat().st_size for n, p in files.items()} == declared
    assert files.pop("peaks.txt").read_bytes() == (scratch / "peaks.txt").read_bytes()
    assert len(files) == 4 * TINY.ruptures
    with tarfile.open(scratch / "seismograms.tar") as tar:
        assert tar.getnames() == sorted(files)
        for name in files:
            member = tar.extractfile(name)
            assert member is not None
            assert member.read() == files[name].read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("fx.sgt", b"short", "fx.sgt: has 5 bytes, its header promises 324000"),
        ("fy.sgtheader", b"?" * 99, "fy.sgtheader: not an SGT header"),
        ("ruptures.txt", b"# none\n", "ruptures.txt: no rupture in it"),
        ("ruptures.txt", b"1 2 many\n", "line 1: found '1 2 many'; expected six"),
        ("ruptures.txt", b"0 0 6 1 0 9\n" * 2, "line 2: this rupture comes twice"),
        ("ruptures.txt", b"0 0 6 1 85 9\n", "points up to 94, but fx.sgt has"),
        ("ruptures.txt", b"0 0 6 0 0 9\n", "line 1: variations and points must"),
        ("fx.sgt", None, "No such file or directory: 'fx.sgt'"),
    ],
)
def test_direct_synth_says_what_is_wrong_with_its_input(
    tiny: Any, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    folder, workflow, scratch = tiny
    for other in {*SGT_FILES, "ruptures.txt"} - {name}:
        (tmp_path / other).symlink_to(scratch / other)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = start(folder, workflow["jobs"][1], tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("direct_synth.py: ") and message in done.stderr
    assert "Traceback" not in done.stderr


def test_ranks_write_through_mpi_io_what_processes_write(
    tiny: Any, tmp_path: Path
) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("MPI-IO: mpi4py is not installed for this Python")
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    mpiexec = shutil.which("mpiexec", path=beside)
    if mpiexec is None:
        pytest.skip("MPI-IO: mpi4py is here, but no mpiexec")
    _, workflow, scratch = tiny
    (tmp_path / "fx.sgt").write_bytes(b"left over" * 200_000)
    program = [sys.executable, str(EXAMPLE / "bin" / "sgt_generator.py")]
    ranks = [mpiexec, "-n", "3", *program, *workflow["jobs"][0]["arguments"]]
    subprocess.run(ranks, cwd=tmp_path, check=True, timeout=120)
    for name in SGT_FILES:
        assert (tmp_path / name).read_bytes() == (scratch / name).read_bytes(), name


def test_several_ranks_without_mpi4py_are_refused(tiny: Any, tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ImportError('not here')\n")
    _, workflow, _ = tiny
    program = [sys.executable, str(EXAMPLE / "bin" / "sgt_generator.py")]
    done = subprocess.run(
        [*program, *workflow["jobs"][0]["arguments"]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PMI_RANK": "0",
             "PMI_SIZE": "2"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "one of several MPI ranks, but mpi4py is missing" in done.stderr
    assert not (tmp_path / "fx.sgt").exists()
