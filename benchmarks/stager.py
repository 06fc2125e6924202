"""What the staging service costs and keeps, against its goals. `make bench` runs this.

python -m benchmarks.stager
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.beside_copies import SIZE, slowdown
from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask
from pegasus_bb.stager.task_queue import TaskQueue

REQUEST_MS = 1.0  # p50 and p99 of a request
TASKS = 100_000  # durable tasks a second, in batches
MEMORY = 64  # MiB with WAITING tasks
WAITING = 100_000
BATCH = 1_000
ROUNDS = 5  # of WAITING tasks
# how near the ETA is, and for how many tasks
NEAR = 0.25
OFTEN = 0.9
SLOWER = 1.05  # a computing job, while the service copies beside it
MISSES = 0.5  # deadlines that EDF misses, of those that FCFS misses
SERVE = "from pegasus_bb.stager.site_config import user_config as own; \
from pegasus_bb.stager.socket_server import run; run(own())"
# A device of 64 MiB/s that takes 0.1 s to begin a file, in the worker: the service does
# not know of it.
DEVICE = """
import time
from pegasus_bb.stager.conversation import Conversation
from pegasus_bb.stager.rates import Bucket
bucket, count, began = Bucket(64 << 20), Conversation.count, Conversation.began
def slow_count(self, tasks, size):
    time.sleep(max(0.0, bucket.take(size, time.monotonic()) - time.monotonic()))
    count(self, tasks, size)
def slow_began(self, tasks, tag):
    time.sleep(0.1 * len(tasks))
    began(self, tasks, tag)
Conversation.count, Conversation.began = slow_count, slow_began
"""
STEADY = f"""
from pegasus_bb.stager import worker_pool
worker_pool._START = worker_pool._START.rstrip("; ") + {DEVICE!r}
{SERVE}
"""


class Figure(NamedTuple):
    """One line of the output."""

    name: str
    value: str
    goal: str  # empty: for information
    is_met: bool


@contextmanager
def in_new_folder(serve: str = SERVE) -> Iterator[tuple[Client, int, str]]:
    """A connection to a new service, its process, and a folder that goes with it."""
    with tempfile.TemporaryDirectory(prefix="bench-stager.") as folder:
        sockets = f"{folder}/sockets"
        environ = {"XDG_STATE_HOME": f"{folder}/state", "PEGASUS_BB_STAGER": sockets}
        argv = [sys.executable, "-c", serve]
        process = subprocess.Popen(argv, env={**os.environ, **environ})
        try:
            with connected(f"{sockets}/control") as client:
                yield client, process.pid, folder
        finally:
            process.terminate()
            process.wait()


def connected(path: str) -> Client:
    """As soon as it answers. Raises NoService."""
    until = time.monotonic() + 20
    while True:
        try:
            return Client(path)
        except NoService:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def requests() -> list[Figure]:
    """What an answer takes: of a question, and of a task that is durable then."""
    task = {"kind": "remove", "source": "file:///nowhere/file"}
    with in_new_folder() as (client, _, _):
        client.ask("pause")
        [number] = client.submit([task])
        asked = timed(3000, lambda: client.status([number]))
        durable = timed(500, lambda: client.submit([task]))
    p50, p99 = (quantile(asked, share) for share in (0.5, 0.99))
    goal = f"{REQUEST_MS} ms"
    return [
        Figure("request, p50", f"{p50:.3f} ms", goal, p50 <= REQUEST_MS),
        Figure("request, p99", f"{p99:.3f} ms", goal, p99 <= REQUEST_MS),
        Figure("durable task, p50", f"{quantile(durable, 0.5):.3f} ms", "", True),
        Figure("durable task, p99", f"{quantile(durable, 0.99):.3f} ms", "", True),
    ]


def timed(rounds: int, call: Any) -> list[float]:
    """Milliseconds of each call."""
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - begun))
    return found


def quantile(values: list[float], share: float) -> float:
    """The value below which ``share`` of ``values`` lie."""
    return sorted(values)[int(share * (len(values) - 1))]


def batches() -> list[Figure]:
    """Durable tasks a second, and the memory they wait in: the median and the most of
    ROUNDS new services, since half a second on a busy machine says little."""
    speeds, memories = zip(*(batch() for _ in range(ROUNDS)), strict=True)
    speed = median(speeds)
    memory = max(memories)
    return [
        Figure("durable tasks", f"{speed:,.0f}/s", f"{TASKS:,}/s", speed >= TASKS),
        Figure(
            f"{WAITING:,} tasks wait in",
            f"{memory:.0f} MiB",
            f"{MEMORY} MiB",
            memory <= MEMORY,
        ),
    ]


def batch() -> tuple[float, float]:
    """Tasks a second, two requests under way; MiB of a service that has WAITING."""
    tasks = [
        {
            "kind": "copy",
            "source": f"file:///scratch/run/inputs/file-{number}.data",
            "dest": f"file:///bb/inputs/file-{number}.data",
        }
        for number in range(BATCH)
    ]
    with in_new_folder() as (client, process, folder):
        client.ask("pause")
        begun = time.perf_counter()
        submit_two_at_a_time(f"{folder}/sockets/control", tasks)
        return WAITING / (time.perf_counter() - begun), resident(process)


def submit_two_at_a_time(socket: str, tasks: list[dict[str, Any]]) -> None:
    """Submit WAITING tasks, in requests of ``tasks``, from two threads."""

    def submit_half(_: int) -> None:
        with Client(socket) as client:
            for _ in range(WAITING // len(tasks) // 2):
                client.submit(tasks)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(submit_half, range(2)))


def resident(process: int) -> float:
    """MiB of memory."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


