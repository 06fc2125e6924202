"""The clock of a device: copies take time, and figures are of a part of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_lab.flash.counters import Counters
from pegasus_bb_lab.flash.device_timeline import Timeline, run_device, slowdown
from pegasus_bb_lab.flash.flash_study import record, to_geometry

from lab.tests.flash.loads import users


def test_a_part_of_the_time_is_between_two_readings() -> None:
    readings = [
        Counters(0, 0, (host,), (nand,)) for host, nand in ((0, 0), (10, 10), (20, 40))
    ]
    found = Timeline([0.0, 10.0, 30.0], readings)
    assert found.at(20.0) == [15.0, 25.0]
    assert found.between(5.0, 20.0) == [10.0, 20.0]
    assert found.between(30.0, 99.0) == [0.0, 0.0]


def test_copies_take_time_as_the_paper_measures(tmp_path: Path) -> None:
    wanted = users(tmp_path)
    device = wanted.device
    trace = record(wanted, 0)
    streams = bytes(len(trace.files))
    found = run_device(device, to_geometry(wanted), trace.events, streams, 1)
    last = found.counters[-1]
    waf = last.nand[0] / last.host[0]
    assert waf > 1.1
    alone = last.host[0] * device.page / device.bandwidth
    assert found.seconds[-1] == pytest.approx(alone * slowdown(waf))
    assert slowdown(1.74) == pytest.approx(2.66, rel=0.14)  # section 5.2
