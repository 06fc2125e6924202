"""A comparison in which everything is known, made by hand."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import fsum
from typing import Any

from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.model.run import (
    Calls,
    Drained,
    Kind,
    Layer,
    LiveBytes,
    NodeTimes,
    Run,
    Task,
)
from pegasus_bb.report.benchmark import BenchCell, Benchmark
from pegasus_bb.report.compare import compare
from pegasus_bb.report.probe import Sample
from pegasus_bb.report.report_document import Comparison
from pegasus_bb.report.run_clock import by_the_clock

_OPS = ("read", "write")
MIB = 1 << 20


def a_task(node: str, kind: Kind, start: float, duration: float, **more: Any) -> Task:
    values = {"exit_code": 0, "utime": duration * 0.6, "stime": duration * 0.1, **more}
    return Task(
        transformation=node.split("_")[0],
        job=node,
        node=node,
        kind=kind,
        site="cluster",
        start=start,
        duration=duration,
        **values,
    )


def seen(processes: int, seconds: float) -> dict[str, Any]:
    """What Darshan saw of one job of that many processes."""
    busy = seconds * processes
    layers = [
        Layer(
            name,
            0,
            MIB * processes,
            processes,
            0.0,
            busy,
            busy / 9,
            part,
            0.0,
            part,
            3 * busy,
        )
        for name, part in (("POSIX", seconds / 2), ("MPI-IO", seconds))
    ]
    return {"calls": Calls(0, MIB * processes, seconds), "layers": tuple(layers)}


def wide(processes: int, seconds: float) -> Task:
    """A job of several processes."""
    return a_task(
        "mpi_1",
        Kind.COMPUTE,
        114.0,
        seconds * 8,
        rchar=0,
        wchar=MIB * processes,
        **seen(processes, seconds),
    )


def tasks(slow: float, jobs: int) -> list[Task]:
    """Stage-in, ``jobs`` jobs side by side, stage-out, cleaning up."""
    return [
        a_task("create_dir", Kind.CREATE_DIR, 110.0, 0.25),
        a_task("stage_in_0", Kind.STAGE_IN, 111.0, 2.0),
        *(
            a_task(
                f"work_{n}",
                Kind.COMPUTE,
                113.0 + n / 8,
                slow * (4 + n / 4),
                rchar=(n + 1) * 3 * MIB,
                wchar=MIB,
            )
            for n in range(jobs)
        ),
        a_task("stage_out_0", Kind.STAGE_OUT, 140.0, 1.5),
        a_task("cleanup_0", Kind.CLEANUP, 142.0, 0.5),
    ]


def a_comparison(jobs: int = 6, benchmark: Benchmark | None = None) -> Comparison:
    """Two repetitions of a side."""
    gate = NodeTimes("create_dir", pre_started=101.0, pre_ended=109.0)
    live = LiveBytes(
        steps=((111.0, 5 * MIB), (113.5, 40 * MIB), (143.0, 0)),
        capacity=64 * MIB,
        unknown=1,
        reserved=((103.0, 64 * MIB), (143.75, 0)),
    )
    of_jobs = LiveBytes(
        steps=((113.0, 3 * MIB), (115.0, 9 * MIB), (117.0, 0)),
        capacity=20 * MIB,
        unknown=0,
        reserved=((113.0, 10 * MIB), (114.5, 20 * MIB), (117.0, 0)),
    )
    setup = a_task("bb_setup_BB1", Kind.BB_SETUP, 100.0, 0.5)
    delete = a_task("bb_delete_BB2", Kind.BB_DELETE, 143.0, 0.75)
    pfs = [
        Run("demo", "off", tasks=(*tasks(s, jobs), wide(p, s)))
        for s, p in ((2.0, 4), (2.25, 16))
    ]
    bb = [
        Run(
            "demo",
            "persistent",
            "bb",
            "directory",
            tasks=(setup, *tasks(s, jobs), wide(p, s), delete),
            nodes=(gate,),
            gate_wait=8.0,
            live=live,
            drained=Drained(103.0, 105.0, 300, 200.5, ((103.0, 200.5), (104.0, 99.5))),
            live_job_reservations=of_jobs,
            reserved=3.5 * MIB,
            predicted=46.5,
        )
        for s, p in ((1.0, 4), (1.125, 16))
    ]
    samples = [Sample(100.0 + n, op, n / 512) for n in range(9) for op in _OPS]
    sides = ([_timed(run) for run in side] for side in (pfs, bb))
    return compare(*sides, benchmark, samples)


def _timed(run: Run) -> Run:
    """As a reader of its records would say how long it took."""
    return replace(run, makespan=fsum(by_the_clock(run).values()))


def a_benchmark() -> Benchmark:
    """Two blocks by three numbers of processes on two tiers."""
    cells = tuple(
        _cell(tier, block, processes, rate)
        for tier, rate in (("pfs", 120.5), ("bb", 960.25))
        for block in (64, 256)
        for processes in (1, 4, 16)
    )
    return Benchmark({"version": 1, "cells": [asdict(cell) for cell in cells]}, cells)


def _cell(tier: str, block: int, processes: int, rate: float) -> BenchCell:
    mean = rate * MIB * processes**0.5
    write = Stat(mean, mean / 32, 3)
    read = Stat(mean * 2, mean / 32, 3)
    kind = ("fsync", "file-per-process")
    return BenchCell(tier, *kind, block * MIB, processes, write, read)
