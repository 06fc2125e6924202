"""How fast the demo's two places are, measured in some seconds, for the simulator.

Through the page cache, as the demo's tasks read and write: these are not the speeds of
disks. `pegasus-bb` takes the file with --bb-speeds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pegasus_bb.report.bench.built_in_engine import BuiltInBenchmark

_SIZE = 64 << 20  # bytes of each file
_BLOCK = bytes(1 << 20)
_OPENED = 200  # files
_REPETITIONS = 5  # the median counts, for others may be at work
_SECONDS = 0.3  # of operations on small files


def write_speeds(
    path: Path, places: dict[str, Path], cores: int
) -> dict[str, dict[str, str]]:
    """Measure ``places``, folders by tier, and write ``path``; what is written."""
    lines, found = ["cluster:", f"  slots: {cores}"], {}
    for name, folder in places.items():
        folder.mkdir(parents=True, exist_ok=True)
        found[name] = _measured(folder, cores)
        words = ", ".join(f"{key}: {value}" for key, value in found[name].items())
        lines.append(f"  {name}: {{{words}}}")
    path.write_text("\n".join(lines) + "\n")
    return found


def _measured(folder: Path, cores: int) -> dict[str, str]:
    files = [folder / f"speed-{number}" for number in range(cores)]
    try:
        job_write, write = _rate(_write, files[:1]), _rate(_write, files)
        job_read, read = _rate(_read, files[:1]), _rate(_read, files)
        latency = _latency(folder / "speed-0")
        job_ops, ops = _operations(folder, 1), _operations(folder, cores)
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    rates = {
        "read": read,
        "write": write,
        "job_read": job_read,
        "job_write": job_write,
    }
    return {
        **{key: f"{int(rate / 1e6)}MB/s" for key, rate in rates.items()},
        "latency": f"{latency * 1e6:.0f}us",
        "ops": f"{int(max(ops, job_ops))}/s",
        "job_ops": f"{int(job_ops)}/s",
    }


def _rate(move: Callable[[Path], None], files: list[Path]) -> float:
    """Bytes per second of all ``files`` at the same time."""
    took = []
    for _ in range(_REPETITIONS):
        begun = time.perf_counter()
        with ThreadPoolExecutor(len(files)) as threads:
            list(threads.map(move, files))
        took.append(time.perf_counter() - begun)
    return len(files) * _SIZE / median(took)


def _write(path: Path) -> None:
    with path.open("wb", buffering=0) as out:
        for _ in range(_SIZE // len(_BLOCK)):
            out.write(_BLOCK)


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as source:
        while source.read(len(_BLOCK)):
            pass


def _operations(folder: Path, processes: int) -> float:
    """A second, of all ``processes``: as ``pegasus-bb bench`` counts them."""
    engine, rates = BuiltInBenchmark(processes), []
    try:
        for _ in range(_REPETITIONS):
            with TemporaryDirectory(dir=folder, prefix="speed-") as files:
                rates.append(engine.operate(processes, files, _SECONDS))
    finally:
        engine.close()
    return median(rates)


def _latency(path: Path) -> float:
    begun = time.perf_counter()
    for _ in range(_OPENED):
        os.close(os.open(path, os.O_RDONLY))
    return (time.perf_counter() - begun) / _OPENED
