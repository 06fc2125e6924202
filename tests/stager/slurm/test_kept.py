"""Results that were not saved when Slurm gave their job up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slurm_job import Job
from tests.support.slurm_stager import SlurmSite
from tests.support.waiting import until

OUT = "stage_out bb://Genomes/out lustre://out"


@pytest.fixture
def away(away: SlurmSite) -> SlurmSite:
    away.tidies_every = 0.2
    return away


def with_result(site: SlurmSite, *directives: str) -> Path:
    """A job that was given up."""
    result, job = failed(site, *directives)
    job.tear_down()
    return result


def failed(site: SlurmSite, *directives: str) -> tuple[Path, Job]:
    """The result of a job is in a persistent buffer, and a file is in the way of the
    copy."""
    (site.lustre / "out").mkdir()
    (site.lustre / "out" / "in the way").touch()
    job = Job(site, "persist store Genomes size=1MiB", *directives)
    job.stage_in()
    result = Path(job.run()["BB_PERSISTENT_Genomes"]) / "out"
    result.write_text("a result")
    words = job.fail_to_save()
    assert "Genomes/out" in words
    return result, job


def let_pass(site: SlurmSite) -> None:
    (site.lustre / "out" / "in the way").unlink()
    (site.lustre / "out").rmdir()


def test_its_buffer_is_not_removed_before_it_is_saved(site: SlurmSite) -> None:
    result = with_result(site, OUT)
    [row] = site.kept
    assert row["path"] == str(result.parent) and "Genomes/out" in row["message"]
    assert row["dests"] == ["lustre://out"]
    assert "ok" in site.ask("delete", "name=Genomes")
    for _ in range(2):  # a restart changes nothing
        assert site.kept == [row]
        assert result.read_text() == "a result"
        [buffer] = site.rows_of("buffers")
        assert buffer["state"] == "deleting"
        site.kill()
        site.serve()
        until(lambda: site.kept and site.kept[0]["message"] == row["message"])
    let_pass(site)
    until(lambda: site.rows_of("buffers") == [])
    assert site.saved == "a result"
    assert site.kept == [] and not result.exists()
