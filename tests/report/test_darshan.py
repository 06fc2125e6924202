"""Darshan logs: PyDarshan's own samples, ours of the example, damaged ones.

Reading starts a process that imports PyDarshan, so one call reads all samples.
"""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.process import ask
from pegasus_bb.model.run import Problem
from pegasus_bb.report import darshan_counters
from pegasus_bb.report.darshan_counters import Log, is_log, read_logs
from pegasus_bb.report.layers import LAYER_METRICS

MIB = 1 << 20


def shipped() -> Path:
    spec = util.find_spec("darshan")
    assert spec and spec.origin, "make setup installs PyDarshan"
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def logs() -> dict[str, Log]:
    """PyDarshan's samples by name, without what follows `_id`."""
    found = {path.name: path for path in shipped().rglob("*.darshan")}
    wanted = (
        "example",
        "sample",
        "ior_hdf5",
        "noposix",
        "pq_app_readAB",
        "shane_macsio",
    )
    paths = [path for name, path in found.items() if name.startswith(wanted)]
    read = [entry for entry in read_logs(paths) if isinstance(entry, Log)]
    return {Path(log.file).stem.partition("_id")[0]: log for log in read}


# What PyDarshan's own job_stats says of POSIX: processes, bytes, MiB per second of time
# in calls, that time.
REFERENCE = [
    ("example", 2048, 2199023259968, 24535.282, 85.475),
    ("sample", 2048, 2199023259968, 24535.282, 85.475),
    ("sample-goodost", 48, 51539607552, 13078.749, 3.758),
    ("sample-badost", 2048, 549755813888, 673.464, 778.494),
    ("ior_hdf5_example", 4, 8398304, 37.456, None),
]


@pytest.mark.parametrize(("name", "ranks", "moved", "rate", "seconds"), REFERENCE)
def test_a_log_says_what_darshan_itself_says(
    logs: dict[str, Log],
    name: str,
    ranks: int,
    moved: int,
    rate: float,
    seconds: float | None,
) -> None:
    log = logs[name]
    posix = log.modules["POSIX"]
    assert log.processes == ranks
    assert posix.read + posix.written == moved
    assert moved / MIB / posix.seconds == pytest.approx(rate, abs=0.001)
    assert seconds is None or posix.seconds == pytest.approx(seconds, abs=0.001)


@pytest.mark.parametrize("name", ["sample-goodost", "sample-badost", "shane_macsio"])
def test_times_by_process_agree_with_what_darshan_adds_up(
    logs: dict[str, Log], name: str
) -> None:
    """Files of one process and of all, so that the slowest is looked for over both."""
    posix = logs[name].modules["POSIX"]
    all_of_them = posix.read_time + posix.write_time + posix.meta_time
    assert all_of_them / posix.processes <= posix.seconds
    assert max(posix.slowest_read, posix.slowest_write) <= posix.seconds
    assert posix.slowest_read * posix.processes >= posix.read_time * 0.999
    assert posix.slowest_write * posix.processes >= posix.write_time * 0.999


@pytest.mark.parametrize("name", ["sample-goodost", "sample-badost"])
def test_what_a_process_did_beside_its_calls_makes_up_its_run_time(
    logs: dict[str, Log], name: str
) -> None:
    posix = logs[name].modules["POSIX"]
    parts = ("read_time", "write_time", "meta_time", "other_time")
    of = {metric.key: metric.of for metric in LAYER_METRICS}
    whole = sum(of[key](posix) or 0.0 for key in parts)
    assert whole == pytest.approx(logs[name].seconds)
    assert {layer.run_time for f in logs[name].files for layer in f.layers} == {None}


def test_each_file_has_the_times_of_its_layers(logs: dict[str, Log]) -> None:
    log = logs["sample"]
    layers = {layer.name: layer for file in log.files for layer in file.layers}
    assert set(layers) == {"POSIX", "MPI-IO"}
    assert layers["POSIX"].processes == log.processes
    assert layers["MPI-IO"].write_time == pytest.approx(
        log.modules["MPI-IO"].write_time
    )


def test_calls_that_move_no_bytes_are_counted_too(logs: dict[str, Log]) -> None:
    calls = logs["ior_hdf5_example"].calls
    assert calls is not None
    reads, writes, opens, stats = 36, 23 + 128, 22 + 1, 4  # of POSIX and STDIO
    assert (calls.data, calls.metadata) == (reads + writes, 2 * opens + stats)
    assert calls.meta_time == pytest.approx(0.02977, abs=1e-5)


def test_a_log_without_posix_has_what_stdio_saw(logs: dict[str, Log]) -> None:
    log = logs["noposix"]
    assert set(log.modules) == {"STDIO"}
    assert log.calls is not None
    assert log.calls.seconds == log.modules["STDIO"].seconds


def test_bytes_of_mpi_io_are_those_that_posix_moved_for_it(
    logs: dict[str, Log],
) -> None:
    log = logs["sample"]
    assert log.calls is not None
    parts = log.modules["POSIX"], log.modules["STDIO"]
    assert log.modules["MPI-IO"].written > 2**40
    assert log.calls.read == sum(part.read for part in parts)
    assert log.calls.written == sum(part.written for part in parts)
    assert log.calls.seconds == pytest.approx(sum(part.seconds for part in parts))


