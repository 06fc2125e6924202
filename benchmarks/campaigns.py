"""The simulator of a machine full of jobs: its speed, and the tables of Cao et al.

python benchmarks/campaigns.py [seeds]    (10, and 50 of Table 3: some minutes)
"""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegasus_bb_lab.mix.campaign import simulate
from pegasus_bb_lab.model.machine import LEAST_LOADED, RANDOM, SHARED

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Simulation, Steps

# of the shared campaign of Table 4, one seed, one core
SECONDS = 10.0
MIB = 1024.0
WRITE = 1400.0  # GB/s of all buffer nodes together
CAO = Path(__file__).parents[1] / "examples" / "papers" / "cao" / "reproduce.py"
Check = tuple[str, float, str, bool]  # what, found, goal, whether it is kept


def main() -> int:
    given = int(sys.argv[1]) if len(sys.argv) > 1 else None
    few = range(given or 10)
    many = range(given or 50)
    events()
    cao = load()
    kept = [speed(cao)]
    checks = (table4(cao, few), table3(cao, many), figure1(cao, few), beyond(cao, few))
    for each in checks:
        for what, found, goal, is_kept in each:
            mark = "" if is_kept else "  MISSED"
            print(f"{what}: {found:.3f} (goal: {goal}){mark}")
            kept.append(is_kept)
    return 0 if all(kept) else 1


def load() -> Any:
    spec = importlib.util.spec_from_file_location("reproduce", CAO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def events() -> None:
    """Processes that sleep; and processes that share one server."""
    simulation = Simulation()
    count = 200_000

    def sleeper() -> Steps:
        for _ in range(count // 1000):
            yield 1.0

    for _ in range(1000):
        simulation.start(sleeper())
    print(f"events: {count / timed(simulation):,.0f}/s")
    for at_once in (10, 140, 10_000):
        simulation = Simulation()
        lane = Lane(1e9)
        SharedServer(simulation, [lane])

        def user(number: int, lane: Lane = lane) -> Steps:
            for step in range(5):
                yield lane.request(1e6 + number + step)

        rounds = max(1, 20_000 // at_once)
        for number in range(at_once):
            simulation.start(user(number))
        done = 5 * at_once
        seconds = timed(simulation)
        for _ in range(rounds - 1):
            for number in range(at_once):
                simulation.start(user(number))
            seconds += timed(simulation)
            done += 5 * at_once
        print(f"requests of one server, {at_once} at once: {done / seconds:,.0f}/s")


def timed(simulation: Simulation) -> float:
    begun = time.process_time()
    simulation.run()
    return time.process_time() - begun


def speed(cao: Any) -> bool:
    begun = time.process_time()
    simulate(cao.MACHINE, cao.MIX, SHARED, 0)
    seconds = time.process_time() - begun
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"shared campaign of Table 4, one seed: {seconds:.2f} s of one core, "
        f"{most:.0f} MiB (goals: {SECONDS:g} s, {MIB:g} MiB)"
    )
    return seconds <= SECONDS and most <= MIB


def table4(cao: Any, seeds: range) -> Iterator[Check]:
    found = cao.table4(seeds)
    paper = cao.PAPER["table4"]
    shared = found["shared"]
    local = found["local"]
    goals = [("shared", key, 0.05) for key in ("mean", "median", "max")]
    for case, key, goal in [*goals, ("local", "mean", 0.07)]:
        error = found[case][key] / paper[case][key] - 1
        within = abs(error) <= goal
        yield f"Table 4, {case} {key}, error", error, f"{goal} at most", within
    ratio = shared["median"] / local["median"]
    yield "Table 4, ratio of medians", ratio, "3.2 to 4.0", 3.2 <= ratio <= 4.0
    faster = local["max"] / shared["max"]
    yield "Table 4, full machine, local to shared", faster, "above 1", faster > 1
    for key in ("min", "max", "mean", "median"):
        ratio = found["local20"][key] / local[key]
        is_kept = abs(ratio - 0.8) <= 0.015
        yield f"parity 20 %, local {key}", ratio, "0.80", is_kept
    for key in ("max", "mean", "median"):
        ratio = found["shared20"][key] / shared[key]
        is_kept = 0.77 <= ratio <= 0.82
        yield f"parity 20 %, shared {key}", ratio, "0.77 to 0.82", is_kept


def table3(cao: Any, seeds: range) -> Iterator[Check]:
    found = cao.table3(seeds)
    for architecture in ("local", "shared"):
        row = found[f"{architecture}_1h_less_1s"]
        what = f"Table 3, {architecture}, 1 h less 1 s of repair, points"
        goal = f"not told apart: below {row['half']}"
        yield what, row["points"], goal, row["told_apart"] is False


def figure1(cao: Any, seeds: range) -> Iterator[Check]:
    for architecture, rows in cao.figure1(seeds).items():
        before = 0.0
        for parity, row in rows.items():
            error = row["ratio"] / row["expected"] - 1
            is_kept = abs(error) <= 0.15 and row["overhead"] > before
            before = row["overhead"]
            what = f"Fig. 1, {architecture}, parity {parity} %, to (1-q)^-1/2"
            yield what, 1 + error, "0.85 to 1.15, and rising", is_kept


def beyond(cao: Any, seeds: range) -> Iterator[Check]:
    found = cao.full_machine(seeds)
    share = found[LEAST_LOADED] / WRITE
    yield "full machine, least loaded of two", share, "0.95 at least", share >= 0.95
    yield "full machine, random", found[RANDOM] / WRITE, "no goal", True


if __name__ == "__main__":
    sys.exit(main())
