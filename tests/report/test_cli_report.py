"""pegasus-bb report, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.report import command as report
from pegasus_bb.core.errors import UsageError
from tests.report.sample_runs import RECORDED


@pytest.mark.parametrize("side", ["--pfs", "--bb"])
def test_a_run_is_no_repetition_of_itself(tmp_path: Path, side: str) -> None:
    run = RECORDED / "gated"
    link = tmp_path / "link"
    link.symlink_to(run)
    options = ["--pfs", str(run), "--bb", str(run), side, str(link)]
    result = CliRunner().invoke(report, options)
    assert isinstance(result.exception, UsageError)
    assert f"{side} {link}: the same as {side} {run}" in str(result.exception)
