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


def test_its_buffer_is_not_removed_before_it_is_saved(site: SlurmSite) -> None:
    site.block()
    job = Job(site, "persist store Genomes size=1MiB", OUT)
    job.stage_in()
    result = Path(job.run()["BB_PERSISTENT_Genomes"]) / "out"
    result.write_text("a result")
    job.fail_to_save()
    job.tear_down()
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
    site.let_pass()
    until(lambda: site.rows_of("buffers") == [])
    assert site.saved == "a result"
    assert site.kept == [] and not result.exists()
