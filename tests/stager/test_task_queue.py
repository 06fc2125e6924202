"""Which task is next: without a service."""

from __future__ import annotations

from typing import Any

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.task import CANCELLED, Origin, StagerTask
from pegasus_bb.stager.task_queue import TaskQueue, free_slots


def task(number: int, uid: int = 1, **spec: Any) -> StagerTask:
    full = {"kind": "copy", "source": "a://b", **spec}
    return StagerTask(number, Origin(uid, 0.0, number), full)


SLOW = True  # of a worker: a task that it does has a rate


def queue_of(*tasks: StagerTask, workers: int = 2) -> TaskQueue:
    waiting = TaskQueue(workers)
    for each in tasks:
        waiting.add(each)
    return waiting


def served(waiting: TaskQueue, times: int) -> list[int]:
    """The users whose tasks are taken, and who have moved a MiB by each."""
    users = []
    for _ in range(times):
        found = waiting.take(0.0)
        assert found is not None
        waiting.serve(found.uid, MIB)
        users.append(found.uid)
    return users


def taken(waiting: TaskQueue, *busy: tuple[int, bool]) -> list[int]:
    """What a worker gets while others are ``busy``."""
    return [each.id for each in waiting.assignment(busy, 0.0)]


def order(*tasks: StagerTask) -> list[int]:
    waiting = queue_of(*tasks)
    found = iter(lambda: waiting.take(0.0), None)
    return [each.id for each in found if each is not None]


def test_the_earliest_deadline_is_first_then_the_highest_priority() -> None:
    late = task(1, deadline=90.0)
    soon = task(2, deadline=10.0)
    urgent = task(3, deadline=90.0, priority=5)
    plain = task(4, priority=9)
    assert order(plain, late, soon, urgent) == [2, 3, 1, 4]


def test_a_deadline_that_has_passed_wins_nothing() -> None:
    waiting = queue_of(task(1), task(2, deadline=10.0), task(3, deadline=30.0))
    found = [waiting.take(20.0) for _ in range(4)]
    assert [each and each.id for each in found] == [3, 1, 2, None]


def test_a_deadline_that_has_moved_counts_from_then_on() -> None:
    moved = task(1, deadline=30.0)
    waiting = queue_of(moved, task(2, deadline=40.0))
    moved.terms = moved.terms._replace(deadline=50.0)
    waiting.add(moved)
    assert [each and each.id for each in map(waiting.take, [35.0] * 3)] == [2, 1, None]


def test_a_cancelled_task_has_no_turn() -> None:
    tasks = [task(1), task(2, deadline=1.0), task(3)]
    tasks[0].state = tasks[1].state = CANCELLED
    assert order(*tasks) == [3]


def test_a_user_with_many_tasks_does_not_keep_others_waiting() -> None:
    many = [task(number, uid=1) for number in range(100)]
    assert served(queue_of(*many, task(100, uid=2)), 3) == [1, 2, 1]


def test_tasks_with_a_rate_leave_workers_to_the_others() -> None:
    waiting = queue_of(*(task(number, rate=1.0) for number in (1, 2, 3)), task(4))

    assert [
        taken(waiting),
        taken(waiting, (1, SLOW)),
        taken(waiting, (1, SLOW)),
    ] == [[1], [4], []]
    assert [taken(waiting) for _ in range(3)] == [[2], [3], []]


def test_small_tasks_of_one_user_go_together() -> None:
    small = (task(1), task(2), task(4, uid=2))
    waiting = queue_of(*small, task(3, size=64 * MIB), workers=4)
    assert [taken(waiting) for _ in range(4)] == [[1, 2], [4], [3], []]


def test_having_been_away_wins_nothing() -> None:
    waiting = TaskQueue()
    for number in range(3):
        waiting.add(task(number, uid=1))
        assert served(waiting, 1) == [1]
    for number in range(3, 6):
        waiting.add(task(number, uid=1))
        waiting.add(task(number + 10, uid=2))
    assert sorted(served(waiting, 5)[:4]) == [1, 1, 2, 2]


def test_one_user_who_has_all_places_leaves_one_more_to_the_others() -> None:
    may = free_slots([1, 1], most=2)
    assert (may(1), may(2)) == (False, True)
    assert not free_slots([1, 2], most=2)(3) and not free_slots([1, 1, 2], most=2)(3)
    assert free_slots([1], most=2)(1)
    waiting = queue_of(
        task(1, uid=1), task(2, uid=1, deadline=9.0), task(3, uid=2, rate=1.0)
    )

    all_places = [(1, not SLOW), (1, not SLOW)]
    assert [taken(waiting, *all_places) for _ in range(2)] == [[3], []]


def test_small_tasks_of_one_share_go_together_and_with_no_other() -> None:
    rate: dict[str, Any] = {"rate": 1e6, "size": 10}
    waiting = TaskQueue(workers=2)
    for number, share in enumerate(("run", "run", "other", "", "run")):
        waiting.add(task(number, **rate, share=share))
    assert [taken(waiting) for _ in range(4)] == [[0, 1], [2], [3], [4]]


def test_a_user_with_a_task_with_a_rate_keeps_those_of_no_other_waiting() -> None:
    """It may hold its worker for years."""
    users = enumerate((1, 2, 1), 1)
    waiting = queue_of(*(task(number, uid=uid, rate=1.0) for number, uid in users))
    busy = (1, SLOW)
    [found] = waiting.assignment([(1, not SLOW), (1, SLOW)], 0.0)
    assert found.id == 2
    waiting.put_back(found)
    assert taken(waiting.copy(), busy) == taken(waiting, busy) == [2]
    assert taken(waiting, busy, (2, SLOW)) == []
