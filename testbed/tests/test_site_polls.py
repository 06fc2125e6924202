"""However many jobs wait for the reservation, one look per poll is taken."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ON_SECOND, SlurmSite
from testbed.tests.workflow_runner import WorkflowRunner

pytestmark = [pytest.mark.site, ON_SECOND]
ROOTS = 1000
# seconds
POLLS = 3
POLL = 6.0
# Of a busy machine: gate's start, DAGMan's pass over its nodes (1 s), the submission,
# and whole seconds in what Slurm and DAGMan note. With it, still under two intervals.
ALLOWED = 5.0
PROGRAMS = ("scontrol", "squeue")

_FIRST = re.compile(r"^([0-9]+) create_dir\S* SUBMIT ", re.MULTILINE)

# In front of the real one; a line per call with its caller, written by one write each.
COUNTER = """#!/bin/sh
echo "$PPID {program}" >> {log}
exec /usr/bin/{program} "$@"
"""


@pytest.fixture
def calls(home: Home) -> Iterator[Path]:
    """The file with a line per call of Slurm's programs that only ask."""
    log = home.work / "dagman-tests" / "slurm.calls"
    log.parent.mkdir(exist_ok=True)
    log.write_text("")
    log.chmod(0o666)
    stand_ins = [home.root / "usr" / "local" / "bin" / name for name in PROGRAMS]
    for path in stand_ins:
        path.write_text(COUNTER.format(program=path.name, log=log))
        path.chmod(0o755)
    try:
        yield log
    finally:
        for path in stand_ins:
            path.unlink()


def test_a_thousand_jobs_ask_no_more_than_one_and_start_within_one_interval(
    submit_host: SlurmSite, home: Home, calls: Path
) -> None:
    submit_host.hold("other", "filler", 1024 << 20)
    runner = WorkflowRunner(home, "roots", 1)
    workflow = runner.document("workflow.yml")
    [job] = workflow["jobs"]
    workflow["jobs"] = [task(job, number) for number in range(ROOTS)]
    runner.save("workflow.yml", workflow)
    words = ("--bb-mode", "persistent", "--bb-capacity", "900MiB", "--bb-poll", "6s")
    submit = runner.planned("bb", *words)
    run = runner.start("bb")
    run.until((submit / "bb" / "gate.json").exists)
    calls.write_text("")
    begun = time.monotonic()
    run.until(lambda: len(asked(calls, "scontrol")) >= POLLS)
    polls = asked(calls, "scontrol")
    took = time.monotonic() - begun
    # A caller is a poll: it asks once each, whatever waits behind it.
    assert len(set(polls)) == len(polls) <= took / POLL + 2, (polls, took)
    assert max(Counter(asked(calls, "squeue")).values(), default=1) == 1

    submit_host.give_back("other", "filler")
    room = time.time()
    name = runner.reservation("bb")
    journal = submit / "jobstate.log"
    up = max(room, run.until(lambda: submit_host.buffers().get(name)).created)
    first = run.until(lambda: re.search(_FIRST, journal.read_text()))
    assert float(first[1]) - up <= POLL + ALLOWED < 2 * POLL
    runner.ask("condor_rm", "wfuser")
    assert run.end(60).status == 130


def asked(calls: Path, program: str) -> list[str]:
    """The callers of the program."""
    lines = [line.split() for line in calls.read_text().splitlines()]
    return [caller for caller, called in lines if called == program]


def task(job: dict[str, Any], number: int) -> Any:
    """One more root job, with a result of its own."""
    text = json.dumps(job).replace('"A"', f'"A{number}"')
    return json.loads(text.replace("a.dat", f"a{number}.dat"))
