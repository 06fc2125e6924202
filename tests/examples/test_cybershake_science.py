"""The seismology of the CyberShake example, against what is known by other means."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="CyberShake's jobs compute with NumPy")
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples/cybershake/bin"))

import cybershake_synthesis as synthesis  # noqa: E402
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


def test_measures_of_a_seismogram_that_is_known() -> None:
    time = np.arange(1000) * DT
    velocity = np.stack([3 * np.sin(time), 12 * np.sin(time)]).astype("f4")
    measures = synthesis.measure(velocity, DT)
    assert measures.peaks[:3] == pytest.approx([3, 12, 6], rel=1e-2)
    assert measures.rotd[1::3] == pytest.approx(
        np.hypot(measures.peaks[3::3], measures.peaks[4::3]), rel=1e-3
    )
    assert measures.durations[4:] == pytest.approx([9 * 50, 144 * 50], rel=2e-2)
