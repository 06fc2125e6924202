"""pegasus-bb report, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.report import command as report
from pegasus_bb.core.errors import UsageError
from tests.report.made import RECORDED


def test_two_submit_directories_are_compared(tmp_path: Path) -> None:
    run, out = str(RECORDED / "gated"), tmp_path / "report.json"
    again = str(copytree(run, tmp_path / "again"))
    result = CliRunner().invoke(
        report, ["--pfs", run, "--bb", run, "--bb", again, "--json", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert "cat1" in result.output
    assert json.loads(out.read_bytes())["workflow"]["makespan"]["bb"]["n"] == 2


@pytest.mark.parametrize("side", ["--pfs", "--bb"])
def test_a_run_is_no_repetition_of_itself(tmp_path: Path, side: str) -> None:
    run, link = RECORDED / "gated", tmp_path / "link"
    link.symlink_to(run)
    options = ["--pfs", str(run), "--bb", str(run), side, str(link)]
    result = CliRunner().invoke(report, options)
    assert isinstance(result.exception, UsageError)
    assert f"{side} {link}: the same as {side} {run}" in str(result.exception)


@pytest.mark.parametrize("side", ["--pfs", "--bb"])
def test_one_side_alone_is_reported(tmp_path: Path, side: str) -> None:
    out = tmp_path / "report.json"
    options = [side, str(RECORDED / "gated"), "--json", str(out)]
    result = CliRunner().invoke(report, options)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("The run on the ")
    document = json.loads(out.read_bytes())
    assert len(document["runs"][side.strip("-")]) == 1
    assert document["break_even"] is None


def test_a_report_of_nothing_is_a_usage_error() -> None:
    result = CliRunner().invoke(report, [])
    assert isinstance(result.exception, UsageError)
    assert "--pfs PATH, --bb PATH" in str(result.exception)


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    result = CliRunner().invoke(report, ["--pfs", missing, "--bb", missing])
    assert isinstance(result.exception, UsageError)


def test_a_slip_in_the_name_of_a_run_is_told() -> None:
    result = CliRunner().invoke(report, ["--bb", str(RECORDED / "gatd")])
    assert f"did you mean {RECORDED / 'gated'}?" in str(result.exception)


def test_a_run_without_its_side_is_told_how_to_say_it() -> None:
    result = CliRunner().invoke(report, ["run0001"])
    assert isinstance(result.exception, UsageError)
    assert "run0001: say on which storage it ran: --pfs run0001 or" in str(
        result.exception
    )


def test_json_goes_alone_to_standard_output(tmp_path: Path) -> None:
    run = str(RECORDED / "gated")
    result = CliRunner().invoke(report, ["--bb", run, "--json", "-"])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["runs"]["bb"]) == 1


@pytest.mark.parametrize("columns", ["60", "180"])
def test_the_width_is_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    run = str(RECORDED / "gated")
    again = str(copytree(run, tmp_path / "again"))
    result = CliRunner().invoke(report, ["--pfs", run, "--bb", run, "--bb", again])
    notes = [line for line in result.output.splitlines() if line.startswith("note:")]
    assert (max(map(len, notes)) > 100) is (columns == "180")


def test_the_page_is_written_beside_the_json(tmp_path: Path) -> None:
    run, html = str(RECORDED / "gated"), tmp_path / "report.html"
    result = CliRunner().invoke(
        report, ["--pfs", run, "--bb", run, "--html", str(html)]
    )
    assert result.exit_code == 0, result.output
    assert result.output.endswith(f"drawn: {html}\n")
    assert "cat1_ID0000002" in html.read_text()


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_page_without_its_libraries_names_the_pip_command(
    tmp_path: Path, library: str
) -> None:
    run, html = str(RECORDED / "gated"), tmp_path / "report.html"
    program = (
        f"import sys; sys.modules[{library!r}] = None; "
        "from pegasus_bb.cli import main; main()"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", program),
            *("report", "--pfs", run, "--bb", run, "--html", str(html)),
        ],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, html.exists()) == (2, "", False)
    assert "a page needs altair and vl-convert-python" in done.stderr
    assert "-m pip install altair vl-convert-python" in done.stderr


def test_a_bad_benchmark_leaves_nothing_behind(tmp_path: Path) -> None:
    run, html, bench = str(RECORDED / "gated"), tmp_path / "r.html", tmp_path / "b.json"
    bench.write_text("[]")
    options = ["--pfs", run, "--bb", run, "--html", str(html), "--bench", str(bench)]
    result = CliRunner().invoke(report, options)
    assert isinstance(result.exception, UsageError)
    assert not html.exists()


def test_a_run_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.out.000").write_text("- invocation: True\n  mainjob: {\n")
    done = CliRunner().invoke(report, ["--bb", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert "none of its records can be read" in str(done.exception)
    assert "a.out.000" in str(done.exception)
