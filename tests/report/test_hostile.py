"""Submit directories that are damaged, or made to do harm."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.report import command as report
from pegasus_bb.report.run_folder import read_run
from tests.report.sample_runs import record_text
from tests.support.page_html import chart_texts, without_scripts

# What a terminal obeys, what turns the direction of writing, what no output takes.
UNSEEN = re.compile(r"[^\S \n]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028\ud800-\udfff]")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    jobs = tmp_path / "run" / "00"
    jobs.mkdir(parents=True)
    (jobs / "cat_ID1.sub").touch()
    (jobs / "cat_ID1.out.000").write_text(record_text())
    return tmp_path / "run"


def compared(run: Path) -> tuple[str, dict[str, Any], str]:
    """What is printed, the JSON, and all that the page shows."""
    page = run.parent / "r.html"
    out = run.parent / "r.json"
    options = ["--pfs", str(run), "--bb", str(run)]
    result = CliRunner().invoke(
        report, [*options, "--json", str(out), "--html", str(page)]
    )
    assert result.exit_code == 0, result.exception
    text = page.read_text()
    shown = "\n".join((without_scripts(text), *chart_texts(text)))
    return result.output, json.loads(out.read_bytes()), shown


@pytest.mark.parametrize(
    "name",
    [
        "a\\e[2Jb",  # in YAML's double quotes: escape
        "a\\u202Eb",
        "a\\nb",
        "a\\u2028b",
        "a\\0b",
        "[bold]a[/bold]",
        "</title><script>alert(1)</script>",
    ],
)
def test_a_name_is_shown_as_text_wherever_it_stands(run: Path, name: str) -> None:
    (run / "00/cat_ID1.out.000").write_text(record_text(name, job=name))
    (run / "braindump.yml").write_text(f'dax_label: "{name}"\n')
    text, document, page = compared(run)
    assert not UNSEEN.search(text)
    assert not UNSEEN.search(page)
    assert "<title></title>" not in page
    assert "[bold]" in text or "bold" not in name
    (row,) = document["compute"]
    as_json = name.replace("\\e", "\\u001b").replace("\\0", "\\u0000")
    assert row["name"] == json.loads(f'"{as_json}"')


def test_clocks_that_jump_make_no_time_negative(run: Path) -> None:
    later = record_text(job="ID2").replace("18:54:54", "03:00:00")
    (run / "00/cat_ID2.out.000").write_text(later)
    (run / "jobstate.log").write_text(
        "900 INTERNAL *** DAGMAN_STARTED 1.0 ***\n"
        "905 cat_ID1 SUBMIT 1.0 c - 1\n"
        "400 cat_ID1 EXECUTE 1.0 c - 1\n"
        "300 cat_ID1 JOB_SUCCESS 0 c - 1\n"
        "200 INTERNAL *** DAGMAN_FINISHED 0 ***\n"
    )
    found = read_run(run)
    assert found.makespan == 5
    assert found.nodes[0].queue == 0
    compared(run)


def test_pipes_and_links_that_lead_to_themselves_are_no_records(run: Path) -> None:
    os.mkfifo(run / "00/pig_ID3.out.000")
    (run / "00/dog_ID2.out.000").symlink_to("dog_ID2.out.000")
    (run / "00/up").symlink_to(run)
    found = read_run(run)
    assert (len(found.tasks), found.retries) == (1, 0)


@pytest.mark.parametrize("text", ["[" * 100_000, "a: &a [*a]"])
@pytest.mark.parametrize("name", ["braindump.yml", "workflow.yml"])
def test_yaml_without_end_costs_what_it_would_tell(
    run: Path, name: str, text: str
) -> None:
    (run / name).write_text(text)
    assert len(read_run(run).tasks) == 1
