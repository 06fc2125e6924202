"""A job with 20,000 directives holds up no other client of the service."""

from __future__ import annotations

import pytest

from pegasus_bb.stager.slurm import job as module
from pegasus_bb.stager.slurm.directives import Directives, parse_directives
from pegasus_bb.stager.slurm.hook_request import HookRequest
from pegasus_bb.stager.slurm.job import SlurmJob as Record
from tests.support.stager import SUCCESS, Job, SlurmSite

MANY = 20_000


def test_they_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of a job's life asks for them, and each note of a hook has them."""
    calls: list[int] = []

    def counted(lines: list[str]) -> Directives:
        calls.append(len(lines))
        return parse_directives(lines)

    def note(*lines: str) -> HookRequest:
        return HookRequest("token", "data_in", 0, 0, {}, [], list(lines))

    monkeypatch.setattr(module, "parse_directives", counted)
    job = Record(7, 0, 0)
    for _ in range(3):
        job.update_from(note("#BB_LUA persist use abc"))
        assert job.directives.uses == ["abc"]
    assert calls == [1]
    job.update_from(note("#BB_LUA persist use abc", "#BB_LUA persist use def"))
    assert job.directives.uses == ["abc", "def"]
    assert calls == [1, 2]
    assert all(not key.startswith("_") for key in job.as_json())


def test_the_service_answers_while_it_takes_them(site: SlurmSite) -> None:
    site.file("in")
    site.ask_control("pause")
    copies = [f"stage_in lustre://in job://{number}" for number in range(MANY)]
    job = Job(site, "jobbb capacity=2MiB pool=flash", *copies)
    info = {"burst_buffer": job.lines}
    words = (job.script, job.uid, job.uid, info)
    assert site.hooks.call("job_process", *words) == (SUCCESS, "")
    job.begin()
    with site.connect() as client, site.connect() as other:
        while len(client.status()) < MANY:
            assert other.ask("ping")["pid"]
        assert job.call("test_data_in") == (SUCCESS, "BUSY")
        job.tear_down(hurry=True)
        assert {task["state"] for task in client.status()} == {"cancelled"}
