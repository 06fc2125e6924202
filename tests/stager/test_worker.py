"""A worker by itself: what a pause and a cancellation do to an assignment."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.stager import copying
from pegasus_bb.stager.conversation import Conversation
from tests.support.folding import Folding


class Alone:
    """A worker without a process and a service, which hears what it says."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, list[dict[str, Any]]()
        self.heard = threading.Condition()
        self.on_began: Callable[[], None] = lambda: None
        self.service = Conversation(self._say)

    def _say(self, message: dict[str, Any]) -> None:
        with self.heard:
            self.said.append(message)
            self.heard.notify_all()
        if "began" in message:
            self.on_began()
            self.service.handle({"go": message["tag"]})

    def copy(self, number: int, size: int = 100) -> dict[str, Any]:
        source = self.folder / f"from/{number}"
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(os.urandom(size))
        return self.task(number, "copy", f"from/{number}", f"to/{number}")

    def task(self, number: int, kind: str, source: str, dest: str) -> dict[str, Any]:
        places = {"source": f"here://{source}", "dest": f"here://{dest}"}
        about = {"digest": False, "hint": 0, "tags": [], "state": str(self.folder)}
        spaces = {"here": str(self.folder)}
        return {"id": number, "kind": kind, **places, **about, "spaces": spaces}

    def run(self, *tasks: dict[str, Any]) -> threading.Thread:
        self.service.handle({"do": list(tasks), "piece": 0})
        running = threading.Thread(target=copying.do_tasks, args=(self.service, tasks))
        running.start()
        return running

    def until(self, is_so: Callable[[], bool]) -> None:
        with self.heard:
            assert self.heard.wait_for(is_so, timeout=60)

    def ends(self) -> dict[int, str]:
        found = [message["ended"] for message in self.said if "ended" in message]
        assert len({end[0] for end in found}) == len(found), "a task ended twice"
        return {number: state for number, state, _, _ in found}

    def names(self) -> set[str]:
        return {path.name for path in (self.folder / "to").iterdir()}


@pytest.fixture
def alone(tmp_path: Path) -> Alone:
    return Alone(tmp_path)


def test_small_files_of_a_paused_worker_are_cancelled_at_once(alone: Alone) -> None:
    alone.service.handle({"pause": True})
    running = alone.run(*(alone.copy(number) for number in range(3)))
    for number in range(3):
        alone.service.handle({"cancel": number})
    alone.until(lambda: len(alone.ends()) == 3)
    assert set(alone.ends().values()) == {"cancelled"}
    running.join(timeout=60)
    assert "idle" in alone.said[-1] and not (alone.folder / "to").exists()


def test_some_of_the_files_that_are_copied_together_are_cancelled(
    alone: Alone,
) -> None:
    """In the middle: their parts were about to be made. The others arrive."""
    alone.on_began = lambda: (
        [alone.service.handle({"cancel": n}) for n in (3, 5)] and None
    )
    alone.run(*(alone.copy(number) for number in range(8))).join(timeout=60)
    states = {n: "cancelled" if n in (3, 5) else "done" for n in range(8)}
    assert alone.ends() == states
    assert alone.names() == {str(n) for n in range(8) if n not in (3, 5)}


def test_of_two_small_files_with_one_destination_the_later_one_stays(
    alone: Alone,
) -> None:
    """Also where both would be copied together."""
    first, second, other = (alone.copy(number) for number in (1, 2, 3))
    alone.run(first, {**second, "dest": first["dest"]}, other).join(timeout=60)
    assert alone.ends() == dict.fromkeys((1, 2, 3), "done")
    assert alone.names() == {"1", "3"}
    written = (alone.folder / "from/2").read_bytes()
    assert (alone.folder / "to/1").read_bytes() == written


def test_of_two_moves_to_one_file_of_a_file_system_without_case_the_second_fails(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGASUS_BB_HELPER", "none")
    to = alone.folder / "to"
    to.mkdir()
    Folding(to, str.lower, monkeypatch)
    tasks = [
        {**alone.copy(number), "kind": "move", "dest": f"here://to/{name}"}
        for number, name in enumerate(("README", "third", "readme"))
    ]
    alone.run(*tasks).join(timeout=60)
    assert alone.ends() == {0: "done", 1: "done", 2: "failed"}
    assert "README, so one of the two is lost" in str(alone.said)
    assert (alone.folder / "from/2").exists()


def test_the_removal_of_a_tree_is_cancelled_in_its_middle(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still but for the first look: one name, then a moment to hear
    of the cancellation."""
    tree = alone.folder / "tree"
    for number in range(50):
        (tree / str(number)).mkdir(parents=True)
        (tree / str(number) / "file").write_text("x")
    monkeypatch.setattr(copying, "_SLICE", 1e-9)
    heard = threading.Event()
    count = alone.service.count

    def cancel_then_count(tasks: Any, size: int) -> None:
        alone.service.handle({"cancel": 1})
        heard.set()
        count(tasks, size)

    monkeypatch.setattr(alone.service, "count", cancel_then_count)
    alone.run(alone.task(1, "remove", "tree", "")).join(timeout=60)
    assert heard.is_set() and alone.ends() == {1: "cancelled"}
    assert tree.exists()


def test_a_pause_is_no_work(alone: Alone) -> None:
    """Else the ETA of what comes later would learn it."""
    alone.service.handle({"pause": True})
    running = alone.run(alone.copy(1), alone.copy(2, 9 << 20))
    while not alone.service._held_back:
        time.sleep(0.001)
    paused = time.monotonic()
    while time.monotonic() - paused < 0.3:
        time.sleep(0.01)
    alone.service.handle({"pause": False})
    running.join(timeout=60)
    assert alone.said[-1]["idle"] >= 0.3
    assert set(alone.ends().values()) == {"done"}
