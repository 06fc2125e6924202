"""Seismograms from strain Green's tensors, and what engineers read from them.

By reciprocity, the ground velocity at the site is the sum over the points of the fault
surface of (moment tensor . SGT), each convolved with the point's slip time function.
Sums run in a fixed order over blocks of a fixed size: results do not depend on how
many processes there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cybershake_layout import COMPONENTS, PERIODS, Rupture

Floats = npt.NDArray[np.floating[Any]]
Complexes = npt.NDArray[np.complexfloating[Any, Any]]
Tensors = Callable[[int, int, int], Floats]  # component, first point, count

ANGLES = np.deg2rad(np.arange(0, 180, 2))  # of RotD
DAMPING = 0.05  # of the oscillators
RUPTURE_SPEED = 2.4  # km/s


class Slip(NamedTuple):
    """How each variation of one rupture slips."""

    hypocentres: Floats  # [variations][3], km
    waves: Floats  # [variations][3], wave numbers of the slip distribution
    phases: Floats  # [variations]
    rise_times: Floats  # [variations], s
    mechanism: Floats  # [components], the moment tensor of unit moment

    @classmethod
    def draw(cls, rupture: Rupture, places: Floats, seed: int) -> Slip:
        """Seeded by the rupture's own numbers: no matter who computes it, and when."""
        rng = np.random.default_rng([seed, rupture.source, rupture.rupture])
        n = rupture.variations
        strike, dip, rake = rng.uniform((0, np.pi / 3, -0.5), (np.pi, np.pi / 2, 0.5))
        return cls(
            hypocentres=places[rng.integers(0, len(places), n)],
            waves=rng.normal(scale=0.3, size=(n, 3)),
            phases=rng.uniform(0, 2 * np.pi, n),
            rise_times=rng.uniform(0.4, 2.0, n),
            mechanism=double_couple(strike, dip, rake).astype("f4"),
        )

    def amplitudes(self, variation: int, places: Floats) -> Floats:
        """Slip of each point, its mean about 1."""
        angles = _dot(places, self.waves[variation]) + self.phases[variation]
        slip: Floats = 1 + 0.7 * np.cos(angles)
        return slip

    def delays(self, variation: int, places: Floats, dt: float) -> npt.NDArray[Any]:
        """Timesteps until the rupture front has come from the hypocentre."""
        offsets = places - self.hypocentres[variation]
        seconds = np.sqrt(_dot(offsets, offsets)) / RUPTURE_SPEED
        return np.rint(seconds / dt).astype("i8")


def double_couple(strike: float, dip: float, rake: float) -> Floats:
    """Moment tensor (xx, yy, zz, xy, xz, yz), after Aki and Richards."""
    s, d, r = np.sin([strike, dip, rake])
    cs, cd, cr = np.cos([strike, dip, rake])
    s2s, c2s = np.sin(2 * strike), np.cos(2 * strike)
    s2d, c2d = np.sin(2 * dip), np.cos(2 * dip)
    return np.array([
        -(d * cr * s2s + s2d * r * s * s),
        d * cr * s2s - s2d * r * cs * cs,
        s2d * r,
        d * cr * c2s + 0.5 * s2d * r * s2s,
        -(cd * cr * cs + c2d * r * s),
        -(cd * cr * s - c2d * r * cs),
    ])  # fmt: skip


