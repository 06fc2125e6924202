"""A machine to simulate, read from YAML, and every mistake with its line and key."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest
from pegasus_bb_lab.model.machine import Faults, Machine, read_machine

from pegasus_bb.model.speeds import Speed
from tests.support.mistakes import check_mistake

MACHINE = """\
nodes: 9500
cores: 32
memory: 128GB
nic: 15GB/s
pfs: {read: 1000GB/s, write: 900GB/s, job_write: 50GB/s}
buffers:
  shared: {nodes: 200, read: 1600GB/s, write: 1400GB/s, stripes: 2, capacity: 3700TB}
  local: {read: 1900GB/s, write: 950GB/s}
parity: 20
faults: {mtti: 1428m, repair: 1h}
"""


def read(folder: Path, text: str) -> Machine:
    path = folder / "machine.yml"
    path.write_text(text)
    return read_machine(path, {})


def test_a_machine(tmp_path: Path) -> None:
    found = read(tmp_path, MACHINE)
    assert (found.nodes, found.cores, found.memory, found.nic) == (
        9500,
        32,
        128_000_000_000,
        15e9,
    )
    assert found.pfs == Speed(1e12, 9e11, 1e12, 5e10)
    assert found.parity == 0.2
    assert found.faults == Faults(85680.0, 3600.0)
    assert found.source.name == f"{tmp_path}/machine.yml"
    # Rates and capacity are divided by the nodes.
    shared, local = found.buffers["shared"], found.buffers["local"]
    assert (shared.nodes, shared.read, shared.write) == (200, 8e9, 7e9)
    assert (shared.capacity, shared.stripes) == (18.5e12, 2)
    assert shared.placement == "random"
    assert (local.nodes, local.read, local.write) == (9500, 2e8, 1e8)
    assert local.capacity == math.inf


@pytest.mark.parametrize(
    ("there", "instead", "key", "line", "words"),
    [
        ("nodes: 9500\n", "", "", 1, "without nodes"),
        ("stripes: 2", "stripes: 1001", "buffers.shared.stripes", 7, "to 1000"),
        ("cores: 32", "cores: '32'", "cores", 2, "32, without quotes"),
        ("15GB/s", "0", "nic", 4, "speed above zero"),
        ("nodes: 200", "nodes: 1", "buffers.shared.stripes", 7, "2 stripes on 1"),
        ("stripes: 2", "placement: x", "buffers.shared.placement", 7, "no such"),
        ("parity: 20", "parity: 100", "parity", 9, "from 0 to 99"),
        ("repair: 1h", "repair: soon", "faults.repair", 10, "not a duration"),
    ],
)
def test_a_mistake_is_named(
    tmp_path: Path, there: str, instead: str, key: str, line: int, words: str
) -> None:
    assert there in MACHINE
    wrong = MACHINE.replace(there, instead, 1)
    check_mistake(partial(read, tmp_path), wrong, key, line, words)
