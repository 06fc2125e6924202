"""How fast the demo's two places are, measured in a second or two, for the simulation.

Through the page cache, as the demo's tasks read and write: these are not the speeds of
disks. `pegasus-bb` takes the file with --bb-speeds.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_SIZE = 64 << 20  # bytes of each file
_BLOCK = bytes(1 << 20)
_OPENED = 200  # files
_MADE = 1500  # small files that each process makes, then removes
_ROUNDS = 2  # a disk is slower in the second: it passes over what was just removed
_CALLS = 5  # for each of them: create, write, close, ask for, remove


def write_speeds(path: Path, places: dict[str, Path], cores: int) -> None:
    """Measure ``places``, folders by tier, and write ``path``."""
    lines = ["cluster:", f"  slots: {cores}"]
    for name, folder in places.items():
        folder.mkdir(parents=True, exist_ok=True)
        lines.append(f"  {name}: {{{_measured(folder, cores)}}}")
    path.write_text("\n".join(lines) + "\n")


def _measured(folder: Path, cores: int) -> str:
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
    words = [f"{key}: {int(rate / 1e6)}MB/s" for key, rate in rates.items()]
    words.append(f"latency: {latency * 1e6:.0f}us")
    return ", ".join([*words, f"ops: {ops:.0f}/s", f"job_ops: {job_ops:.0f}/s"])


def _rate(move: Callable[[Path], None], files: list[Path]) -> float:
    """Bytes per second of all ``files`` at the same time."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(len(files)) as threads:
        list(threads.map(move, files))
    return len(files) * _SIZE / (time.perf_counter() - begun)


def _write(path: Path) -> None:
    with path.open("wb", buffering=0) as out:
        for _ in range(_SIZE // len(_BLOCK)):
            out.write(_BLOCK)


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as source:
        while source.read(len(_BLOCK)):
            pass


def _latency(path: Path) -> float:
    begun = time.perf_counter()
    for _ in range(_OPENED):
        os.close(os.open(path, os.O_RDONLY))
    return (time.perf_counter() - begun) / _OPENED


def _operations(folder: Path, processes: int) -> float:
    """Calls a second of all ``processes`` that make and remove small files."""
    begun = time.perf_counter()
    children = [_child(folder / f"small-{number}") for number in range(processes)]
    for child in children:
        os.waitpid(child, 0)
    calls = processes * _ROUNDS * _MADE * _CALLS
    return calls / (time.perf_counter() - begun)


def _child(folder: Path) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for _ in range(_ROUNDS):
                _make_and_remove(folder)
            status = 0
        finally:
            os._exit(status)
    return child


def _make_and_remove(folder: Path) -> None:
    folder.mkdir()
    block = bytes(4096)
    for number in range(_MADE):
        path = f"{folder}/{number}"
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.write(file, block)
        os.close(file)
        os.stat(path)
    shutil.rmtree(folder)
