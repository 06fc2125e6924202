"""Small devices with small loads; a study of one takes a fraction of a second."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb_lab.model.flash_device import FlashInput, read_flash

DEVICE = """\
device: {raw: 264MiB, capacity: 240MiB, block: 2MiB, page: 256KiB, streams: 4,
         bandwidth: 64MiB/s, devices: 2, trim: true}
"""
LOAD = "load: {time: 120s, after: 60s, stripe: 256KiB, fill: 0.95, %s}\n"
USERS = """users: {count: 8, threads: 2, file: 4MiB, drop: 0.15,
         capacities: [1, 2, 3, 4], configuration: 3}"""
WORKFLOWS = """workflows: {count: 16, users: 2, cores: 4, rate: 8MiB/s, spread: 0.3,
         pause: 1s, shapes: [%s]}"""
CHAIN = """{name: chain, stages: [
           {name: first, tasks: 1, writes: 8MiB, computes: 1s},
           {name: second, tasks: 1, writes: 8MiB, reads: {first: 1}},
           {name: third, tasks: 1, writes: 4MiB, reads: {second: all}, keep: true}]}"""
DIAMOND = """{name: diamond, stages: [
           {name: split, tasks: 1, writes: 16MiB},
           {name: work, tasks: 6, writes: 4MiB, computes: 2s, reads: {split: 1}},
           {name: join, tasks: 1, writes: 8MiB, reads: {work: all}}]}"""
SHAPES = {"chain": CHAIN, "diamond": DIAMOND, "both": f"{CHAIN}, {DIAMOND}"}


def users_file(folder: Path) -> Path:
    path = folder / "users.yml"
    path.write_text(DEVICE + LOAD % USERS + "errors: [0, 0.5]\n")
    return path


def workflows_file(folder: Path, shapes: str = "both") -> Path:
    path = folder / "workflows.yml"
    path.write_text(DEVICE + LOAD % (WORKFLOWS % SHAPES[shapes]) + "errors: [0, 0.5]\n")
    return path


def users(folder: Path) -> FlashInput:
    return read_flash(users_file(folder))


def workflows(folder: Path, shapes: str = "both") -> FlashInput:
    return read_flash(workflows_file(folder, shapes))
