"""pegasus-bb report, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.report import command as report
from pegasus_bb.core.errors import UsageError
from tests.report.sample_runs import RECORDED


def test_two_submit_directories_are_compared(tmp_path: Path) -> None:
    run = str(RECORDED / "gated")
    out = tmp_path / "report.json"
    again = str(copytree(run, tmp_path / "again"))
    result = CliRunner().invoke(
        report, ["--pfs", run, "--bb", run, "--bb", again, "--json", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert "cat1" in result.output
    assert json.loads(out.read_bytes())["workflow"]["makespan"]["bb"]["n"] == 2


@pytest.mark.parametrize("side", ["--pfs", "--bb"])
def test_a_run_is_no_repetition_of_itself(tmp_path: Path, side: str) -> None:
    run = RECORDED / "gated"
    link = tmp_path / "link"
    link.symlink_to(run)
    options = ["--pfs", str(run), "--bb", str(run), side, str(link)]
    result = CliRunner().invoke(report, options)
    assert isinstance(result.exception, UsageError)
    assert f"{side} {link}: the same as {side} {run}" in str(result.exception)
