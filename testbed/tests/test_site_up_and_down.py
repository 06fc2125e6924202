"""up, run, status and down of a real testbed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from pegasus_bb_testbed import namespace, site, testbed
from pegasus_bb_testbed.command import command
from pegasus_bb_testbed.home import Home

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.process import ask
from testbed.tests.shared_testbed import up
from testbed.tests.slurm_site import on_slurm
from tests.support.waiting import until

PROJECT = Path(__file__).parents[2]
_UP_AND_WAIT = """
import sys, time
from pathlib import Path
from pegasus_bb_testbed.home import flavour
from pegasus_bb_testbed.home import Home
from testbed.tests.shared_testbed import up
up(Home(flavour(sys.argv[2]), Path(sys.argv[1]).parent))
print("it is up", flush=True)
time.sleep(600)
"""

pytestmark = [pytest.mark.site, on_slurm("22.05")]


@pytest.fixture(autouse=True)
def is_up(home: Home) -> Iterator[None]:
    up(home)
    yield


def test_down_leaves_no_process_and_no_mount_and_up_takes_seconds(home: Home) -> None:
    inside = _inside(namespace.holder_of(home))
    assert testbed.down(home) is True
    assert testbed.down(home) is False
    assert not _still_there(inside)
    assert namespace.mounted_below(home.folder) == []
    assert testbed.status(home).holder is None
    begin = time.monotonic()
    assert up(home) is True
    assert time.monotonic() - begin < 30


def test_it_comes_up_with_no_job_and_no_buffer_of_the_last_time(home: Home) -> None:
    line = "#BB create_persistent name=old capacity=1MiB access_mode=striped"
    words = ["sbatch", "-o/dev/null", "-N0", f"--bb={line} type=scratch", "--wrap=true"]
    assert testbed.run(home, words) == 0
    assert testbed.run(home, ["touch", "kept"]) == 0
    testbed.down(home)
    up(home)
    answers = testbed.status(home).answers
    assert answers["Slurm jobs"] == ""
    assert "Allocated Buffers" not in answers["burst buffer"]
    assert answers["Slurm"].startswith(f"slurm-wlm {home.flavour.slurm}.")
    assert (home.work / "kept").exists()


@pytest.mark.parametrize("user", [*site.USERS, "root"])
def test_a_command_runs_as_its_user_and_ends_with_its_status(
    home: Home, user: str
) -> None:
    said = home.work / f"said-{user}"
    said.unlink(missing_ok=True)
    shell = f"id -un > {said}; pwd >> {said}; exit 7"
    assert testbed.run(home, ["bash", "-c", shell], user) == 7
    assert said.read_text().split() == [user, str(home.work)]
    assert said.stat().st_uid == site.USERS.get(user, 0)


def test_an_unknown_user_is_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="there are wfuser, other"):
        testbed.run(home, ["true"], "nobody")


def test_nothing_outside_is_reached(home: Home) -> None:
    answer = ask(namespace.inside(home, ["cat", "/proc/net/dev"]))
    devices = [line.split(":")[0].strip() for line in answer.out.splitlines()[2:]]
    assert devices[:1] == ["lo"]
    assert "eth0" not in devices


def test_the_command_line_tells_what_is_up(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGASUS_BB_TESTBED", str(home.folder.parent))
    words = ["--slurm", home.flavour.slurm, "status"]
    said = CliRunner().invoke(command, words).output
    assert re.search(r"up, [1-9]\d* processes below process \d+", said)
    assert "DefaultPool=wlm_pool" in said
    assert ("HTCondor" in said) is home.flavour.htcondor
    testbed.down(home)
    answer = CliRunner().invoke(command, words)
    assert (answer.exit_code, "down" in answer.output) == (1, True)


def test_a_start_that_fails_leaves_nothing_running(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    testbed.down(home)

    def fails(*_: object) -> None:
        assert namespace.holder_of(home) is not None
        raise KeyboardInterrupt

    monkeypatch.setattr(site, "start_daemons", fails)
    with pytest.raises(KeyboardInterrupt):
        up(home)
    assert namespace.holder_of(home) is None
    assert namespace.mounted_below(home.folder) == []


def test_it_goes_down_with_the_tests_that_brought_it_up(home: Home) -> None:
    testbed.down(home)
    words = [sys.executable, "-c", _UP_AND_WAIT, str(home.folder), home.flavour.slurm]
    tests = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=PROJECT)
    assert tests.stdout is not None
    while tests.stdout.readline() != "it is up\n":
        assert tests.poll() is None
    inside = _inside(namespace.holder_of(home))
    tests.kill()
    tests.wait()
    until(lambda: not _still_there(inside))
    assert namespace.holder_of(home) is None


def test_a_daemon_that_has_ended_is_named_and_started_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace.call(home, ["pkill", "-KILL", "-x", "slurmd"])
    until(lambda: testbed.status(home).dead == ["slurmd"])
    monkeypatch.setenv("PEGASUS_BB_TESTBED", str(home.folder.parent))
    words = ["--slurm", home.flavour.slurm, "status"]
    assert "ended: slurmd; `up` starts" in CliRunner().invoke(command, words).output
    assert up(home) is False
    assert testbed.status(home).dead == []


def test_half_a_site_that_a_killed_up_left_is_brought_up_anew(home: Home) -> None:
    state = json.loads(home.state.read_text())
    del state["whole"]
    home.state.write_text(json.dumps(state))
    assert up(home)
    assert namespace.holder_of(home) != state["pid"]
    assert namespace.call(home, ["sinfo", "-h"]).status == 0
    assert not up(home)


def _inside(holder: int | None) -> dict[int, str]:
    """The processes that share its process namespace, and when each began.

    The namespace's own number does not tell: it is soon another's.
    """
    assert holder is not None
    found = namespace.processes(holder)
    assert found
    return {number: namespace.start_time(number) for number in found}


def _still_there(before: dict[int, str]) -> list[int]:
    now = {number: namespace.start_time(number) for number in before}
    return [
        number for number, began in before.items() if began and now[number] == began
    ]
