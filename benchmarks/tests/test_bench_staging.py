"""`make bench-staging` counts all of a run, sees a copy that is none, and names the
programs that did not take part or failed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.staging.__main__ import main
from benchmarks.staging.busy import busy_cores
from benchmarks.staging.measure import Cost, run
from benchmarks.staging.peers import OURS, PEGASUS, UNVERIFIED, Peer, Task
from benchmarks.staging.results import goals_of, table
from benchmarks.staging.scenes import Run, Scene, play, why_absent
from benchmarks.staging.sets import (
    KIB,
    MIB,
    SETS,
    FileSet,
    RunFailed,
    check_copy,
    write_set,
)

TREE = FileSet("mixed", (("a/b/one", 3 * MIB), ("a/two", 5), ("three", 0)))


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Path, Path]:
    """A tree and its copy, made by the same seed."""
    write_set(TREE, tmp_path / "source")
    write_set(TREE, tmp_path / "copy")
    return tmp_path / "source", tmp_path / "copy"


def test_the_sets_are_what_is_promised() -> None:
    sizes = {name: [size for _, size in make(1.0).files] for name, make in SETS.items()}
    assert sizes["small"] == [4 * KIB] * 20_000
    assert sizes["large"] == [512 * MIB] * 8
    assert len(sizes["mixed"]) == 2_000
    median = sorted(sizes["mixed"])[1_000]
    mean = sum(sizes["mixed"]) / 2_000
    assert median < 100 * KIB < MIB < mean * 4
    assert SETS["mixed"](1.0) == SETS["mixed"](1.0)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda copy: (copy / "three").unlink(), "1 of 3 files are missing"),
        (lambda copy: (copy / "three.part").touch(), "1 are there that should not be"),
        (lambda copy: os.truncate(copy / "a/two", 4), "of 3145733 bytes"),
        (lambda copy: (copy / "a/two").write_bytes(b"other"), "not what"),
        (lambda copy: zeros(copy / "a/b/one"), "not what"),
    ],
)
def test_what_is_no_copy_is_seen(spoil, word, copied: tuple[Path, Path]) -> None:
    source, copy = copied
    check_copy(TREE, source, copy)
    spoil(copy)
    with pytest.raises(RunFailed, match=word):
        check_copy(TREE, source, copy)


def zeros(path: Path) -> None:
    """A block in the middle that never arrived."""
    with path.open("r+b") as file:
        file.seek(2 * MIB)
        file.write(bytes(4 * KIB))


def test_a_run_is_all_that_it_started(tmp_path: Path) -> None:
    """Two children that are left behind, work on and take memory."""
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.fork(); held = b'x' * (60 << 20); begun = time.process_time()\n"
        "    while time.process_time() < begun + 0.4: pass\n"
    )
    cost = run([sys.executable, "-S", "-c", code], tmp_path, tmp_path / "said")
    assert cost.wall > 0.4
    assert cost.cpu > 0.8
    assert 120 < cost.mib < 200


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="ended with 3: no room"):
        run(["sh", "-c", "echo no room >&2; exit 3"], tmp_path, tmp_path / "said")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The source of a small scene, and room for its copies."""
    (tmp_path / "copies").mkdir()
    write_set(scene("small").files, tmp_path / "source")
    return tmp_path / "source"


def test_a_program_that_does_not_copy_has_failed(source: Path) -> None:
    liar = Peer("liar", lambda task: ["mkdir", str(task.dest)])
    (lie,) = play(scene("small"), source, source.parent, [liar], range(1))
    assert "20 of 20 files are missing" in lie.failed


def test_a_slow_program_has_one_round_of_a_sets_first_scene(source: Path) -> None:
    def copy(task: Task) -> list[str]:
        return ["cp", "-r", str(task.source), str(task.dest)]

    peers = [Peer("slow", copy, takes_minutes=True), Peer("quick", copy)]
    played = play(scene("small"), source, source.parent, peers, range(3))
    assert sorted(run.name for run in played) == ["quick"] * 3 + ["slow"]
    assert [bool(why_absent(peer, False)) for peer in peers] == [True, False]


