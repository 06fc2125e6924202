"""A database that is damaged is named and refused; no data is touched or lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slurm_job import OWN, STAGE_OUT, Job
from tests.support.slurm_stager import SlurmSite


@pytest.fixture
def result(site: SlurmSite) -> Path:
    """What a job has left; there is a buffer, too."""
    assert "ok" in site.ask("create", "name=data", "capacity=3MiB", "uuid=u1")
    (site.bb / "data" / "kept").write_text("of years")
    job = Job(site, OWN, STAGE_OUT)
    job.id = 7
    made = job.compute("a result") / "out"
    site.kill()
    return made


@pytest.mark.parametrize("kind", ["Buffer", "SlurmJob"])
def test_the_service_does_not_start_and_nothing_is_touched(
    site: SlurmSite, result: Path, kind: str
) -> None:
    [(text,)] = site.rows("SELECT record FROM records WHERE kind = ?", kind)
    repair = "UPDATE records SET record = ? WHERE kind = ?"
    site.change(repair, text[:40], kind)
    path = site.state / "tasks.sqlite"
    assert f"{path}: it is damaged" in site.refusal()
    assert result.read_text() == "a result"
    assert (site.bb / "data" / "kept").read_text() == "of years"
    site.change(repair, text, kind)  # an administrator had a copy
    site.serve()
    [buffer] = site.rows_of("buffers")
    assert (buffer["name"], buffer["state"]) == ("data", "ready")
    assert site.free == 5


def test_moved_away_its_folders_stay_and_no_other_gets_them(
    site: SlurmSite, result: Path
) -> None:
    state = site.state
    state.rename(site.folder / "damaged")
    site.serve()
    later = Job(site, OWN)
    later.id = 7
    later.stage_in()
    assert later.runs_in() != result.parent
    assert result.read_text() == "a result"
    again = site.ask("create", "name=data", "capacity=3MiB", "uuid=u1")
    assert again["ok"]["buffer"]["state"] == "ready"
    assert (site.bb / "data" / "kept").read_text() == "of years"


@pytest.mark.parametrize("name", ["tasks.jsonl", "buffers.json", "jobs"])
def test_what_only_an_earlier_version_reads_is_refused(
    away: SlurmSite, name: str
) -> None:
    left = away.folder / "var" / name
    left.mkdir(parents=True)
    assert f"{left}: an earlier version has left it" in away.refusal()
