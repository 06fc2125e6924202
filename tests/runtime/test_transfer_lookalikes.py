"""Two files of a job list are never one file at their destination without a word."""

from __future__ import annotations

import json

import pytest

from pegasus_bb.runtime.programs import transfer
from pegasus_bb.runtime.transfers.transfer_jobs import read_jobs
from tests.support import job_lists
from tests.support.folding import Folding
from tests.support.run_site import Site

NAMES = ("README", "third", "readme")


@pytest.fixture
def folding(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Its folder for results takes upper and lower case for one."""
    monkeypatch.setenv("PEGASUS_BB_HELPER", "none")
    for name in NAMES:
        (site.scratch / name).write_text(name)
    Folding(site.out, str.lower, monkeypatch)
    return site


def test_a_stage_out_of_two_results_to_one_file_fails(
    folding: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {name: f"{folding.out}/{name}" for name in NAMES}
    folding.place(dict.fromkeys(NAMES, "bb write"), outputs)
    jobs = [
        job_lists.transfer(name, folding.scratch / name, folding.out / name)
        for name in NAMES
    ]
    for each in (jobs, jobs, jobs[2:]):  # the last one in a job of its own
        listed = read_jobs(json.dumps(each))
        assert transfer.run(folding.bbdir, listed, transfer.parse_options([]), {}) == 1
        said = capsys.readouterr().err
        assert "README, so one of the two is lost" in said and "third" not in said
    assert (folding.out / "README").read_text() == "README"
    assert (folding.out / "third").read_text() == "third"
