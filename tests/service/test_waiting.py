"""Which task is next, how long it takes, how fast it goes: without a service."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pegasus_bb.service.assignments import Assignments
from pegasus_bb.service.estimate import Estimates, Load
from pegasus_bb.service.pacing import TokenBucket
from pegasus_bb.service.task import CANCELLED, Origin, Task
from pegasus_bb.service.waiting import Waiting
from pegasus_bb.units import MIB

PAIR = ("lustre", "bb")


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


def test_after_twenty_samples_nine_of_ten_estimates_are_within_a_quarter() -> None:
    draw, estimates = random.Random(7), Estimates()
    near = 0
    for number in range(220):
        size = int(draw.lognormvariate(15, 2))
        seconds = (0.02 + size / 200e6) * draw.uniform(0.9, 1.1)
        if number >= 20:
            guess = estimates.all_until_done([Load(1, PAIR, size)], 2, 1)[1]
            near += abs(guess - seconds) <= seconds / 4
        estimates.of(PAIR).learn(1, size, seconds)
    assert near >= 180


def test_what_waits_ahead_is_part_of_the_estimate() -> None:
    estimates = Estimates()
    for _ in range(20):
        estimates.of(PAIR).learn(1, 100 * MIB, 1.0)
    queue = [Load(number, PAIR, 100 * MIB) for number in range(11)]
    found = estimates.all_until_done([*queue, Load(11, PAIR, 0)], 2, 1)
    assert found[0] == pytest.approx(1.0)
    assert found[11] == pytest.approx(6.0)


def test_a_rate_of_its_own_is_part_of_the_estimate() -> None:
    estimates = Estimates()
    for _ in range(20):
        estimates.of(PAIR).learn(1, 100 * MIB, 1.0)
    limited = [Load(number, PAIR, 100 * MIB, limit=10 * MIB) for number in (1, 2)]
    found = estimates.all_until_done([*limited, Load(3, PAIR, 100 * MIB)], 2, 1)
    assert found == pytest.approx({1: 10.0, 2: 20.0, 3: 1.0})


def test_tasks_with_a_rate_leave_workers_to_the_others() -> None:
    waiting = Waiting()
    for number in range(1, 4):
        waiting.add(task(number, rate=1.0))
    waiting.add(task(4))
    assignments = Assignments(waiting, workers=2)

    def taken(slow: int) -> list[int]:
        return [each.id for each in assignments.next(slow, lambda _: False)]

    assert [taken(0), taken(1), taken(1)] == [[1], [4], []]
    assert [taken(0), taken(0), taken(0)] == [[2], [3], []]


def test_small_tasks_of_one_user_go_together() -> None:
    waiting = Waiting()
    for number in (1, 2):
        waiting.add(task(number))
    waiting.add(task(3, size=64 * MIB))
    waiting.add(task(4, uid=2))
    assignments = Assignments(waiting, workers=4)
    found = [assignments.next(0, lambda _: False) for _ in range(4)]
    assert [[each.id for each in tasks] for tasks in found] == [[1, 2], [3], [4], []]


class Clock:
    """Time that only passes in sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_bucket_keeps_the_mean_to_its_rate() -> None:
    clock = Clock()
    bucket = TokenBucket(10 * MIB, clock, clock.sleep)
    for _ in range(100):
        bucket.take(MIB)
    assert clock.now == pytest.approx(10, rel=0.05)
    bucket.take(1000 * MIB, is_over=lambda: True)
    bucket.set_rate(0)
    bucket.take(1000 * MIB)
    assert clock.now == pytest.approx(10, rel=0.05)