def test_of_a_file_whose_bytes_only_mpi_io_saw_those_count(
    logs: dict[str, Log],
) -> None:
    log = logs["pq_app_readAB_writeC"]
    files = {Path(file.path).name: file for file in log.files}
    assert (log.modules["POSIX"].written, log.modules["MPI-IO"].written) == (40, 8000)
    assert (files["C"].bytes_read, files["C"].bytes_written) == (0, 8000)
    assert (files["A"].bytes_read, files["A"].bytes_written) == (10000, 0)


def test_bytes_that_mpi_io_wrote_again_are_those_of_the_file(
    logs: dict[str, Log],
) -> None:
    log = logs["shane_macsio"]
    files = {Path(file.path).name: file for file in log.files}
    assert log.modules["MPI-IO"].written == 13286360
    assert files["macsio_hdf5_000.h5"].bytes_written == 54579416
    assert files["macsio_hdf5_000.h5"].size == 13286912


def test_a_file_of_all_ranks_and_one_of_a_single_rank_are_both_there(
    logs: dict[str, Log],
) -> None:
    """A shared record has the bytes of every rank; others are added up."""
    badost, ior = logs["sample-badost"], logs["ior_hdf5_example"]
    written = sum(file.bytes_written or 0 for file in badost.files)
    assert len(badost.files) == badost.processes + 1  # and what all of them read
    assert written == badost.modules["POSIX"].written
    assert [file.bytes_read for file in ior.files] == [ior.modules["POSIX"].read]


def test_a_log_may_have_any_name(tmp_path: Path) -> None:
    log = next(shipped().rglob("sample.darshan"))
    (tmp_path / "io").write_bytes(log.read_bytes())
    (tmp_path / "job.out").write_text("- invocation: True\n")
    assert is_log(tmp_path / "io")
    assert not is_log(tmp_path / "job.out")
    assert not is_log(tmp_path / "missing")


def test_damaged_logs_cost_only_themselves(tmp_path: Path) -> None:
    """Cut anywhere, or with other bytes anywhere: no number comes of it by chance."""
    data = next(shipped().rglob("ior_hdf5_example.darshan")).read_bytes()
    files = {"empty": b"", "text": b"hello\n", "00-whole": data, "zz-whole": data}
    for cut in range(1, 16):
        files[f"cut-{cut:02}"] = data[: len(data) * cut // 16]
    for at in range(1, 32):
        place = 1200 + (len(data) - 1200) * at // 32
        files[f"hit-{at:02}"] = data[:place] + b"\xff" * 40 + data[place + 40 :]
    paths = [tmp_path / f"{name}.darshan" for name in sorted(files)]
    for path in paths:
        path.write_bytes(files[path.stem])
    entries = {Path(entry.file).stem: entry for entry in read_logs(paths)}
    read = {name: e.calls for name, e in entries.items() if isinstance(e, Log)}
    assert len(entries) == len(paths)
    assert set(read.values()) == {read["00-whole"]}  # damaged where nothing is read
    assert "zz-whole" in read
    assert not {f"cut-0{n}" for n in range(1, 10)} & read.keys()
    assert all(e.why for e in entries.values() if isinstance(e, Problem))


def test_a_partial_log_says_what_it_saw_and_no_sum(tmp_path: Path) -> None:
    data = bytearray(next(shipped().rglob("ior_hdf5_example.darshan")).read_bytes())
    data[20] |= 1 << 1  # of the header of this version: POSIX had no room
    path = tmp_path / "a.darshan"
    path.write_bytes(data)
    problem, log = read_logs([path])
    assert isinstance(problem, Problem)
    assert problem.why.startswith("partial: Darshan had no room for all files (POSIX)")
    assert isinstance(log, Log)
    assert log.calls is None
    assert log.files


def test_a_reader_that_dies_costs_the_log_that_it_died_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = "import os, sys\nif 'b' in sys.argv[2:]: print('{\"why\": \"a\"}'); "
    monkeypatch.setattr(
        darshan_counters, "_READER", f"{story}sys.stdout.flush(); os.abort()\n"
    )
    a, b, c = Path("a"), Path("b"), Path("c")
    problems = list(read_logs([a, b]))
    assert [(p.file, p.why) for p in problems if isinstance(p, Problem)] == [
        ("a", "a"),
        ("b", "PyDarshan did not survive it: Aborted"),
    ]
    assert [type(entry) for entry in read_logs([c])] == [Problem]


def test_a_reader_that_never_starts_is_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(darshan_counters, "_READER", "import no_such_module\n")
    monkeypatch.setattr(
        darshan_counters,
        "ask",
        lambda argv, **rest: asked.append(argv) or ask(argv, **rest),
    )
    problems = list(read_logs([Path("a"), Path("b")]))
    assert len(asked) == 1
    assert [entry.file for entry in problems] == ["a", "b"]
    assert "No module named 'no_such_module'" in str(problems[1])


def test_without_pydarshan_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(darshan_counters, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="-m pip install darshan"):
        list(read_logs([tmp_path / "a.darshan"]))
