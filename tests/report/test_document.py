"""The JSON document: plain values, null for what is unknown, every number there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse, JobOnPfs, NodeTimes, Problem
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from tests.report.sample_runs import a_run, a_task, logged_run

PAGE = Path(__file__).parent.parent.parent / "docs" / "report.md"
SIDES = ("pfs", "bb")


def test_a_tasks_wait_has_the_meaning_that_the_document_names() -> None:
    derived = to_document(compare([a_run(a_task())], [a_run(a_task())]))
    counted = a_run(a_task(iowait=0.125))
    measured = to_document(compare([counted], [counted]))
    assert derived["io_wait"] == "off-cpu"
    assert derived["runs"]["bb"][0]["tasks"][0]["io_wait"] == pytest.approx(0.5)
    assert measured["io_wait"] == "measured"
    assert measured["runs"]["bb"][0]["tasks"][0]["io_wait"] == 0.125


@pytest.mark.usefixtures("pydarshan")
def test_the_page_describes_every_key() -> None:
    """Of a real run with Darshan's logs, and of all that is empty in it."""
    document = to_document(compare(*([logged_run(side)] for side in SIDES)))
    rich = a_run(
        a_task(files=(FileUse("a", "/a", bytes_read=1),)),
        **{"nodes": (NodeTimes("cat"),), "problems": (Problem("a", "torn"),)},
        fallback="refused",
        jobs_on_pfs=(JobOnPfs("a", "full", "n7", 1.0),),
    )
    page = set(re.findall(r"\w+", PAGE.read_text(encoding="utf-8")))
    assert document["darshan"]["files"]
    assert document["break_even"]
    empty = to_document(compare([rich], [rich]))
    missing = (keys_of(document) | keys_of(empty)) - page
    assert not missing, f"{PAGE.name} does not describe {missing}: add a row for each"


def keys_of(value: object) -> set[str]:
    """Every key at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()
