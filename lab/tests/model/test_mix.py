"""A mix of applications, read from YAML, and every mistake with its line and key."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pegasus_bb_lab.model.mix import APEX, Application, Cores, Mix, Sizes, read_mix

from lab.tests.mix.machines import MACHINE
from tests.support.mistakes import check_mistake

MIX = """\
applications:
  - name: wide
    share: 60
    walltime: 30h
    cores: {routine: 400, hero: 800}
    pipelines: 4
sizes: {factor: 1.5, sigma: 0.4}
full_machine: 1
workflows: 60
checkpoint: 35
interval: daly
queue: fcfs
walltime: 8h
campaign: 4d
"""


def read(folder: Path, text: str) -> Mix:
    path = folder / "mix.yml"
    path.write_text(text)
    return read_mix(str(path), MACHINE, {})


def test_a_mix(tmp_path: Path) -> None:
    found = read(tmp_path, MIX)
    assert found == Mix(
        applications=(Application("wide", 60, 108000.0, Cores(400, 800), 4),),
        sizes=Sizes(1.5, 0.4),
        full_machine=1,
        workflows=60,
        checkpoint=0.35,
        interval="daly",
        queue="fcfs",
        walltime=28800.0,
        campaign=345600.0,
        source=str(tmp_path / "mix.yml"),
    )


def test_what_may_be_left_out(tmp_path: Path) -> None:
    lines = MIX.splitlines(keepends=True)
    text = "".join([*lines[:6], *lines[9:11], lines[13]])
    found = read(tmp_path, text.replace("daly", "1800s"))
    assert (found.sizes, found.full_machine, found.workflows) == (None, 0, 0)
    assert (found.interval, found.queue, found.walltime) == (1800, "first-fit", 86400)


def test_the_mix_of_the_paper_comes_with_the_package() -> None:
    found = read_mix(APEX, replace(MACHINE, nodes=9500, cores=32), {})
    rows = [
        (each.name, each.share, each.walltime / 3600, each.cores)
        for each in found.applications
    ]
    assert rows == [  # Cao et al. 2017, Table 1
        ("EAP", 60, 984, Cores(32768, 65536)),
        ("LAP", 5, 20, Cores(4096, 32768)),
        ("Silverton", 15, 192, Cores(32768, 131072)),
        ("VPIC", 10, 144, Cores(32768, 65536)),
    ]
    assert [each.pipelines for each in found.applications] == [125, 35, 36, 24]


@pytest.mark.parametrize(
    ("there", "instead", "key", "line", "words"),
    [
        ("hero: 800", "hero: 1001", "applications.0.cores.hero", 5, "1001 cores is"),
        ("factor: 1.5", "factor: -1", "sizes.factor", 7, "above 0"),
        ("campaign: 4d", f"campaign: {'9' * 5000}d", "campaign", 14, "longer than any"),
        ("interval: daly", "interval: 0s", "interval", 11, "a time above zero"),
    ],
)
def test_a_mistake_is_named(
    tmp_path: Path, there: str, instead: str, key: str, line: int, words: str
) -> None:
    assert there in MIX
    wrong = MIX.replace(there, instead, 1)
    check_mistake(partial(read, tmp_path), wrong, key, line, words)
