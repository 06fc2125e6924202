"""Darshan logs: PyDarshan's own samples, ours of the example, damaged ones.

Reading starts a process that imports PyDarshan, so one call reads all samples.
"""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

from pegasus_bb.model.run import Problem
from pegasus_bb.report import darshan_counters
from pegasus_bb.report.darshan_counters import Log, read_logs

MIB = 1 << 20


def shipped() -> Path:
    spec = util.find_spec("darshan")
    assert spec and spec.origin, "make setup installs PyDarshan"
    return Path(spec.origin).parent


def logs() -> dict[str, Log]:
    """PyDarshan's samples by name, without what follows `_id`."""
    found = {path.name: path for path in shipped().rglob("*.darshan")}
    wanted = ("example", "sample", "ior_hdf5")
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


@pytest.mark.usefixtures("pydarshan")
def test_each_log_says_what_darshan_itself_says() -> None:
    found = logs()
    for name, ranks, moved, rate, seconds in REFERENCE:
        posix = found[name].modules["POSIX"]
        assert posix.processes == ranks, name
        assert posix.read + posix.written == moved, name
        assert moved / MIB / posix.seconds == pytest.approx(rate, abs=0.001), name
        if seconds is not None:
            assert posix.seconds == pytest.approx(seconds, abs=0.001), name


@pytest.mark.usefixtures("pydarshan")
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


def test_a_reader_that_dies_costs_the_log_that_it_died_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = "import os, sys\nif 'b' in sys.argv[2:]: print('{\"why\": \"a\"}'); "
    monkeypatch.setattr(
        darshan_counters, "_READER", f"{story}sys.stdout.flush(); os.abort()\n"
    )
    a = Path("a")
    b = Path("b")
    c = Path("c")
    problems = list(read_logs([a, b]))
    assert [(p.file, p.why) for p in problems if isinstance(p, Problem)] == [
        ("a", "a"),
        ("b", "PyDarshan did not survive it: Aborted"),
    ]
    assert [type(entry) for entry in read_logs([c])] == [Problem]
