"""The seismology of the CyberShake example, against what is known by other means."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="CyberShake's jobs compute with NumPy")
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples/cybershake/bin"))

import cybershake_synthesis as synthesis  # noqa: E402
import sgt_generator  # noqa: E402
from cybershake_layout import Rupture  # noqa: E402

DT = 0.1


def test_one_point_is_the_plain_convolution_of_sgt_and_slip() -> None:
    """The sum over frequencies gives what np.convolve gives over time."""
    timesteps = 200
    rng = np.random.default_rng(3)
    sgts = rng.normal(size=(2, 1, 6, timesteps)).astype("f4")
    header = np.array([[4.0, 2.0, 1.0, 2.5, 3.0, 30.0]], "f4")
    rupture = Rupture(1, 2, 7.0, 3, 0, 1)
    velocity = synthesis.synthesize(
        rupture, header, lambda c, first, n: sgts[c, first : first + n],
        timesteps, DT, seed=5, block=1,
    )  # fmt: skip
    slip = synthesis.Slip.draw(rupture, header[:, :3], 5)
    time = np.arange(timesteps) * DT
    for v in range(3):
        rise = slip.rise_times[v]
        rate = time / rise**2 * np.exp(-time / rise) * DT
        moment = header[0, 5] * slip.amplitudes(v, header[:, :3])[0]
        for component in (0, 1):
            wave = slip.mechanism @ sgts[component, 0] * moment
            expected = np.convolve(wave, rate)[:timesteps]
            scale = np.abs(expected).max()
            assert velocity[v, component] / scale == pytest.approx(
                expected / scale, abs=1e-4
            )


def test_blocks_only_change_the_rounding() -> None:
    rng = np.random.default_rng(3)
    sgts = rng.normal(size=(2, 9, 6, 64)).astype("f4")
    header = rng.uniform(1, 3, size=(9, 6)).astype("f4")
    one, all_ = (
        synthesis.synthesize(
            Rupture(0, 0, 7.0, 2, 0, 9), header, lambda c, i, n: sgts[c, i : i + n],
            64, DT, seed=5, block=block,
        )
        for block in (2, 9)
    )  # fmt: skip
    assert one == pytest.approx(all_, abs=1e-4 * float(np.abs(all_).max()))


def test_a_rupture_front_arrives_later_at_points_further_away() -> None:
    places = np.array([[0.0, 0, 0], [2.4, 0, 0], [0, 0, 12.0]])
    slip = synthesis.Slip.draw(Rupture(0, 0, 7.0, 1, 0, 3), places, 1)
    slip = slip._replace(hypocentres=places[:1])
    assert slip.delays(0, places, DT).tolist() == [0, 10, 50]


def test_a_double_couple_has_no_volume_change_and_unit_moment() -> None:
    xx, yy, zz, xy, xz, yz = synthesis.double_couple(0.3, 1.2, -0.4)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert np.linalg.eigvalsh(tensor) == pytest.approx([-1, 0, 1], abs=1e-12)


def test_rotd_finds_the_direction_of_a_polarised_wave() -> None:
    wave = 5 * np.sin(np.arange(400) / 10)
    angle = np.deg2rad(30)
    median, most, direction = synthesis.rotated(
        np.stack([wave * np.cos(angle), wave * np.sin(angle)])
    )
    assert most == pytest.approx(np.abs(wave).max(), rel=1e-6)
    assert direction == pytest.approx(30)
    assert median == pytest.approx(most / np.sqrt(2), rel=0.02)


def test_an_oscillator_resonates_at_its_own_period() -> None:
    """At resonance, 5 % of critical damping magnifies the acceleration tenfold."""
    time = np.arange(4000) * 0.05
    velocity = np.sin(2 * np.pi * time / 5.0)
    spectrum = np.fft.rfft(velocity, synthesis.fft_size(4000))
    acceleration = 2 * np.pi / 5.0
    peaks = [
        np.abs(synthesis.oscillator(spectrum, period, 4000, 0.05)[1000:3000]).max()
        / acceleration  # in the middle: it starts and ends with a jolt
        for period in (0.5, 5.0, 50.0)
    ]
    assert peaks[0] == pytest.approx(1, rel=0.1)  # stiff: follows the ground
    assert peaks[1] == pytest.approx(10, rel=0.05)
    assert peaks[2] < 0.1  # soft: stands still


def test_significant_durations_of_steady_shaking() -> None:
    t75, t95 = synthesis.significant_durations(np.ones(1000, "f4"), DT)
    assert [t75, t95] == pytest.approx([70, 90], abs=DT)


def test_measures_of_a_seismogram_that_is_known() -> None:
    time = np.arange(1000) * DT
    velocity = np.stack([3 * np.sin(time), 12 * np.sin(time)]).astype("f4")
    measures = synthesis.measure(velocity, DT)
    assert measures.peaks[:3] == pytest.approx([3, 12, 6], rel=1e-2)
    assert measures.rotd[1::3] == pytest.approx(
        np.hypot(measures.peaks[3::3], measures.peaks[4::3]), rel=1e-3
    )
    assert measures.durations[4:] == pytest.approx([9 * 50, 144 * 50], rel=2e-2)


def test_sgts_are_still_until_the_wave_arrives_and_then_decay() -> None:
    options = argparse.Namespace(points=50, timesteps=1000, dt=DT, seed=1)
    simulation = sgt_generator.Simulation(0, options)
    sgts = np.frombuffer(simulation.tensors(10, 20), "<f4").reshape(20, 6, 1000)
    assert np.isfinite(sgts).all()
    assert not sgts[:, :, :20].any()  # more than 20 km of rock
    assert sgts.any(axis=2).all()
    strongest = np.abs(sgts).max()
    assert np.abs(np.diff(sgts)).max() < 0.5 * strongest  # smooth in time
    assert np.abs(sgts[:, :, -50:]).max() < 0.1 * strongest


def test_parts_of_the_file_meet_and_do_not_overlap() -> None:
    for ranks in (1, 2, 3, 7):
        blocks = [
            block
            for rank in range(ranks)
            for block in sgt_generator.my_blocks(1001, 2000, rank, ranks)
        ]
        following = 0
        for first, count in blocks:
            assert first == following
            following += count
        assert following == 1001
