"""The simulated device: nothing is lost, both kernels agree, WAF is as in theory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.flash import device
from pegasus_bb_lab.flash.counters import State
from pegasus_bb_lab.flash.device import Kernel, new_device
from pegasus_bb_lab.flash.geometry import Geometry
from pegasus_bb_lab.flash.plain_device import Plain

from lab.tests.flash.theory import greedy, uniform

FILES = 6
Device = Callable[[Geometry, int], Kernel]


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Small devices, some of them with no more than the one spare block."""
    pages = draw(st.integers(1, 8))
    logical = draw(st.integers(1, 60))
    streams = draw(st.integers(1, 3))
    needed = -(-logical // pages) + 2 * streams + 1
    blocks = needed + draw(st.integers(1, 4))
    return Geometry(blocks, pages, logical, streams, draw(st.booleans()))


# Mostly writes: a device that is never full copies nothing.
events = st.lists(
    st.integers(0, FILES - 1) | st.integers(0, FILES - 1) | st.integers(-FILES, -1),
    min_size=20,
    max_size=400,
)
placed = st.lists(st.integers(0, 2), min_size=FILES, max_size=FILES)


def streams_of(geometry: Geometry, wanted: list[int]) -> bytes:
    return bytes(each % geometry.streams for each in wanted)


def check_state(geometry: Geometry, found: State) -> None:
    """Every mapped page is in a place of its own, and blocks count them rightly."""
    mapped = [place for place in found.place if place >= 0]
    assert len(set(mapped)) == len(mapped) == sum(found.valid) <= geometry.logical
    blocks = Counter(place // geometry.pages for place in mapped)
    assert found.valid == [blocks[block] for block in range(geometry.blocks)]


compiled_only = pytest.mark.skipif(
    not list(device._built()), reason="_flash.c was not compiled"
)


@compiled_only
@given(geometries(), events, placed, st.integers(1, 3))
def test_both_kernels_agree_bit_for_bit(
    geometry: Geometry, story: list[int], wanted: list[int], unit: int
) -> None:
    compiled = new_device(geometry, FILES)
    plain = Plain(geometry, FILES)
    assert isinstance(compiled, device.Compiled)
    streams = streams_of(geometry, wanted)
    for part in (story[:50], story[50:]):
        compiled.replay(array("i", part), streams, unit)
        plain.replay(part, streams, unit)
        assert compiled.counters() == plain.counters()
        assert compiled.state() == plain.state()


@compiled_only
@given(geometries(), st.data())
def test_both_kernels_agree_on_overwrites(
    geometry: Geometry, data: st.DataObject
) -> None:
    page = st.integers(0, geometry.logical - 1)
    pages = data.draw(st.lists(page, min_size=50, max_size=300))
    compiled = new_device(geometry, 1)
    plain = Plain(geometry, 1)
    for each in (compiled, plain):
        each.overwrite(array("i", pages), geometry.streams - 1)
    assert compiled.counters() == plain.counters()
    assert compiled.state() == plain.state()
    check_state(geometry, plain.state())
    assert sum(place >= 0 for place in plain.state().place) == len(set(pages))


@given(geometries(), events, placed)
def test_pages_are_conserved(
    geometry: Geometry, story: list[int], wanted: list[int]
) -> None:
    device = new_device(geometry, FILES)
    live = Counter[int]()
    for event in story:
        device.replay(array("i", [event]), streams_of(geometry, wanted), 1)
        if event < 0:
            live[-event - 1] = 0
        elif live.total() < geometry.logical:
            live[event] += 1
    found = device.state()
    counters = device.counters()
    check_state(geometry, found)
    mapped = sum(place >= 0 for place in found.place)
    assert mapped == live.total() if geometry.trim else mapped >= live.total()
    writes = sum(event >= 0 for event in story)
    assert sum(counters.host) + counters.refused == writes
    both = zip(counters.host, counters.nand, strict=True)
    assert all(nand >= host for host, nand in both)  # WAF >= 1, of each stream


@pytest.mark.parametrize("device", [new_device, Plain], ids=["compiled", "plain"])
def test_a_full_device_refuses_until_a_file_is_deleted(device: Device) -> None:
    flash = device(Geometry(8, 4, 16, 1, True), 2)
    flash.replay(array("i", [0] * 12 + [1] * 10), bytes(2), 1)
    assert flash.counters().refused == 6
    flash.replay(array("i", [-1] + [1] * 12), bytes(2), 1)
    assert flash.counters().refused == 6
    assert sum(flash.state().valid) == 16


@pytest.mark.parametrize("used", [0.7, 0.8, 0.87, 0.93])
def test_uniform_writes_are_amplified_as_theory_says(used: float) -> None:
    waf = uniform(used, pages=64, blocks=1024)
    assert waf == pytest.approx(greedy(1 / used), rel=0.1)
