"""The slurm-lua backend keeps the promise, on the service's own answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from tests.runtime.backends.contract import REQUEST, Contract, ready
from tests.runtime.backends.fakelua.site import asked

FAKE = Path(__file__).parent / "fakelua"
OTHER = 61001


class LuaBench:
    """A site of one pool of 1 GiB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.backend = SlurmLua({"timeout": "5", "poll": "0"})

    def occupy(self, name: str) -> str:
        words = (f"name={name}", f"capacity={4 * MIB}", "uuid=theirs")
        asked(self.folder, OTHER, "create", *words)
        return str(OTHER)

    def fill(self) -> None:
        words = ("name=filler", f"capacity={1000 * MIB}", "uuid=theirs")
        asked(self.folder, OTHER, "create", *words)

    def free(self) -> None:
        asked(self.folder, OTHER, "delete", "name=filler")

    def go_down(self) -> None:
        (self.folder / "down").touch()

    def environ(self, request: Request) -> Mapping[str, str]:
        path = self.folder / "bb" / request.name
        return {f"BB_PERSISTENT_{request.name}": str(path)}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LuaBench:
    monkeypatch.setenv("FAKE_SITE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{FAKE}:{os.environ['PATH']}")
    return LuaBench(tmp_path)


class TestSlurmLua(Contract):
    """The contract suite."""


def says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, status: int = 0
) -> SlurmLua:
    program = folder / "scontrol"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{words}\nE\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return SlurmLua({})


@pytest.mark.parametrize(
    "words",
    [
        '{"v":1,"error":{"code":"away","message":"the staging service does not run"}}',
        '{"v":1,"error":{"code":"busy","message":"ask again"}}',
        '{"v":1,"error":{"code":"not-now","message":"x: No space left on device"}}',
        "Error running slurm_bb_get_status",
        '{"v":1,"ok":',
        "{}",
        '{"v":1,"ok":{}}',
        '{"v":1,"ok":null}',
        '{"v":1,"ok":{"buffer":{"name":"pbb4f1c2a9e"}}}',
    ],
)
def test_a_service_that_is_away_is_not_an_absent_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    backend = says(tmp_path, monkeypatch, words)
    assert backend.status(REQUEST).state is State.UNKNOWN
    assert backend.list_reservations([REQUEST]).statuses[0].state is State.UNKNOWN
    if '"name"' not in words:  # a buffer of which nothing is known is asked to go
        with pytest.raises(SchedulerUnreachable):
            backend.delete(REQUEST)


@pytest.mark.parametrize("words", ["", "current count: 0", '[{"v":1}]'])
def test_a_slurm_without_our_hooks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    backend = says(tmp_path, monkeypatch, words)
    with pytest.raises(ReservationFailed, match="pegasus-bb site install"):
        backend.create(REQUEST)
    assert backend.status(REQUEST).state is State.FAILED


def test_another_version_of_the_service_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = says(tmp_path, monkeypatch, '{"v":2,"ok":{}}')
    with pytest.raises(ReservationFailed, match="speaks version 2"):
        backend.pools()


@pytest.mark.parametrize("pool", ["a b", "a\nb", "$(id)", "x;id"])
def test_a_word_that_could_be_read_as_more_never_reaches_scontrol(
    bench: LuaBench, pool: str
) -> None:
    with pytest.raises(ReservationFailed):
        bench.backend.create(replace(REQUEST, pool=pool))


def test_what_was_there_before_is_not_taken_for_ours(bench: LuaBench) -> None:
    ready(bench)
    folder = bench.folder / "bb" / REQUEST.name
    (folder / "of another").touch()
    with pytest.raises(ReservationFailed, match="identity of no run"):
        bench.backend.path(REQUEST, bench.environ(REQUEST))


def test_the_submit_host_asks_where_the_buffer_is(bench: LuaBench) -> None:
    ready(bench)
    [path] = bench.environ(REQUEST).values()
    on_the_submit_host = SlurmLua({"service": "/run/pegasus-bb"})
    assert on_the_submit_host.path(REQUEST, {}) == path
    with pytest.raises(ReservationFailed, match="is not set in this job"):
        on_the_submit_host.path(REQUEST, {"SLURM_JOB_ID": "7"})
    with pytest.raises(ReservationFailed, match="is not set in this job"):
        bench.backend.path(REQUEST, {})


def test_a_buffer_that_is_not_ready_has_no_path(bench: LuaBench) -> None:
    backend = SlurmLua({"service": "/run/pegasus-bb"})
    with pytest.raises(ReservationFailed, match="it is absent"):
        backend.path(REQUEST, {})
    bench.fill()
    backend.create(REQUEST)
    with pytest.raises(ReservationFailed, match=r"it is pending; .* waits for 100"):
        backend.path(REQUEST, {})
