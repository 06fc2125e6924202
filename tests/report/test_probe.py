"""What a competing program waited, while results left the tier and at other times."""

from __future__ import annotations

import json
import time
from pathlib import Path

from click.testing import CliRunner

from benchmarks.probe import probing
from pegasus_bb.cli.report import command as report
from pegasus_bb.model.run import Drained, Run
from pegasus_bb.report.probe import Sample, probed, read_probe, sentences
from tests.report.made import RECORDED

DRAINED = Run("demo", drained=Drained(100.0, 200.0, 1, 1.0, ()))


def log(path: Path, *samples: Sample) -> Path:
    entries = ({"time": s.time, "op": s.op, "latency": s.latency} for s in samples)
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return path


def test_calls_are_told_apart_by_when_they_were_and_what(tmp_path: Path) -> None:
    samples = (
        *(Sample(90.0, "read", 0.001), Sample(250.0, "read", 0.003)),
        *(Sample(150.0 + n / 100, "read", n / 100) for n in range(1, 101)),
        Sample(160.0, "write", 0.5),
    )
    found = probed(read_probe(log(tmp_path / "log", *samples)), [DRAINED])
    read, write = found
    assert read.during is not None and read.outside is not None
    assert (read.during.count, read.during.p50, read.during.p99) == (100, 0.5, 0.99)
    assert (read.outside.count, read.outside.p50, read.outside.p99) == (2, 0.001, 0.003)
    assert (write.op, write.outside) == ("write", None)
    assert list(sentences(found))[1:] == [
        "a competing read took 1.0 ms (p50), 3.0 ms (p99) at other times, 2 in all",
        "a competing write took 500.0 ms (p50), 500.0 ms (p99) while results left the "
        "tier, 1 in all",
    ]


def test_the_probe_of_the_benchmark_is_shown_by_a_report(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for op in ("read", "write"):
        with probing(op, tmp_path / "file", path):
            time.sleep(1.5)
    run, out = str(RECORDED / "gated"), tmp_path / "report.json"
    words = ["--pfs", run, "--bb", run, "--json", str(out), "--probe", str(path)]
    result = CliRunner().invoke(report, words)
    assert result.exit_code == 0, result.output
    assert "a competing read took" in result.output
    found = json.loads(out.read_bytes())["probe"]
    assert [each["op"] for each in found] == ["read", "write"]
    assert all(each["outside"]["count"] > 3 for each in found)
