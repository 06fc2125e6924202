"""A record that is damaged is named and refused; no data is touched or lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.stager.nodes.job_record import NodesRecord
from pegasus_bb.stager.nodes.node_attendant import NodeJob
from pegasus_bb.stager.slurm.job import SlurmJob as JobOfSlurm
from tests.support.stager import OWN, STAGE_OUT, Job, SlurmSite

DAMAGES = {
    "torn": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "an object": lambda text: "{}",
    "zeros": lambda text: "\0" * len(text),
    "null": lambda text: "null",
    "another type": lambda text: text.replace('"uid": 0', '"uid": "0"'),
    "half a character": lambda text: text.replace('"state": "', '"state": "\\ud800'),
    "another key": lambda text: text.replace('"folder":', '"fomder":'),
    "of strings": lambda text: text.replace('"readers": []', '"readers": ["x"]'),
}


def with_a_job_and_a_buffer(site: SlurmSite) -> Path:
    """Where the job's result is."""
    assert "ok" in site.ask("create", "name=data", "capacity=3MiB", "uuid=u1")
    (site.bb / "data" / "kept").write_text("of years")
    job = Job(site, OWN, STAGE_OUT)
    job.id = 7
    return job.compute("a result") / "out"


@pytest.mark.parametrize("name", ["buffers.json", "jobs/7.json"])
def test_the_service_does_not_start_and_nothing_is_touched(
    site: SlurmSite, name: str
) -> None:
    result = with_a_job_and_a_buffer(site)
    site.kill()
    path = site.folder / "var" / name
    text = path.read_text()
    for damage in DAMAGES.values():
        harmed = damage(text.replace(f'"uid": {os.getuid()}', '"uid": 0'))
        if harmed == text:
            continue
        path.write_text(harmed)
        assert f"{path} is damaged: " in site.refusal()
        assert path.read_text() == harmed
        assert result.read_text() == "a result"
        assert (site.bb / "data" / "kept").read_text() == "of years"
    path.write_text(text)  # an administrator had a copy
    site.serve()
    [buffer] = site.rows_of("buffers")
    assert (buffer["name"], buffer["state"]) == ("data", "ready")
    assert site.free == 5


@pytest.mark.parametrize("name", ["buffers.json", "jobs/7.json"])
def test_moved_away_its_folders_stay_and_no_other_gets_them(
    site: SlurmSite, name: str
) -> None:
    result = with_a_job_and_a_buffer(site)
    site.kill()
    (site.folder / "var" / name).rename(site.folder / "damaged")
    site.serve()
    later = Job(site, OWN)
    later.id = 8 if name == "buffers.json" else 7
    later.stage_in()
    assert Path(later.run()["BB_JOB"]) != result.parent
    assert result.read_text() == "a result"
    again = site.ask("create", "name=data", "capacity=3MiB", "uuid=u1")
    assert again["ok"]["buffer"]["state"] == "ready"
    assert (site.bb / "data" / "kept").read_text() == "of years"


def test_a_state_that_cannot_be_read_is_named(away: SlurmSite) -> None:
    jobs = away.folder / "var" / "jobs"
    jobs.parent.mkdir()
    jobs.touch()
    assert f"{jobs}: File exists" in away.refusal()


def test_a_record_of_an_earlier_or_a_later_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "7.json"
    whole = a_job().as_json()
    for more in ({}, {"of_a_later_version": 1}):
        path.write_text(json.dumps({**whole, **more}))
        assert JobOfSlurm.read(str(path)).number == 7
    del whole["buffers"]
    path.write_text(json.dumps(whole))
    assert JobOfSlurm.read(str(path)).buffers == []


def a_job() -> JobOfSlurm:
    return JobOfSlurm(7, 1000, 1000)


@pytest.mark.parametrize(
    ("read", "whole", "damaged"),
    [
        (NodesRecord.read, NodesRecord(a_job()).__dict__, {"hosts": "n1"}),
        (NodesRecord.read, NodesRecord(a_job()).__dict__, {"results": [["x", 1]]}),
        (NodeJob.read, NodeJob("job.7.1", 7, 0, 0).as_json(), {"answer": []}),
    ],
)
def test_records_of_nodes_are_refused_as_well(
    tmp_path: Path, read: Any, whole: dict[str, Any], damaged: dict[str, Any]
) -> None:
    path = tmp_path / "job.7.1.json"
    path.write_text(json.dumps(whole))
    assert read(str(path)).folder == whole["folder"]
    for text in ("", "{}", "[]", json.dumps({**whole, **damaged})):
        path.write_text(text)
        with pytest.raises(UsageError, match="is damaged"):
            read(str(path))
