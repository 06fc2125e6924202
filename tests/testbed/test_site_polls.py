"""However many jobs wait for the reservation, one question per poll is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import Desk, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]
ROOTS = 1000
POLLS, POLL = 5, 2.0  # as the desk plans it, seconds

# In front of the real one; a line per call, written by one write each.
COUNTER = """#!/bin/sh
echo "$*" >> {log}
exec /usr/bin/scontrol "$@"
"""


@pytest.fixture
def calls(home: Home) -> Iterator[Path]:
    """The file with the arguments of each call of scontrol."""
    log = home.work / "dagman-tests" / "scontrol.calls"
    log.parent.mkdir(exist_ok=True)
    log.write_text("")
    log.chmod(0o666)
    program = home.root / "usr" / "local" / "bin" / "scontrol"
    program.write_text(COUNTER.format(log=log))
    program.chmod(0o755)
    try:
        yield log
    finally:
        program.unlink()


def test_a_thousand_jobs_ask_no_more_than_one(
    submit_host: Site, home: Home, calls: Path
) -> None:
    submit_host.hold("other", "filler", 1024 << 20)
    asked = {roots: questions(home, roots, calls) for roots in (1, ROOTS)}
    # The moment of counting falls before or after a poll.
    assert abs(asked[1] - asked[ROOTS]) <= 2, asked
    assert 2 <= asked[ROOTS] <= 2 * POLLS + 2, asked  # a poll looks at buffer and job


def questions(home: Home, roots: int, calls: Path) -> int:
    """How often scontrol was called in the time of some polls."""
    desk = Desk(home, f"roots{roots}", jobs=1)
    workflow = desk.document("workflow.yml")
    [job] = workflow["jobs"]
    workflow["jobs"] = [task(job, number) for number in range(roots)]
    desk.save("workflow.yml", workflow)
    words = ("--bb-mode", "persistent", "--bb-capacity", "900MiB")
    submit = desk.planned("bb", *words)
    run = desk.start("bb")
    until((submit / "bb" / "gate.json").exists)
    calls.write_text("")
    time.sleep(POLLS * POLL)
    asked = len(calls.read_text().splitlines())
    desk.ask("condor_rm", "wfuser")
    assert run.end(60).status == 130
    return asked


def task(job: dict[str, Any], number: int) -> Any:
    """One more root job, with a result of its own."""
    text = json.dumps(job).replace('"A"', f'"A{number}"')
    return json.loads(text.replace("a.dat", f"a{number}.dat"))
