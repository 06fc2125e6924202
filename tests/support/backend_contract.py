"""What every backend promises (runtime/backends/base.py), as one suite.

A backend's test file names a fixture ``bench`` that gives a Bench, and inherits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable, UsageError
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime.backends.base import Backend

REQUEST = Request(
    name="pbb4f1c2a9e",
    backend="tested",
    capacity=100 * MIB,
    prefix="/bb/pbb4f1c2a9e",
    uuid="4f1c2a9e-0000-4000-8000-000000000001",
    tier="bb",
    site="cori",
)
OTHER_RUN = REQUEST._replace(uuid="77777777-0000-4000-8000-000000000002")


class Bench(Protocol):
    """A backend with a scheduler of 1 GiB behind it, and hands on that scheduler."""

    backend: Backend

    def occupy(self, name: str) -> str:
        """Let another user hold ``name``; give back who that is."""

    def fill(self) -> None:
        """Let another user hold all space but a little."""

    def free(self) -> None:
        """Let them give it back."""

    def go_down(self) -> None:
        """From now on the scheduler gives no answer."""

    def environ(self, request: Request) -> Mapping[str, str]:
        """What a job that has the reservation finds in its environment."""


def until(bench: Bench, wanted: State, request: Request = REQUEST) -> Status:
    """The first status in that state within a short while."""
    for _ in range(50):
        found = bench.backend.status(request)
        if found.state is wanted:
            return found
        time.sleep(0.02)
    raise AssertionError(f"still {found}, not {wanted}")


def state_of(bench: Bench, request: Request = REQUEST) -> State:
    return bench.backend.status(request).state


def ready(bench: Bench) -> Reservation:
    """The reservation of REQUEST, once it can be used."""
    noted = bench.backend.create(REQUEST)
    until(bench, State.READY)
    return noted


def names(bench: Bench) -> list[str]:
    """Of all reservations that are shown."""
    return [row.name for row in bench.backend.list_reservations([]).rows]


class Contract:
    """The promise of pegasus_bb.runtime.backends.base.Backend."""

    def test_a_reservation_becomes_ready_at_least_as_large_as_requested(
        self, bench: Bench
    ) -> None:
        begin = time.time()
        noted = bench.backend.create(REQUEST)
        assert (noted.name, noted.uuid) == (REQUEST.name, REQUEST.uuid)
        assert noted.size == REQUEST.capacity
        status = until(bench, State.READY)
        assert status.size >= REQUEST.capacity
        assert status.created >= int(begin)

    def test_an_odd_size_is_rounded_up_never_down(self, bench: Bench) -> None:
        odd = REQUEST._replace(capacity=10 * MIB + 1)
        bench.backend.create(odd)
        assert until(bench, State.READY, odd).size > 10 * MIB

    def test_asking_twice_changes_nothing(self, bench: Bench) -> None:
        first = bench.backend.create(REQUEST)
        again = bench.backend.create(REQUEST)
        assert (again.job, again.owner, again.size) == (
            first.job,
            first.owner,
            first.size,
        )
        until(bench, State.READY)
        assert names(bench) == [REQUEST.name]

    def test_a_name_of_another_run_is_refused(self, bench: Bench) -> None:
        bench.backend.create(OTHER_RUN)
        until(bench, State.READY, OTHER_RUN)
        with pytest.raises(ReservationFailed, match=OTHER_RUN.uuid):
            bench.backend.create(REQUEST)
        with pytest.raises(ReservationFailed, match=OTHER_RUN.uuid):
            bench.backend.delete(REQUEST)
        assert until(bench, State.READY, OTHER_RUN)

    def test_a_name_of_another_user_is_refused_and_both_named(
        self, bench: Bench
    ) -> None:
        other = bench.occupy(REQUEST.name)
        with pytest.raises(ReservationFailed) as refusal:
            bench.backend.create(REQUEST)
        assert other in str(refusal.value)
        assert REQUEST.name in str(refusal.value)
        status = bench.backend.status(REQUEST)
        assert status.state is State.FAILED
        assert other in status.message
        with pytest.raises(ReservationFailed, match=other):
            bench.backend.delete(REQUEST)
        [row] = bench.backend.list_reservations([]).rows
        assert (row.name, row.own, row.status.owner) == (REQUEST.name, False, other)

    def test_more_than_there_is_in_all_is_refused_at_once(self, bench: Bench) -> None:
        with pytest.raises(ReservationFailed, match="in all"):
            bench.backend.create(REQUEST._replace(capacity=2048 * MIB))
        with pytest.raises(ReservationFailed):
            bench.backend.create(REQUEST._replace(capacity=0))
        assert names(bench) == []

    def test_a_name_that_a_scheduler_misreads_is_refused(self, bench: Bench) -> None:
        with pytest.raises(UsageError, match="hurry"):
            bench.backend.create(REQUEST._replace(name="hurryup"))

    def test_no_room_now_means_pending_until_others_give_back(
        self, bench: Bench
    ) -> None:
        bench.fill()
        bench.backend.create(REQUEST)
        status = bench.backend.status(REQUEST)
        assert status.state is State.PENDING
        assert status.message
        bench.free()
        assert until(bench, State.READY)

    def test_a_request_that_still_waits_can_be_taken_back(self, bench: Bench) -> None:
        bench.fill()
        bench.backend.create(REQUEST)
        bench.backend.delete(REQUEST)
        assert state_of(bench) is State.ABSENT
        bench.free()
        assert REQUEST.name not in names(bench)

    def test_the_path_is_given_only_where_it_is_ready(self, bench: Bench) -> None:
        with pytest.raises(ReservationFailed, match=REQUEST.name):
            bench.backend.path(REQUEST, {})
        ready(bench)
        environ = bench.environ(REQUEST)
        path = bench.backend.path(REQUEST, environ)
        assert path.startswith("/")
        assert bench.backend.path(REQUEST, environ) == path

    def test_the_path_is_never_that_of_another_run(self, bench: Bench) -> None:
        ready(bench)
        environ = bench.environ(REQUEST)
        bench.backend.path(REQUEST, environ)
        with pytest.raises(ReservationFailed, match=REQUEST.uuid):
            bench.backend.path(OTHER_RUN, environ)

    def test_given_back_it_is_absent_and_its_name_is_free(self, bench: Bench) -> None:
        ready(bench)
        bench.backend.delete(REQUEST)
        assert state_of(bench) is State.ABSENT
        bench.backend.delete(REQUEST)
        assert names(bench) == []
        bench.backend.create(REQUEST)
        assert until(bench, State.READY)

    def test_rows_show_it_with_owner_and_size(self, bench: Bench) -> None:
        noted = ready(bench)
        [row] = bench.backend.list_reservations([]).rows
        assert (row.name, row.own) == (REQUEST.name, True)
        assert row.status.state is State.READY
        assert row.status.size >= REQUEST.capacity
        assert row.status.owner == noted.owner != ""

    def test_a_listing_has_the_same_status_for_each_as_asked_alone(
        self, bench: Bench
    ) -> None:
        ready(bench)
        waits = REQUEST._replace(name="pbbwaits", capacity=1000 * MIB)
        bench.backend.create(waits)
        never = REQUEST._replace(name="pbbnever")
        requests = [never, REQUEST, waits, OTHER_RUN._replace(capacity=MIB), REQUEST]
        found = bench.backend.list_reservations(requests)
        assert found.message == ""
        assert bench.backend.endpoint_id() == bench.backend.endpoint_id() != ""
        states = [State.ABSENT, State.READY, State.PENDING]
        assert [status.state for status in found.statuses[:3]] == states
        asked = [bench.backend.status(request) for request in requests]
        for told, status in zip(found.statuses, asked, strict=True):
            assert (told.state, told.size) == (status.state, status.size)
        assert REQUEST.name in names(bench)

    def test_pools_count_what_is_held(self, bench: Bench) -> None:
        [before] = bench.backend.pools()
        ready(bench)
        [after] = bench.backend.pools()
        assert before.total == after.total == 1024 * MIB
        assert before.free - after.free >= REQUEST.capacity

    def test_without_an_answer_nothing_is_known(self, bench: Bench) -> None:
        ready(bench)
        bench.go_down()
        status = bench.backend.status(REQUEST)
        assert status.state is State.UNKNOWN
        assert status.message
        for call in (bench.backend.create, bench.backend.delete):
            with pytest.raises(SchedulerUnreachable):
                call(REQUEST)
        with pytest.raises(SchedulerUnreachable):
            bench.backend.pools()
        found = bench.backend.list_reservations([REQUEST, OTHER_RUN])
        assert [status.state for status in found.statuses] == [State.UNKNOWN] * 2
        assert (found.rows, found.message != "") == ([], True)
