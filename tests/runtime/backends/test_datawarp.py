"""The datawarp backend keeps the promise, on a Slurm of four executables."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import ReservationFailed, UsageError
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends import slurm
from pegasus_bb.runtime.backends.datawarp import DataWarp
from pegasus_bb.runtime.backends.slurm import create_line
from tests.support.backend_contract import REQUEST, Contract, ready, state_of, until
from tests.support.datawarp_bench import SETTINGS, DataWarpBench, bench, play

RECORDED = Path(__file__).parents[2] / "recorded" / "slurm-24.11"
__all__ = ["bench"]
REJECTIONS = RECORDED / "sbatch.rejections.txt"


class TestDataWarp(Contract):
    """The contract suite."""


# -- what Slurm is asked for


def test_the_directive_carries_whole_bytes_and_nothing_else() -> None:
    line = create_line(REQUEST._replace(pool="wlm_pool"))
    assert line == (
        "#BB create_persistent name=pbb4f1c2a9e capacity=104857600 "
        "access_mode=striped type=scratch pool=wlm_pool"
    )


@pytest.mark.parametrize("pool", ["a b", "a\n#BB", "hurry", "-p", "x=%u", "$(id)"])
def test_a_value_that_could_be_read_as_more_never_reaches_slurm(pool: str) -> None:
    with pytest.raises(UsageError, match="#BB line"):
        create_line(REQUEST._replace(pool=pool))


def test_options_of_the_site_reach_sbatch(bench: DataWarpBench) -> None:
    assert DataWarp({"account": "m1234"}).slurm.options == ["--account=m1234"]
    with pytest.raises(UsageError):
        DataWarp({"account": "m1234 --wrap=id"})


@pytest.mark.parametrize(
    ("index", "advice"),
    [(0, "request invalid"), (1, "as an ordinary user"), (2, "EnablePersistent")],
)
def test_what_sbatch_refuses_is_told_with_what_would_do(
    bench: DataWarpBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    index: int,
    advice: str,
) -> None:
    words = REJECTIONS.read_text().splitlines()[index]
    play("sbatch", f"echo '{words}' >&2; exit 1", tmp_path, monkeypatch)
    with pytest.raises(ReservationFailed, match=advice) as error:
        bench.backend.create(REQUEST)
    assert ("reconfigure" in str(error.value)) == (index == 2)


# -- what Slurm answers


def test_a_held_request_fails_at_once_with_the_message_of_the_scheduler(
    bench: DataWarpBench,
) -> None:
    bench.change(create_fails="dwsd: no space left on any server: 507")
    bench.backend.create(REQUEST)
    status = bench.backend.status(REQUEST)
    assert status.state is State.FAILED
    assert "dwsd: no space left on any server: 507" in status.message


def test_asking_again_while_the_buffer_comes_up_asks_for_no_second_one(
    bench: DataWarpBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes up just after Slurm's first answer."""
    bench.change(passes=3)
    first = bench.backend.create(REQUEST)
    usual = vars(slurm)["ask"]
    answered: list[str] = []

    def ask(argv: list[str], **more: Any) -> Any:
        answer = usual(argv, **more)
        answered.append(argv[0])
        if len(answered) == 1:
            until(bench, State.READY)
        return answer

    monkeypatch.setattr(slurm, "ask", ask)
    assert bench.backend.create(REQUEST).job == first.job
    assert "sbatch" not in answered


def test_asking_again_after_a_hold_asks_afresh(bench: DataWarpBench) -> None:
    bench.change(create_fails="device busy")
    first = bench.backend.create(REQUEST)
    assert state_of(bench) is State.FAILED
    bench.change(create_fails="")
    second = bench.backend.create(REQUEST)
    assert second.job != first.job
    assert until(bench, State.READY)
    assert bench.read()["jobs"][0]["state"] == "CANCELLED"


def test_a_slurm_without_the_plugin_fails_fast(bench: DataWarpBench) -> None:
    bench.change(plugin=False)
    status = bench.backend.status(REQUEST)
    assert status.state is State.FAILED
    assert "BurstBufferType" in status.message
    with pytest.raises(ReservationFailed, match="no burst buffer"):
        bench.backend.create(REQUEST)


