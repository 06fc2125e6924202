"""pegasus-bb simulate --mix, as it is typed, for a small machine."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lab.tests.flash.loads import users_file
from pegasus_bb.core.errors import DONE, USAGE
from tests.support.forked import pegasus_bb

MACHINE = """\
nodes: 100
cores: 10
memory: 100GB
nic: 10GB/s
pfs: {read: 10GB/s, write: 10GB/s}
buffers:
  shared: {nodes: 10, read: 120GB/s, write: 100GB/s, stripes: 2}
  local: {read: 120GB/s, write: 100GB/s}
faults: {mtti: 6h, repair: 1m}
"""
MIX = """\
applications:
  - {name: wide, share: 60, walltime: 30h, pipelines: 4,
     cores: {routine: 400, hero: 800}}
  - {name: narrow, share: 30, walltime: 10h, pipelines: 2,
     cores: {routine: 50, hero: 99}}
checkpoint: 50
interval: daly
walltime: 8h
campaign: 2d
"""
MANY = (
    "--nodes",
    ",".join(map(str, range(2, 101))),
    "--capacity",
    ",".join(f"{n}TB" for n in range(1, 100)),
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "machine.yml").write_text(MACHINE)
    (tmp_path / "mix.yml").write_text(MIX)
    return tmp_path


def simulate(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = ["simulate", "--mix", "mix.yml", "--machine", "machine.yml", *words]
    return pegasus_bb(given, work, os.environ)


def test_a_table_and_how_the_second_case_differs(work: Path) -> None:
    done = simulate(work, "--seeds", "3")
    assert done.returncode == DONE, done.stderr
    assert "3 seeds, mean and half of its 95 % confidence interval" in done.stdout
    assert "local, against shared:" in done.stdout
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["shared", "local"]
    assert "±" in lines[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arch", "shared,remote"), "--arch remote: machine.yml has no such buffer"),
        (("--nodes", "1"), "--nodes 1: a file has 2 stripes"),
        (("--placement", "best"), "--placement best: not a placement"),
        (("--pfs", "0GB/s"), "--pfs 0GB/s: not a bandwidth above zero"),
        (("--parity", "100"), "--parity 100: not a per cent from 0 to 99"),
        (("--mix", "apex"), "is larger than the machine"),
        (MANY, "--nodes, --capacity make 19,602 cases, and a study has at most 10,000"),
    ],
)
def test_a_mistake_is_named(work: Path, words: tuple[str, ...], said: str) -> None:
    done = simulate(work, *words)
    assert done.returncode == USAGE
    assert said in done.stderr
    assert done.stdout == ""


def test_flash(work: Path) -> None:
    """The same seeds print the same bytes; a mistake is refused with its line."""
    path = users_file(work)
    before = sorted(work.iterdir())
    words = ["simulate", "--flash", path.name, "--seeds", "2"]
    table, again = (pegasus_bb(words, work, os.environ) for _ in range(2))
    assert table.returncode == DONE, table.stderr
    assert table.stdout == again.stdout
    for word in ("legacy", "lifetime, sigma 0.5", "flash a day", "take: "):
        assert word in table.stdout
    found = json.loads(pegasus_bb([*words, "--json"], work, os.environ).stdout)
    assert f"{found['policies']['user']['waf']:.3f}" in table.stdout
    assert len(found["policies"]["pools"]["outcomes"]) == 2

    mixed = pegasus_bb([*words, "--provision", "x.yml"], work, os.environ)
    assert mixed.returncode == USAGE
    assert "--flash takes no --provision" in mixed.stderr
    path.write_text(path.read_text().replace("streams: 4", "streams: none"))
    wrong = pegasus_bb(words, work, os.environ)
    assert wrong.returncode == USAGE
    assert "users.yml:1: streams is a whole number from 1 to 256" in wrong.stderr
    assert sorted(work.iterdir()) == before
