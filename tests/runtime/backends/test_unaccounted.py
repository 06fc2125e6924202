"""Slurm shows no buffer where DataWarp did not answer slurmctld at its start."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.datawarp import DataWarp
from pegasus_bb.runtime.release_steps import release_reservation
from tests.support.backend_contract import REQUEST, ready
from tests.support.datawarp_bench import SETTINGS, DataWarpBench, bench

__all__ = ["bench"]


def unread(bench: DataWarpBench) -> None:
    """slurmctld was started again, DataWarp answered nothing but `pools`."""
    rows = bench.read()["buffers"]
    bench.change(unseen=sum(row["size"] for row in rows), buffers=[], jobs=[])


def test_space_that_no_row_accounts_for_may_be_the_buffer(bench: DataWarpBench) -> None:
    ready(bench)
    unread(bench)
    status = DataWarp(SETTINGS).status(REQUEST)
    assert status.state is State.UNKNOWN
    for word in ("100.0 MiB of pool wlm_pool", "dwstat", "scontrol reconfigure"):
        assert word in status.message
    fresh = DataWarp(SETTINGS)
    with pytest.raises(SchedulerUnreachable, match="no row accounts for"):
        release_reservation(REQUEST, None, fresh, lambda: fresh.status(REQUEST))


@pytest.mark.parametrize(("unseen", "state"), [(99, "absent"), (100, "unknown")])
def test_fewer_bytes_than_its_size_are_not_its_own(
    bench: DataWarpBench, unseen: int, state: str
) -> None:
    bench.change(unseen=unseen)
    bench.row("another")
    assert bench.backend.status(REQUEST).state.value == state


def test_bytes_in_use_while_it_was_shown_are_not_its_own(bench: DataWarpBench) -> None:
    """A server that is down, say: in use all the time, and in no row."""
    bench.change(unseen=300)
    ready(bench)
    fresh = DataWarp(SETTINGS)
    fresh.delete(REQUEST)
    assert fresh.status(REQUEST).state is State.ABSENT


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (DataWarpBench.go_down, "Unable to contact"),
        (unread, "no row accounts for"),  # slurmctld is started again
    ],
)
def test_an_end_that_is_not_seen_is_not_success(
    bench: DataWarpBench,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[DataWarpBench], None],
    words: str,
) -> None:
    """Something happens between the question and the answer."""
    ready(bench)
    submit = bench.backend.slurm.submit

    def submit_then(*args: str) -> str:
        number = submit(*args)
        happens(bench)
        return number

    monkeypatch.setattr(bench.backend.slurm, "submit", submit_then)
    with pytest.raises(SchedulerUnreachable, match=words):
        bench.backend.delete(REQUEST)
