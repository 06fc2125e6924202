"""pegasus-plan is started while a long workflow is still being read."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import ryaml

from pegasus_bb.planner.pegasus.ahead import LONG
from tests.planner.pegasus_user import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    write_long(user, json.loads((user.work / "workflow.yml").read_text()))
    return user


def write_long(user: User, workflow: dict[str, object]) -> None:
    text = ryaml.dumps(workflow) + "# and so on\n" * (LONG // 10)
    assert "\nname: " in text
    (user.work / "workflow.yml").write_text(text)


def plan_slowly(
    user: User, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """The site catalog cannot be read before pegasus-plan has begun."""
    late, over = user.work / "late.yml", threading.Event()
    os.mkfifo(late)
    answering = threading.Thread(target=answer, args=(user, late, over))
    answering.start()
    try:
        catalog = "-Dpegasus.catalog.site.file=late.yml"
        return user.on_tier(catalog, *words, **more)
    finally:
        over.set()
        answering.join()
        late.unlink()


def answer(user: User, late: Path, over: threading.Event) -> None:
    """Give whoever opens ``late`` the site catalog: where all begins anew it is read
    twice."""
    sites, started = (user.work / "sites.yml").read_bytes(), user.root / "calls.began"
    while not over.wait(0.01):
        if started.exists():
            with contextlib.suppress(OSError):  # nobody wants to read it, or any more
                pipe = os.open(late, os.O_WRONLY | os.O_NONBLOCK)
                with os.fdopen(pipe, "wb") as out:
                    out.write(sites)
                over.wait(0.2)  # who has read it closes it


def began(user: User) -> list[str]:
    """What the workflow was whenever pegasus-plan began."""
    return [line.split()[0] for line in processes(user)]


def processes(user: User) -> list[str]:
    return (user.root / "calls.began").read_text().splitlines()


def test_it_is_started_before_the_workflow_is_written(user: User) -> None:
    done = plan_slowly(user)
    assert done.returncode == 0, done.stderr
    assert began(user) == ["pipe"]
    assert len(user.read("planned/workflow.yml")["jobs"]) == 4
    assert stat.S_ISREG((user.submit / "bb/planned/workflow.yml").stat().st_mode)
    assert (user.submit / "bb" / "bin" / "gate").exists()


def test_a_short_workflow_is_written_before(user: User) -> None:
    (user.work / "workflow.yml").write_text(
        (user.work / "workflow.yml").read_text().replace("# and so on\n", "")
    )
    assert user.on_tier().returncode == 0
    assert began(user) == ["file"]


def test_both_ways_come_to_the_same(user: User) -> None:
    def planned() -> dict[str, str]:
        request = user.read("request.json")
        return {
            str(file.relative_to(user.submit)): file.read_text()
            .replace(request["uuid"], "UUID")
            .replace(request["name"], "NAME")
            .replace(f"r-{request['uuid'][:8]}", "R")
            for file in user.submit.rglob("*")
            if file.is_file() and not {"bin", "lib"} & set(file.parts)
        }

    assert plan_slowly(user).returncode == 0
    ahead = planned()
    # Whoever moves a run aside waits.
    again = user.on_tier("-Dpegasus.catalog.site.file=sites.yml", "--force")
    assert again.returncode == 0
    assert began(user) == ["pipe", "file"]
    assert planned() == ahead


def test_a_planner_that_reads_it_only_once_reads_all(user: User) -> None:
    assert plan_slowly(user, FAKE_READS_ONCE="1").returncode == 0
    assert began(user) == ["pipe"]


def test_a_mistake_of_the_users_ends_it_and_leaves_nothing(user: User) -> None:
    sites = user.work / "sites.yml"
    sites.write_text(sites.read_text().replace("10MiB", "a lot"))
    done = plan_slowly(user)
    assert done.returncode == 2
    assert "a lot" in done.stderr
    assert not (user.work / "submit").exists()
    (process,) = processes(user)
    with pytest.raises(ProcessLookupError):
        os.kill(int(process.split()[1]), 0)


def test_a_name_that_reads_otherwise_is_planned_as_it_reads(user: User) -> None:
    workflow = user.work / "workflow.yml"
    text = workflow.read_text()
    workflow.write_text(text.replace("name: demo\n", "name: 0x10\n", 1))
    done = plan_slowly(user)
    assert done.returncode == 0, done.stderr
    assert began(user) == ["pipe", "file"]
    assert user.read("planned/workflow.yml")["name"] == 16
    with pytest.raises(ProcessLookupError):
        os.kill(int(processes(user)[0].split()[1]), 0)


def test_a_planner_that_wants_a_file_gets_one(user: User) -> None:
    done = plan_slowly(user, FAKE_WANTS_A_FILE="1")
    assert done.returncode == 0, done.stderr
    assert began(user) == ["pipe", "file"]
    assert len(user.read("planned/workflow.yml")["jobs"]) == 4


def test_its_failure_is_told_once_and_leaves_nothing(user: User) -> None:
    done = plan_slowly(user, FAKE_FAILS="1")
    assert done.returncode == 2
    assert done.stderr.count("FATAL: as the test wants it") == 1
    assert "pegasus-plan ended with exit status 1" in done.stderr
    assert not (user.work / "submit").exists()


def test_what_fails_after_the_reading_is_not_tried_again(user: User) -> None:
    done = user.on_tier(FAKE_FAILS="late", FAKE_COMES_LATE="1")
    assert done.returncode == 2
    assert done.stderr.count("FATAL: as the test wants it") == 1
    assert len(began(user)) == 1


def test_killed_it_leaves_nobody_who_waits_for_ever(user: User) -> None:
    """Who opens a pipe that nobody will write waits for ever."""
    os.mkfifo(user.work / "sites.fifo")
    given = "--sites cori --dir submit --bb-mode persistent"
    site = "-Dpegasus.catalog.site.file=sites.fifo"
    planning = user.start(*given.split(), site, "workflow.yml", FAKE_COMES_LATE="1")
    wait_for(lambda: (user.root / "calls.began").exists() and bool(began(user)))
    planning.kill()
    assert planning.wait() == -signal.SIGKILL
    wait_for(lambda: not is_there(int(processes(user)[0].split()[1])))
    wait_for(lambda: not any(p.is_fifo() for p in user.work.glob("submit/**/*")))


def is_there(process: int) -> bool:
    """And is no zombie, which a container without init keeps."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)
