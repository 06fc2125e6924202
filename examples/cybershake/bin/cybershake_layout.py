"""Names, shapes and sizes of CyberShake's files: what jobs and generator share.

Needs the standard library only, so that sizes can be declared where there is no NumPy.
Every number in a file is little-endian.

* SGT file: float32 [points][6 components][timesteps], nothing else.
* SGT header: `MASTER`, then float32 [points][6]: x, y, depth (km), density (g/cm3),
  shear velocity (km/s), rigidity (GPa).
* Each of the four files of a rupture: `RUPTURE_HEADER`, then float32 [variations][n].
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

COMPONENTS = 6
"""xx, yy, zz, xy, xz, yz of the strain Green's tensor."""

POINT_FIELDS = 6
PERIODS = (2.0, 3.0, 5.0, 10.0)
"""Oscillator periods (s) of the spectral accelerations."""

MASTER = struct.Struct("<8s4xIQQd24x")
"""Magic, component (0: fx, 1: fy), points, timesteps, seconds per timestep."""
MASTER_MAGIC = b"CSSGT\0\0\1"

RUPTURE_HEADER = struct.Struct("<4sIIIIff4x")
"""Kind, source, rupture, variations, float32 per variation, magnitude, timestep (s)."""

SUMMARY_TITLE = (
    "# source rupture magnitude variations  max_pgv_cm_s  med_pgv_cm_s "
    "max_rotd100_3s mean_d5_75_s\n"
)
SUMMARY_LINE = "{:8d} {:7d} {:9.2f} {:10d} {:13.6e} {:13.6e} {:14.6e} {:12.6e}\n"

TAR_BLOCK = 512
TAR_RECORD = 20 * TAR_BLOCK


class LayoutError(Exception):
    """A file is not what this example writes; the text says which, where and why."""


class Rupture(NamedTuple):
    """One line of the rupture list."""

    source: int
    rupture: int
    magnitude: float
    variations: int  # earthquakes: same fault surface, other slip and hypocentre
    first_point: int  # its surface is a run of SGT points
    points: int

    def __str__(self) -> str:
        return "{} {} {:.2f} {} {} {}".format(*self)


class OutputFile(NamedTuple):
    """One of the four files of a rupture."""

    name: str
    kind: bytes
    width: int  # float32 per variation
    size: int  # bytes


def sgt_bytes(points: int, timesteps: int) -> int:
    return points * COMPONENTS * timesteps * 4


def sgt_header_bytes(points: int) -> int:
    return MASTER.size + points * POINT_FIELDS * 4


def output_files(rupture: Rupture, timesteps: int) -> list[OutputFile]:
    """The four files of a rupture: names as CyberShake has them, sizes exact."""
    stem = f"{rupture.source}_{rupture.rupture}"
    widths = (
        (f"Seismogram_{stem}.grm", b"GRM\1", 2 * timesteps),
        (f"PeakVals_{stem}.bsa", b"BSA\1", 3 + 3 * len(PERIODS)),
        (f"RotD_{stem}.rotd", b"ROT\1", 3 * len(PERIODS)),
        (f"Duration_{stem}.dur", b"DUR\1", 6),
    )
    return [
        OutputFile(name, kind, n, RUPTURE_HEADER.size + 4 * n * rupture.variations)
        for name, kind, n in widths
    ]


def tar_bytes(sizes: list[int]) -> int:
    """Exact size of a USTAR archive of plain files with these sizes."""
    padded = sum(TAR_BLOCK + _round_up(size, TAR_BLOCK) for size in sizes)
    return _round_up(padded + 2 * TAR_BLOCK, TAR_RECORD)


def summary_bytes(ruptures: int) -> int:
    line = SUMMARY_LINE.format(0, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)
    return len(SUMMARY_TITLE) + ruptures * len(line)


def write_ruptures(path: Path, ruptures: list[Rupture]) -> None:
    title = "# source rupture magnitude variations first_point points\n"
    path.write_text(title + "".join(f"{rupture}\n" for rupture in ruptures))


def read_ruptures(path: str) -> list[Rupture]:
    """The rupture list, in its own order. Raises LayoutError with file and line."""
    ruptures: list[Rupture] = []
    seen: set[tuple[int, int]] = set()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            rupture = _parse_rupture(line.split(), f"{path}, line {number}")
            if rupture[:2] in seen:
                raise LayoutError(f"{path}, line {number}: this rupture comes twice")
            seen.add(rupture[:2])
            ruptures.append(rupture)
    if not ruptures:
        raise LayoutError(f"{path}: no rupture in it")
    return ruptures


def _parse_rupture(words: list[str], where: str) -> Rupture:
    try:
        source, number, magnitude, *rest = words
        variations, first, points = (int(word) for word in rest)
        rupture = Rupture(
            int(source), int(number), float(magnitude), variations, first, points
        )
    except ValueError:
        raise LayoutError(
            f"{where}: found {' '.join(words)!r}; expected six numbers: "
            "source rupture magnitude variations first_point points"
        ) from None
    if variations < 1 or points < 1 or min(rupture[0], rupture[1], first) < 0:
        raise LayoutError(
            f"{where}: variations and points must be 1 or more, the rest not negative"
        )
    return rupture


def _round_up(size: int, granule: int) -> int:
    return -(-size // granule) * granule
