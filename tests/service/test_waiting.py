"""Which task is next: without a service."""

from __future__ import annotations

from typing import Any

from pegasus_bb.service.assignments import Assignments
from pegasus_bb.service.task import CANCELLED, Origin, Task
from pegasus_bb.service.waiting import Waiting
from pegasus_bb.units import MIB


def task(number: int, uid: int = 1, **spec: Any) -> Task:
    full = {"kind": "copy", "source": "a://b", **spec}
    return Task(number, Origin(uid, 0.0, number), full)


def order(*tasks: Task) -> list[int]:
    waiting = Waiting()
    for each in tasks:
        waiting.add(each)
    found = iter(lambda: waiting.take(0.0), None)
    return [each.id for each in found if each is not None]


def test_the_earliest_deadline_is_first_then_the_highest_priority() -> None:
    late, soon = task(1, deadline=90.0), task(2, deadline=10.0)
    urgent, plain = task(3, deadline=90.0, priority=5), task(4, priority=9)
    assert order(plain, late, soon, urgent) == [2, 3, 1, 4]


def test_a_deadline_that_has_passed_wins_nothing() -> None:
    waiting = Waiting()
    for each in (task(1), task(2, deadline=10.0), task(3, deadline=30.0)):
        waiting.add(each)
    found = [waiting.take(20.0) for _ in range(4)]
    assert [each and each.id for each in found] == [3, 1, 2, None]


def test_a_deadline_that_has_moved_counts_from_then_on() -> None:
    waiting, moved, other = Waiting(), task(1, deadline=30.0), task(2, deadline=40.0)
    for each in (moved, other):
        waiting.add(each)
    moved.deadline = 50.0
    waiting.add(moved)
    assert [each and each.id for each in map(waiting.take, [35.0] * 3)] == [2, 1, None]


def test_a_cancelled_task_has_no_turn() -> None:
    tasks = [task(1), task(2, deadline=1.0), task(3)]
    tasks[0].state = tasks[1].state = CANCELLED
    assert order(*tasks) == [3]


def test_a_user_with_many_tasks_does_not_keep_others_waiting() -> None:
    waiting = Waiting()
    for number in range(100):
        waiting.add(task(number, uid=1))
    waiting.add(task(100, uid=2))
    taken = []
    for _ in range(3):
        found = waiting.take(0.0)
        assert found is not None
        waiting.served(found.uid, MIB)
        taken.append(found.uid)
    assert taken == [1, 2, 1]


def test_what_is_put_back_is_next() -> None:
    waiting = Waiting()
    for number in (1, 2):
        waiting.add(task(number))
    first = waiting.take(0.0)
    assert first is not None
    waiting.put_back(first)
    assert waiting.take(0.0) is first


def test_tasks_with_a_rate_leave_workers_to_the_others() -> None:
    waiting = Waiting()
    for number in range(1, 4):
        waiting.add(task(number, rate=1.0))
    waiting.add(task(4))
    assignments = Assignments(waiting, workers=2)

    def taken(slow: int) -> list[int]:
        return [each.id for each in assignments.next(slow, lambda _: False, 0.0)]

    assert [taken(0), taken(1), taken(1)] == [[1], [4], []]
    assert [taken(0), taken(0), taken(0)] == [[2], [3], []]


def test_small_tasks_of_one_user_go_together() -> None:
    waiting = Waiting()
    for number in (1, 2):
        waiting.add(task(number))
    waiting.add(task(3, size=64 * MIB))
    waiting.add(task(4, uid=2))
    assignments = Assignments(waiting, workers=4)
    found = [assignments.next(0, lambda _: False, 0.0) for _ in range(4)]
    assert [[each.id for each in tasks] for tasks in found] == [[1, 2], [3], [4], []]
