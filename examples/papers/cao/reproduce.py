"""Tables 3 and 4 and Fig. 1 of Cao, Settlemyer and Bent (2017), simulated again.

What is simulated is in machine.yml and mix.yml beside this file.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pegasus_bb_lab.mix.campaign import simulate
from pegasus_bb_lab.mix.cases import PARITY, PLACEMENT, REPAIR, vary
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.mix.paired import difference
from pegasus_bb_lab.mix.single_run import dump_bandwidth
from pegasus_bb_lab.model.machine import LOCAL, PLACEMENTS, SHARED, read_machine
from pegasus_bb_lab.model.mix import read_mix

from pegasus_bb.cli.progress_bar import described_progress

HERE = Path(__file__).parent
MACHINE = read_machine(HERE / "machine.yml", {})
MIX = read_mix(str(HERE / "mix.yml"), MACHINE, {})
SEEDS, SEEDS_OF_TABLE_3 = 10, 50
PARITIES = (0, 10, 20, 30, 40, 50)  # per cent
REPAIRS = {"1s": 1.0, "1h": 3600.0}
PAPER: dict[str, Any] = {
    "table4": {
        "shared": {"min": 36.1, "max": 1080.4, "mean": 614.54, "median": 645.3},
        "local": {"min": 18.0, "max": 1424.8, "mean": 206.8, "median": 184.8},
        "shared20": {"min": 28.8, "max": 884.6, "mean": 485.0, "median": 510.6},
        "local20": {"min": 14.8, "max": 1139.8, "mean": 165.6, "median": 147.4},
    },
    "table3": {
        "local_1s": {"node_hours": 18442.6, "productive": 16216.6, "percent": 87.9},
        "local_1h": {"node_hours": 18696.1, "productive": 16215.2, "percent": 86.7},
        "shared_1s": {"node_hours": 18831.2, "productive": 16447.5, "percent": 87.3},
        "shared_1h": {"node_hours": 18453.4, "productive": 16448.5, "percent": 89.1},
    },
}


@cache
def campaign(architecture: str, parity: int, repair: str, seed: int) -> Outcome:
    machine = vary(vary(MACHINE, PARITY, parity / 100), REPAIR, REPAIRS[repair])
    return simulate(machine, MIX, architecture, seed)


def mean(
    of: Callable[[Outcome], float], architecture: str, parity: int, seeds: range
) -> float:
    found = (campaign(architecture, parity, "1s", seed) for seed in seeds)
    return statistics.fmean(of(outcome) for outcome in found)


def table4(seeds: range) -> dict[str, Any]:
    """GB/s of checkpoints; means over the seeds."""
    return {
        architecture + (str(parity) if parity else ""): {
            key: round(
                mean(lambda found, key=key: getattr(found, key) / 1e9, *case, seeds), 1
            )
            for key in ("min", "max", "mean", "median")
        }
        for case in ((SHARED, 0), (LOCAL, 0), (SHARED, 20), (LOCAL, 20))
        for architecture, parity in [case]
    }


def table3(seeds: range) -> dict[str, Any]:
    """Thousand node-hours, and their productive part."""
    found: dict[str, Any] = {}
    for architecture in (LOCAL, SHARED):
        shares = {}
        for repair in REPAIRS:
            runs = [campaign(architecture, 0, repair, seed) for seed in seeds]
            shares[repair] = [100 * run.productive for run in runs]
            hours = statistics.fmean(run.node_hours for run in runs)
            useful = statistics.fmean(run.productive_node_hours for run in runs)
            found[f"{architecture}_{repair}"] = {
                "node_hours": round(hours / 1e3, 1),
                "productive": round(useful / 1e3, 1),
                "percent": round(statistics.fmean(shares[repair]), 2),
            }
        apart = difference(shares["1h"], shares["1s"])
        found[f"{architecture}_1h_less_1s"] = {
            "points": round(apart.mean, 3),
            "half": None if apart.half is None else round(apart.half, 3),
            "told_apart": apart.told_apart,
        }
    return found


def figure1(seeds: range) -> dict[str, Any]:
    """Per cent of node-hours that are overhead, and this to that without parity; by
    Young it grows as (1-q)^-1/2."""
    found: dict[str, Any] = {}
    for architecture in (LOCAL, SHARED):
        whole = mean(lambda run: run.overhead, architecture, 0, seeds)
        found[architecture] = {}
        for parity in PARITIES:
            overhead = mean(lambda run: run.overhead, architecture, parity, seeds)
            found[architecture][str(parity)] = {
                "overhead": round(100 * overhead, 2),
                "ratio": round(overhead / whole, 3),
                "expected": round((1 - parity / 100) ** -0.5, 3),
            }
    return found


def full_machine(seeds: range) -> dict[str, float]:
    """GB/s of one checkpoint of all nodes, by placement of the stripes."""
    per_node = MACHINE.memory * MIX.checkpoint
    found = {}
    for placement in PLACEMENTS:
        machine = vary(MACHINE, PLACEMENT, placement)
        rates = [
            dump_bandwidth(machine, SHARED, machine.nodes, per_node, seed)
            for seed in seeds
        ]
        found[placement] = round(statistics.fmean(rates) / 1e9, 1)
    one = dump_bandwidth(MACHINE, LOCAL, MACHINE.nodes, per_node, 0)
    return {**found, "local": round(one / 1e9, 1)}


def verdict(row: dict[str, Any]) -> str:
    if row["half"] is None:
        return "points: one seed has no interval"
    told = "told apart" if row["told_apart"] else "not told apart"
    return f"+-{row['half']:.3f} points, {told}"


def lines(found: dict[str, Any]) -> Iterator[str]:
    seeds = found["seeds"]
    yield f"Table 4, GB/s (the paper's in brackets), {seeds['table4']} seeds"
    for case, row in found["table4"].items():
        paper = PAPER["table4"][case]
        cells = (f"{key} {row[key]:7.1f} [{paper[key]:7.1f}]" for key in row)
        yield f"  {case:9} {'  '.join(cells)}"
    yield ""
    yield f"Table 3, thousand node-hours, {seeds['table3']} seeds"
    for case, row in found["table3"].items():
        if case not in PAPER["table3"]:
            yield f"  {case.replace('_', ' ')}: {row['points']:+.3f} {verdict(row)}"
            continue
        paper = PAPER["table3"][case]
        cells = (f"{key} {row[key]:8.1f} [{paper[key]:8.1f}]" for key in row)
        yield f"  {case:9} {'  '.join(cells)}"
    yield ""
    yield f"Fig. 1, overhead by parity, {seeds['fig1']} seeds"
    for architecture, rows in found["fig1"].items():
        for parity, row in rows.items():
            yield (
                f"  {architecture:6} {parity:>2} %: {row['overhead']:5.2f} % of the "
                f"node-hours, {row['ratio']:.3f} of that without; "
                f"(1-q)^-1/2 is {row['expected']:.3f}"
            )
    yield ""
    yield "One checkpoint of all nodes, GB/s, by placement"
    yield "  " + ", ".join(f"{k} {v:.1f}" for k, v in found["full_machine"].items())


@contextmanager
def progress(of: int) -> Iterator[None]:
    """A bar that follows the campaigns."""
    global campaign
    plain = campaign
    with described_progress() as tell:

        def counted(*case: Any) -> Outcome:
            found = plain(*case)
            tell("campaigns", plain.cache_info().misses, of)
            return found

        campaign = counted  # type: ignore[assignment]
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="run")
    parser.add_argument("--seeds", type=int, help="of everything (10; Table 3: 50)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.seeds is not None and options.seeds < 1:
        parser.error("--seeds is a number above zero")
    few = range(options.seeds or SEEDS)
    many = range(options.seeds or SEEDS_OF_TABLE_3)
    # Six parities, and Table 3 beyond the seeds of the first of them.
    of = 2 * (len(PARITIES) * len(few) + 2 * len(many) - len(few))
    with progress(of):
        found = {
            "seeds": {"table4": len(few), "table3": len(many), "fig1": len(few)},
            "table4": table4(few),
            "table3": table3(many),
            "fig1": figure1(few),
            "full_machine": full_machine(few),
        }
    if options.json:
        print(json.dumps({**found, "paper": PAPER}, indent=1))
    else:
        print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