def estimates() -> list[Figure]:
    """The ETA of each task as it is submitted, after 20 samples: ten rounds of four
    tasks, so that some wait. No task has a rate: what the service knows is what it has
    learned. The judged figure is on a device of a steady speed, which it does not know
    either; on the disk of a busy machine the same is for information."""
    figures = []
    for name, serve, goal in (
        (f"ETA within {NEAR:.0%}", STEADY, f"{OFTEN:.0%}"),
        ("the same on this disk", SERVE, ""),
    ):
        before, after = near_estimates(serve)
        shown = f"{after:.0%}, untaught {before:.0%}"
        figures.append(Figure(name, shown, goal, not goal or after >= OFTEN))
    return figures


def near_estimates(serve: str) -> tuple[float, float]:
    """The share of tasks whose ETA was near: before the first sample, and after 20."""
    draw = random.Random(1)
    sizes = [draw.randrange(9, 48) * MIB for _ in range(64)]
    with in_new_folder(serve) as (client, _, folder):
        tasks = [copy_of(folder, number, size) for number, size in enumerate(sizes)]
        before = near_in_round(client, tasks[:4])
        client.wait(client.submit(tasks[4:24]))
        near = sum(near_in_round(client, tasks[n : n + 4]) for n in range(24, 64, 4))
    return before / 4, near / 40


def near_in_round(client: Client, tasks: list[dict[str, Any]]) -> int:
    client.ask("pause")
    numbers = client.submit(tasks)
    found = client.status(numbers, eta=True)
    begun = time.time()
    client.ask("resume")
    near = 0
    for before, task in zip(found, client.wait(numbers), strict=True):
        took = task["ended_at"] - begun
        near += abs(before["seconds_left"] - took) <= NEAR * took
    return near


def beside_copies() -> list[Figure]:
    """A job on every processor, alone and beside copies."""
    with in_new_folder() as (client, _, folder):
        sources = [copy_of(folder, number, SIZE) for number in range(20)]

        def another(number: int) -> dict[str, Any]:
            dest = f"file://{folder}/beside/{number}"
            return {**sources[number % len(sources)], "dest": dest}

        slower, speed = slowdown(client, another)
    shown = f"{slower:.3f}, at {speed / MIB:.0f} MiB/s"
    goal = f"{SLOWER:.2f}"
    return [Figure("job beside copies", shown, goal, slower <= SLOWER)]


def copy_of(folder: str, number: int, size: int) -> dict[str, Any]:
    """A task for a new file."""
    source = Path(folder, "from", str(number))
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(os.urandom(MIB) * (size // MIB))
    dest = f"file://{folder}/to/{number}"
    return {"kind": "copy", "source": f"file://{source}", "dest": dest, "size": size}


def deadlines() -> list[Figure]:
    """One server at 80 % load for 20,000 tasks: those that end too late."""
    late = {"EDF": missed(True), "FCFS": missed(False)}
    ratio = late["EDF"] / max(1, late["FCFS"])
    value = f"{late['EDF']} of {late['FCFS']} ({ratio:.0%})"
    return [Figure("EDF misses, of FCFS's", value, f"{MISSES:.0%}", ratio <= MISSES)]


def missed(by_deadline: bool) -> int:
    """How many tasks end late; the queue is the service's own."""
    draw = random.Random(3)
    waiting = TaskQueue()
    now = late = 0.0
    arriving = 0.0
    left = 20_000
    lengths = {}
    until = {}
    for number in range(left):
        arriving += draw.expovariate(0.8)
        lengths[number] = draw.expovariate(1.0)
        until[number] = arriving + lengths[number] + draw.uniform(1, 20)
        while now < arriving:
            took, was_late = served(waiting, lengths, until, now)
            late += was_late
            now = now + took if took else arriving
        spec = {"kind": "copy", "source": "a://b"}
        if by_deadline:
            spec["deadline"] = until[number]
        waiting.add(StagerTask(number, Origin(1, 0.0, number), spec))
    return int(late)


def served(
    waiting: TaskQueue, lengths: dict[int, float], until: dict[int, float], now: float
) -> tuple[float, bool]:
    """How long the next task takes, 0 where there is none; whether it ends late."""
    task = waiting.take(now)
    if task is None:
        return 0.0, False
    return lengths[task.id], now + lengths[task.id] > until[task.id]


def main() -> int:
    """0 where every goal is met."""
    measures = (requests, batches, beside_copies, estimates, deadlines)
    found = [figure for measure in measures for figure in measure()]
    for figure in found:
        goal = f"goal {figure.goal}" if figure.goal else ""
        judged = ("met" if figure.is_met else "MISSED") if figure.goal else ""
        print(f"{figure.name:26} {figure.value:>20}  {goal:16} {judged}")
    return 0 if all(figure.is_met for figure in found) else 1


if __name__ == "__main__":
    sys.exit(main())