def synthesize(
    rupture: Rupture,
    header: Floats,
    tensors: Tensors,
    timesteps: int,
    dt: float,
    seed: int,
    block: int,
) -> Floats:
    """Velocity at the site (cm/s): float32 [variations][2][timesteps].

    `header` has the records of the rupture's own points; `tensors` is asked for each
    of its points once per component, `block` of them at a time.
    """
    size = fft_size(timesteps)
    shift = np.exp(-2j * np.pi * np.arange(size) / size).astype("c8")
    frequencies = np.arange(size // 2 + 1)
    slip = Slip.draw(rupture, header[:, :3], seed)
    spectra = np.zeros((rupture.variations, 2, len(frequencies)), "c16")
    for start in range(0, rupture.points, block):
        part = header[start : start + block]
        waves = [
            _spectra(tensors(component, rupture.first_point + start, len(part)),
                     slip.mechanism, size)
            for component in (0, 1)
        ]  # fmt: skip
        for v in range(rupture.variations):
            moment = part[:, 5] * slip.amplitudes(v, part[:, :3])
            turns = slip.delays(v, part[:, :3], dt)[:, None] * frequencies
            factors = shift[turns & (size - 1)]  # a delay is a phase per frequency
            factors *= moment.astype("f4")[:, None]
            for component in (0, 1):
                spectra[v, component] += (factors * waves[component]).sum(axis=0)
    spectra *= 10 ** (1.5 * (rupture.magnitude - 7)) / rupture.points
    for v in range(rupture.variations):
        spectra[v] *= slip_rate_spectrum(slip.rise_times[v], timesteps, dt)
    return np.fft.irfft(spectra, size)[..., :timesteps].astype("<f4")


def fft_size(timesteps: int) -> int:
    """A power of two that leaves room for a whole convolution: nothing wraps round."""
    return 1 << (2 * timesteps - 1).bit_length()


def slip_rate_spectrum(rise_time: float, timesteps: int, dt: float) -> Complexes:
    """Spectrum of Brune's slip rate, t / T^2 exp(-t / T), whose integral is 1."""
    time = np.arange(timesteps) * dt
    rate = time / rise_time**2 * np.exp(-time / rise_time) * dt
    return np.fft.rfft(rate, fft_size(timesteps))


def _spectra(tensors: Floats, mechanism: Floats, size: int) -> Complexes:
    waves = tensors[:, 0] * mechanism[0]
    for k in range(1, COMPONENTS):
        waves += tensors[:, k] * mechanism[k]
    return np.fft.rfft(waves, size)


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = a * b
    return product[..., 0] + product[..., 1] + product[..., 2]


class Measures(NamedTuple):
    """Intensity measures of one earthquake at the site."""

    peaks: Floats  # PGV x, y, geometric mean; PSA x, y, geometric mean per period
    rotd: Floats  # per period: RotD50, RotD100, angle (degrees) of RotD100
    durations: Floats  # x, y: 5-75 % and 5-95 % significant duration; x, y: energy


def measure(velocity: Floats, dt: float) -> Measures:
    """Peak values, RotD and durations of one seismogram, [2][timesteps]."""
    peaks = [_with_mean(*np.abs(velocity).max(axis=1))]
    rotd = []
    spectrum = np.fft.rfft(velocity, fft_size(velocity.shape[1]))
    for period in PERIODS:
        response = oscillator(spectrum, period, velocity.shape[1], dt)
        peaks.append(_with_mean(*np.abs(response).max(axis=1)))
        rotd.append(rotated(response))
    shaking = [significant_durations(trace, dt) for trace in velocity]
    energy = [float(np.cumsum(trace.astype("f8") ** 2)[-1] * dt) for trace in velocity]
    return Measures(
        np.array(peaks, "<f4").ravel(),
        np.array(rotd, "<f4").ravel(),
        np.array([*shaking[0], *shaking[1], *energy], "<f4"),
    )


def oscillator(spectrum: Complexes, period: float, timesteps: int, dt: float) -> Floats:
    """Pseudo-acceleration (cm/s2) of a damped oscillator shaken by this velocity."""
    size = fft_size(timesteps)
    omega = 2 * np.pi * np.fft.rfftfreq(size, dt)
    natural = 2 * np.pi / period
    transfer = 1j * omega * natural**2
    transfer /= natural**2 - omega**2 + 2j * DAMPING * natural * omega
    return np.fft.irfft(spectrum * transfer, size)[..., :timesteps]


def rotated(response: Floats) -> tuple[float, float, float]:
    """Median and maximum over all directions of the peak, and the maximum's angle."""
    x, y = response.astype("f4")
    peaks = np.array([
        np.abs(x * c + y * s).max()
        for c, s in np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1).astype("f4")
    ])  # fmt: skip
    best = int(peaks.argmax())
    return float(np.median(peaks)), float(peaks[best]), float(np.rad2deg(ANGLES[best]))


def significant_durations(trace: Floats, dt: float) -> tuple[float, float]:
    """Seconds from 5 % to 75 %, and to 95 %, of the energy."""
    energy = np.cumsum(trace.astype("f8") ** 2)
    t5, t75, t95 = np.searchsorted(energy, energy[-1] * np.array([0.05, 0.75, 0.95]))
    return float((t75 - t5) * dt), float((t95 - t5) * dt)


def _with_mean(x: float, y: float) -> tuple[float, float, float]:
    return x, y, float(np.sqrt(float(x) * float(y)))
