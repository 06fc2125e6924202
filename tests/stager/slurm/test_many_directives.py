"""A job with 20,000 directives holds up no other client of the service."""

from __future__ import annotations

from tests.support.stager import SUCCESS, Job, SlurmSite

MANY = 20_000


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
        assert job.is_busy("in")
        job.tear_down(hurry=True)
        assert {task["state"] for task in client.status()} == {"cancelled"}