def scene(name: str) -> Scene:
    return Scene(SETS[name](0.001), "tmpfs", "warm")


def runs(name: str, **walls: list[float]) -> list[Run]:
    """Rounds of one scene: the seconds that each program took in each."""
    return [
        Run(scene(name), turn, program, Cost(wall, 1.0, 10.0))
        for program, of_rounds in walls.items()
        for turn, wall in enumerate(of_rounds, start=1)
    ]


def test_a_goal_is_the_median_of_ratios_within_a_round() -> None:
    """A slow round is slow for both: the medians of seconds would say 0.5."""
    played = runs("small", **{"cp -r": [1.0, 9.0, 1.0], OURS: [1.0, 9.0, 2.0]})
    goal, _ = goals_of(played)
    assert "1.00 (0.50 to 1.00), at least 1" in str(goal)
    assert goal.met


def test_ours_has_to_pass_the_fastest_peer() -> None:
    walls = {OURS: [2.0], UNVERIFIED: [1.5], "rsync -a": [1.9], "cp -r": [4.0]}
    fastest, digests, memory = goals_of(runs("large", **walls))
    assert "rsync" in fastest.what
    assert (fastest.figure, fastest.met) == (0.95, False)
    assert (round(digests.figure, 2), digests.met) == (1.33, False)
    assert memory.met


def test_beside_a_busy_core_there_are_figures_and_no_goals() -> None:
    files = SETS["mixed"](0.001)
    busy = Scene(files, "disk", "warm", busy=1)
    played = [
        Run(busy, 1, name, Cost(wall, 1.0, 10.0))
        for name, wall in ((OURS, 2.0), ("cp -r", 1.0))
    ]
    (memory,) = goals_of(played)
    assert memory.what.startswith("MiB")
    assert "beside a busy core" in table(busy, played, {})


def test_a_busy_core_is_busy_until_the_program_has_ended() -> None:
    def seconds() -> float:
        usage = os.times()
        return usage.children_user + usage.children_system

    before = seconds()
    with busy_cores(1):
        time.sleep(0.2)
    assert seconds() > before  # the system adds it when the process has ended


def test_ours_that_fails_misses_a_goal() -> None:
    played = [Run(scene("mixed"), 1, OURS, Cost(0, 0, 0), "disk on fire")]
    (goal,) = goals_of(played)
    assert not goal.met
    assert "disk on fire" in str(goal)


@pytest.fixture
def tiers(tmp_path: Path) -> Iterator[list[str]]:
    """Options of a benchmark in two folders, which are empty afterwards."""
    folders = [tmp_path / name for name in ("disk", "memory")]
    for folder in folders:
        folder.mkdir()
    words = ["--scale", "0.001", "--src", "tmpfs"]
    yield [*words, "--disk", str(folders[0]), "--tmpfs", str(folders[1])]
    assert not any(file for folder in folders for file in folder.iterdir())


def test_a_stopped_benchmark_leaves_nothing(tmp_path: Path, tiers: list[str]) -> None:
    """While pegasus-transfer, played by a sleep, does its work."""
    python = tmp_path / "peers/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 60\n")
    python.chmod(0o755)
    words = ["--sets", "small", "--pegasus-transfer", f"{tmp_path}/peers"]
    argv = [sys.executable, "-m", "benchmarks.staging", *tiers, *words]
    bench = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() and bench.poll() is None:
        time.sleep(0.05)
    bench.terminate()
    assert bench.wait(120) == 1
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_all_of_it(
    tmp_path: Path, tiers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A thousandth of the sets: each scene has its table, nothing is left."""
    words = [*tiers, "--rounds", "2", "--sets", "small", "many"]
    status = main([*words, "--pegasus-transfer", "nowhere"])
    output = capsys.readouterr().out
    assert status == (1 if "MISSED" in output else 0)
    assert output.count(f"\n{OURS} ") == 2
    assert f"\n{UNVERIFIED} " in output and "\ncp -r " in output
    assert "FAILED" not in output
    assert f"{PEGASUS:26} not at nowhere" in output
