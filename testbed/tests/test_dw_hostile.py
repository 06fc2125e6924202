"""dw_wlm_cli when things go wrong: attacks, crowds, kill -9, faults on request."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path

import pytest

from testbed.tests.conftest import MIB, UID, Dw
from tests.support.hostile_names import HOSTILE

NAMES = [*HOSTILE, "", " ", "..", ".hidden", "/etc", "../../etc/passwd"]
NAMES += ["--hurry", "a;id", "`id`", "a%u", "*", "\udcff"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_name_is_refused_and_leaves_nothing(dw: Dw, name: str) -> None:
    before = sorted(dw.place.root.rglob("*"))
    words = ["-c", "CLI", "-t", name, "-u", str(UID), "-C", f"wlm_pool:{MIB}"]
    dw.refused("create_persistent", *words)
    script = dw.script()
    dw.refused("teardown", "--token", name, "--job", script)
    dw.refused("paths", "--job", script, "--token", name, "--pathfile", "/tmp/x")
    dw.refused("real_size", "--token", name)
    after = sorted(dw.place.root.rglob("*"))
    new = {p.name for p in set(after) - set(before)}
    assert new <= {"calls.jsonl", "accounts.lock"}
    assert "'" not in dw.good("show_sessions")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--function",
        "--function ''",
        "--function destroy_persistent",
        "--function ../pools",
        "pools",
        "--function pools extra",
        "--function teardown",
        "--function teardown --token",
        "--function teardown --token a --token b",
        "--function teardown --token=a",
        "--function teardown --tok a",
        "--function create_persistent -c CLI -t a -u 0",
    ],
)
def test_a_call_that_slurm_never_makes_is_refused(dw: Dw, words: str) -> None:
    answer = dw.run(*shlex.split(words))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    "capacity",
    ["", "wlm_pool", "wlm_pool:", ":5", "wlm_pool:-1", "wlm_pool:1e9", "wlm_pool:1.5",
     "nopool:5", "../x:5", "wlm_pool:99999999999999999999", "wlm_pool:1:2",
     "wlm_pool:1XiB", "wlm_pool:999999999999999999PiB", "wlm_pool:1.5GiB"],
)  # fmt: skip
def test_a_hostile_capacity_is_refused(dw: Dw, capacity: str) -> None:
    dw.refused("create_persistent", "-t", "csb", "-u", str(UID), "-C", capacity)
    assert dw.tokens() == []


@pytest.mark.parametrize("path", ["", "x", "/no/such", "/dev/null", "/proc", "/etc"])
def test_a_script_that_is_no_script_is_refused(dw: Dw, path: str) -> None:
    dw.refused("job_process", "--job", path)


def test_a_path_file_that_is_a_link_is_not_followed(dw: Dw, tmp_path: Path) -> None:
    script = dw.script("#DW jobdw capacity=1MiB")
    dw.setup("3", script, MIB)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "path").symlink_to(victim)
    words = ["--job", script, "--token", "3", "--pathfile", str(tmp_path / "path")]
    dw.refused("paths", *words)
    assert victim.read_text() == "precious"


def test_jobs_and_buffers_cannot_take_each_others_names(dw: Dw) -> None:
    dw.create("csb")
    words = f"--token csb --caller SLURM --user {UID} --groupid 0"
    rest = ["--capacity", "wlm_pool:0", "--job", dw.script()]
    assert "already exists" in dw.refused("setup", *words.split(), *rest)
    assert "numbers are jobs" in dw.refused(*dw.create_words("12"))


# -- many at a time


def test_a_crowd_gets_what_there_is_and_not_more(dw: Dw) -> None:
    callers = [dw.start(*dw.create_words(f"b{n}", 200 * MIB)) for n in range(8)]
    said = [(p.communicate(timeout=30)[0], p.returncode) for p in callers]
    assert sorted(status for _, status in said) == [0] * 5 + [1] * 3
    assert all("no space left" in text for text, status in said if status)
    assert dw.free() == 24
    ids = {row["id"] for row in dw.show("instances") + dw.show("sessions")}
    assert len(ids) == 10


def test_the_same_name_asked_for_at_once_is_one_buffer(dw: Dw) -> None:
    callers = [dw.start(*dw.create_words("csb")) for _ in range(6)]
    assert [p.communicate(timeout=30)[0] for p in callers] == ["created\n"] * 6
    assert dw.tokens() == ["csb"]


# -- kill -9


def test_killed_while_it_waits_it_is_granted_nothing_and_locks_nothing(dw: Dw) -> None:
    dw.inject("create_persistent token=slow delay=60\n")
    process = dw.start(*dw.create_words("slow"))
    time.sleep(0.1)
    process.kill()
    process.communicate()
    assert dw.tokens() == []
    assert dw.create("csb") == "created\n"


def test_killed_at_any_moment_the_accounts_are_whole(dw: Dw) -> None:
    for turn in range(8):
        process = dw.start(*dw.create_words(f"b{turn}", MIB))
        time.sleep(0.01 + turn * 0.012)
        process.kill()
        process.communicate()
        held = {i["links"]["session"] for i in dw.show("instances")}
        assert held == {s["id"] for s in dw.show("sessions")}
    for token in dw.tokens():
        dw.good("teardown", "--token", token)
    dw.create("last")
    assert dw.free() == 924
    assert len(list(dw.place.buffers.iterdir())) == 1


def test_what_a_killed_call_left_is_cleared_away(dw: Dw) -> None:
    """As if killed between making the folder and writing the accounts."""
    (dw.place.buffers / "2" / "striped").mkdir(parents=True)
    (dw.place.buffers / "2" / "striped" / "old").write_text("another's data")
    dw.create("csb")
    [instance] = dw.place.buffers.iterdir()
    assert list((instance / "striped").iterdir()) == []


def test_damaged_accounts_are_never_begun_anew(dw: Dw) -> None:
    dw.create("csb")
    dw.place.accounts.write_text("{")
    assert "not readable" in dw.refused("pools")
    assert "not readable" in dw.refused(*dw.create_words("other"))
    assert dw.place.accounts.read_text() == "{"


# -- faults on request


def test_a_failure_on_request_has_the_words_asked_for(dw: Dw) -> None:
    says = "dwsd: no space left on any server: 507"
    dw.inject(f"# why\ncreate_persistent token=boom says={says}\n")
    assert dw.refused(*dw.create_words("boom")) == f"{says}\n"
    assert dw.create("csb") == "created\n"


def test_a_failure_may_pass(dw: Dw) -> None:
    dw.inject("teardown times=2 exit=1\n")
    dw.create("csb")
    words = ["--token", "csb", "--job", dw.script()]
    dw.refused("teardown", *words)
    dw.refused("teardown", *words)
    dw.good("teardown", *words)


def test_a_lost_answer_leaves_the_work_done(dw: Dw) -> None:
    dw.inject("create_persistent times=1 after says=lost\n")
    assert dw.refused(*dw.create_words("csb")) == "lost\n"
    assert dw.tokens() == ["csb"]
    assert dw.create("csb") == "created\n"


def test_a_delay_on_request_holds_up_no_other_call(dw: Dw) -> None:
    dw.inject("create_persistent token=slow delay=0.5\n")
    slow = dw.start(*dw.create_words("slow"))
    assert dw.tokens() == []
    assert dw.create("quick") == "created\n"
    assert slow.communicate(timeout=10)[0] == "created\n"


def test_injected_faults_that_cannot_be_read_are_not_overlooked(dw: Dw) -> None:
    dw.inject("create_persistent, slowly please\n")
    assert "injected_faults:1" in dw.refused("pools")


def test_calls_that_change_something_are_noted(dw: Dw) -> None:
    dw.create("csb")
    dw.refused("teardown", "--token", "\udcff")
    dw.good("pools")
    lines = [json.loads(line) for line in dw.place.calls.read_text().splitlines()]
    assert [line["argv"][1] for line in lines] == ["create_persistent", "teardown"]
    assert [line["status"] for line in lines] == [0, 1]