def test_a_leftover_of_the_same_name_and_user_is_not_used(
    bench: DataWarpBench,
) -> None:
    bench.row(REQUEST.name, size=700, created=time.time() - 9999)
    with pytest.raises(ReservationFailed, match=r"700\.0 MiB, made 2"):
        bench.backend.create(REQUEST)
    assert bench.read()["jobs"] == []


def test_a_longer_name_that_begins_alike_is_not_it(bench: DataWarpBench) -> None:
    bench.row(REQUEST.name + "x")
    bench.row("datawarp")
    assert state_of(bench) is State.ABSENT


def test_a_buffer_that_comes_up_between_two_questions_is_seen(
    bench: DataWarpBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job has ended and its buffer is there: never absent because of the order."""
    bench.fill()
    bench.backend.create(REQUEST)
    real = slurm.ask

    def then_there_is_room(argv: list[str], **rest: Any) -> Any:
        answer = real(argv, **rest)
        if bench.read()["buffers"][0]["name"] == "filler":
            bench.free()
            bench.backend.slurm.plugin()  # a scheduling pass
        return answer

    monkeypatch.setattr(slurm, "ask", then_there_is_room)
    assert state_of(bench) is State.READY


# -- giving back


def test_an_end_that_slurm_cannot_bring_about_is_bounded_and_told(
    bench: DataWarpBench,
) -> None:
    ready(bench)
    bench.change(destroy_fails="dwsd: device busy")
    with pytest.raises(ReservationFailed, match="dwsd: device busy"):
        bench.backend.delete(REQUEST)
    jobs = bench.read()["jobs"]
    assert [job["state"] for job in jobs] == ["COMPLETED", "CANCELLED"]


def test_a_job_that_outlives_its_buffer_is_not_waited_for(bench: DataWarpBench) -> None:
    """Slurm ends it some scheduling passes after the buffer came up."""
    bench.change(lingers=True)
    first = ready(bench)
    bench.backend.delete(REQUEST)
    assert bench.read()["jobs"][0]["state"] == "PENDING"
    assert state_of(bench) is State.ABSENT
    assert bench.backend.create(REQUEST).job != first.job
    assert until(bench, State.READY)


def test_a_cancelled_request_failed_and_can_be_given_back(
    bench: DataWarpBench,
) -> None:
    bench.fill()
    noted = bench.backend.create(REQUEST)
    bench.backend.slurm.cancel(noted.job)
    status = bench.backend.status(REQUEST)
    assert (status.state, "CANCELLED" in status.message) == (State.FAILED, True)
    bench.backend.delete(REQUEST)
    assert state_of(bench) is State.ABSENT


# -- where it is


def test_a_variable_that_is_not_set_is_an_error_not_the_current_folder() -> None:
    with pytest.raises(ReservationFailed, match="persistentdw name=pbb4f1c2a9e"):
        DataWarp(SETTINGS).path(REQUEST, {})
    with pytest.raises(ReservationFailed, match="PERSISTENT"):
        DataWarp(SETTINGS).path(REQUEST, {"DW_PERSISTENT_STRIPED_pbb4f1c2a9e": "."})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (Path.rmdir, "not a directory"),
        (lambda mount: (mount / "whose").touch(), "identity of no run"),
    ],
)
def test_a_mount_that_is_missing_or_has_no_identity_is_an_error(
    bench: DataWarpBench, spoil: Callable[[Path], object], words: str
) -> None:
    spoil(bench.mount)
    with pytest.raises(ReservationFailed, match=words):
        bench.backend.path(REQUEST, bench.environ(REQUEST))


def test_an_empty_folder_where_nothing_is_mounted_is_not_claimed(
    bench: DataWarpBench,
) -> None:
    careful = DataWarp({**SETTINGS, "mount": "required"})
    with pytest.raises(ReservationFailed, match="identity of no run"):
        careful.path(REQUEST, bench.environ(REQUEST))
    assert list(bench.mount.iterdir()) == []
