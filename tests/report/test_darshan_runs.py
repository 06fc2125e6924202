"""Runs with Darshan logs: both sides of the example are compared and learned from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.run import Problem
from pegasus_bb.report import darshan_counters
from pegasus_bb.report.learn import history_of
from pegasus_bb.report.run_folder import read_run
from tests.report.sample_runs import LOGGED, logged_run

# bytes of each of the two files of that kind
SGT = 24_000_000
HEADER = 48_064
ALL = 2 * (SGT + HEADER)


@pytest.mark.usefixtures("pydarshan")
@pytest.mark.parametrize("side", ["pfs", "bb"])
def test_ranks_wrote_every_byte_of_the_shared_files_once(side: str) -> None:
    run = logged_run(side)
    sgt = run.tasks[0]
    files = {file.name: (file.size, file.bytes_written) for file in sgt.files}
    assert run.problems == ()
    assert (sgt.transformation, sgt.exit_code) == ("sgt_generator", 0)
    assert sgt.calls is not None
    assert sgt.calls.written == ALL
    assert files == {
        **dict.fromkeys(("fx.sgt", "fy.sgt"), (SGT, SGT)),
        **dict.fromkeys(("fx.sgtheader", "fy.sgtheader"), (HEADER, HEADER)),
    }


@pytest.mark.usefixtures("pydarshan")
def test_planning_learns_from_a_log_what_no_record_says(tmp_path: Path) -> None:
    """Kickstart without -t counts no bytes; it looks at files that it is told of."""
    run = tmp_path / "run"
    shutil.copytree(LOGGED / "pfs", run)
    record = run / "00/00/sgt_generator_ID0000001.out.000"
    text = record.read_text().partition("\n  files:")[0]
    lines = (line for line in text.splitlines() if "char:" not in line)
    record.write_text("\n".join(lines))
    learned = history_of(read_run(run))
    past = learned.of("ID0000001", "sgt_generator")
    assert past is not None
    assert (past.read, past.written) == (21896, ALL)
    assert learned.sizes["fx.sgt"] == SGT


def test_without_pydarshan_the_records_are_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(darshan_counters, "find_spec", lambda _: None)
    run = read_run(LOGGED / "pfs")
    assert [task.transformation for task in run.tasks] == [
        "sgt_generator",
        "direct_synth",
    ]
    (problem,) = run.problems
    assert isinstance(problem, Problem)
    assert "-m pip install darshan" in problem.why
    with pytest.raises(UsageError, match="pip install"):
        read_run(LOGGED / "pfs" / "darshan")
