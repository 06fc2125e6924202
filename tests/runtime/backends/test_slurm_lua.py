"""The slurm-lua backend keeps the promise, on the service's own answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from tests.support.backend_contract import REQUEST, Contract, ready
from tests.support.datawarp_bench import play
from tests.support.lua_bench import LuaBench, bench

__all__ = ["bench"]


class TestSlurmLua(Contract):
    """The contract suite."""


def says(folder: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> SlurmLua:
    play("scontrol", f"cat <<'E'\n{words}\nE", folder, monkeypatch)
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


@pytest.mark.parametrize("pool", ["a b", "a\nb", "$(id)", "x;id"])
def test_a_word_that_could_be_read_as_more_never_reaches_scontrol(
    bench: LuaBench, pool: str
) -> None:
    with pytest.raises(ReservationFailed):
        bench.backend.create(REQUEST._replace(pool=pool))


def test_what_was_there_before_is_not_taken_for_ours(bench: LuaBench) -> None:
    ready(bench)
    folder = bench.folder / "bb" / REQUEST.name
    (folder / "of another").touch()
    with pytest.raises(ReservationFailed, match="identity of no run"):
        bench.backend.path(REQUEST, bench.environ(REQUEST))


def test_a_buffer_that_is_not_ready_has_no_path(bench: LuaBench) -> None:
    backend = SlurmLua({"service": "/run/pegasus-bb"})
    with pytest.raises(ReservationFailed, match="it is absent"):
        backend.path(REQUEST, {})
    bench.fill()
    backend.create(REQUEST)
    with pytest.raises(ReservationFailed, match=r"it is pending; .* waits for 100"):
        backend.path(REQUEST, {})
