"""Whatever is in a request is answered or refused; no one waits for it in vain."""

from __future__ import annotations

import errno
import json
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from pegasus_bb.stager.slurm.job_life import Jobs
from pegasus_bb.stager.slurm.questions import Questions
from pegasus_bb.stager.slurm.spool import HOOKS, HookRequest, parse_request
from tests.crash.attend import attend
from tests.support.slurm_job import OWN, Job
from tests.support.slurm_stager import SlurmSite
from tests.support.stager import ME
from tests.support.waiting import until

HEAD = "job=7\nuid=0\ngid=0\n\n"
ODD = ["²", "७", "-1", "+1", "1_0", " 1", "", "x", "9" * 5000, "1e3", "nan", "\ud800"]


@pytest.mark.parametrize("key", ["uid", "gid", "job"])
@pytest.mark.parametrize("number", ODD)
def test_a_number_that_no_hook_writes_is_refused(key: str, number: str) -> None:
    lines = [line for line in HEAD.split("\n") if not line.startswith(key)]
    with pytest.raises(ValueError):
        parse_request("1.data_in", "\n".join(["do=data_in", f"{key}={number}", *lines]))


@pytest.mark.parametrize("number", [*ODD, "1" * 19 + ".5"])
def test_a_field_that_is_no_number_is_not_known(number: str) -> None:
    text = f"do=data_in\nstart_time={number}\n{HEAD}"
    request = parse_request(f"{number}.data_in", text)
    assert request.number("start_time") in (None, 1)
    assert request.noted_at > 1


def test_no_note_ends_the_service_or_stops_the_others(site: SlurmSite) -> None:
    requests = site.spool / "requests"
    for number, (hook, odd) in enumerate(product([*HOOKS, "dance"], ODD)):
        text = f"do={hook}\nsched_nodes=x\nstart_time={odd}\nnodes=n[1-{odd}]\n{HEAD}"
        path = requests / f"0000000001.{number}.{hook}"
        path.write_text(f"{text}#BB_LUA stage_in ../x y\n", errors="surrogatepass")
    (requests / "0000000001.a").write_bytes(b"\xff\x00 garbage")
    (requests / "0000000001.folder").mkdir()
    until(lambda: [path.name for path in requests.iterdir()] == ["0000000001.folder"])
    Job(site, OWN).stage_in()


class Broken:
    """In the place of everything that answers."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def fail(*_: Any) -> NoReturn:
            raise self._error

        return fail


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left", "/x"), "not-now", "/x: No space left"),
        (ValueError("a value"), "bug", "a value"),
        (RecursionError("deep"), "bug", "deep"),
        (KeyError("key"), "bug", "key"),
    ],
)
@pytest.mark.parametrize("verb", ["create name=x capacity=1 uuid=u", "list"])
def test_every_failure_is_an_answer(
    error: Exception, code: str, words: str, verb: str
) -> None:
    questions = Questions(*[cast(Any, Broken(error))] * 5)
    request = HookRequest("1.status.0", "status", ME, ME, {}, verb.split(), [])
    answer = json.loads(questions.answer(request))["error"]
    assert answer["code"] == code and words in answer["message"]


def test_a_disk_that_is_full_is_said_at_once_and_the_bell_is_free(
    site: SlurmSite,
) -> None:
    words = ("create", "name=data", "capacity=1MiB", "uuid=u1")
    site.limit_files(200)
    error = site.ask(*words)["error"]
    assert error["code"] == "not-now" and "tasks.sqlite: " in error["message"]
    assert list((site.spool / "bells").glob("*.taken")) == []
    site.limit_files()
    assert site.ask(*words)["ok"]["buffer"]["state"] == "ready"


def noted(site: Path, *names: str) -> None:
    """Notes of hooks, each JOB.HOOK, in this order."""
    requests = site / "spool" / "requests"
    requests.mkdir(parents=True, exist_ok=True)
    for folder in ("bb", "var"):
        (site / folder).mkdir()
    for number, name in enumerate(names):
        job, do = name.split(".")
        text = f"do={do}\njob={job}\nuid={ME}\ngid={ME}\n\n"
        (requests / f"{number}.{name}").write_text(text)


def test_what_is_noted_of_a_job_is_heeded_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of its notes cannot be heeded now: the second one waits as well."""
    heeded = []
    is_full = True

    def handle_request(_: Jobs, request: HookRequest) -> None:
        if is_full and request.token.endswith("7.data_in"):
            raise OSError(errno.ENOSPC, "No space left", "state")
        heeded.append((request.job, request.do))

    monkeypatch.setattr(Jobs, "handle_request", handle_request)
    noted(tmp_path, "7.data_in", "8.data_in", "7.teardown")
    assert attend(str(tmp_path)) == 2
    assert heeded == [(8, "data_in")]
    is_full = False
    assert attend(str(tmp_path)) == 0
    assert heeded[1:] == [(7, "data_in"), (7, "teardown")]
