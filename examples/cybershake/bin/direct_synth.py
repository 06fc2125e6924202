#!/usr/bin/env python3
"""DirectSynth: synthetic seismograms of every earthquake of every rupture.

Reads the strain Green's tensors (SGTs) of both components and a list of ruptures.
Worker processes take ruptures from a queue, read the SGTs of each one's fault surface,
convolve them with the slip time functions of its variations, and write four files:
seismograms, peak values, RotD and durations. At the end all of them go into one tar
(--tar), or stay where they are (--files).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tarfile
from collections.abc import Sequence
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processes share the cores already

try:
    import numpy as np
    import numpy.typing as npt
except ImportError:
    sys.exit(f"direct_synth: NumPy is missing; install it for {sys.executable}")

from cybershake_layout import (
    COMPONENTS,
    MASTER,
    MASTER_MAGIC,
    POINT_FIELDS,
    RUPTURE_HEADER,
    SUMMARY_LINE,
    SUMMARY_TITLE,
    LayoutError,
    Rupture,
    output_files,
    read_ruptures,
    sgt_bytes,
    sgt_header_bytes,
)
from cybershake_synthesis import measure, synthesize
from cybershake_workers import program, run_workers

Floats = npt.NDArray[np.floating[Any]]

BLOCK_BYTES = 4 << 20


class SGT(NamedTuple):
    """One component's SGTs, open for reading, of a size that its header promises."""

    name: str
    descriptor: int
    header_name: str
    header: int
    points: int
    timesteps: int
    dt: float

    @classmethod
    def open(cls, component: int, name: str, header_name: str) -> SGT:
        header = os.open(header_name, os.O_RDONLY)
        master = os.pread(header, MASTER.size, 0)
        if len(master) < MASTER.size or not master.startswith(MASTER_MAGIC):
            raise LayoutError(f"{header_name}: not an SGT header of sgt_generator")
        _, found, points, timesteps, dt = MASTER.unpack(master)
        if found != component:
            raise LayoutError(
                f"{header_name}: is of component {'xy'[found]}, but was given as "
                f"{'xy'[component]}; --fx and --fy have changed places"
            )
        descriptor = os.open(name, os.O_RDONLY)
        _check_size(name, descriptor, sgt_bytes(points, timesteps))
        _check_size(header_name, header, sgt_header_bytes(points))
        return cls(name, descriptor, header_name, header, points, timesteps, dt)

    def tensors(self, first: int, count: int) -> Floats:
        """float32 [count][components][timesteps]."""
        size = sgt_bytes(count, self.timesteps)
        offset = sgt_bytes(first, self.timesteps)
        data = _read(self.descriptor, size, offset, self.name)
        return np.frombuffer(data, "<f4").reshape(count, COMPONENTS, self.timesteps)

    def records(self, first: int, count: int) -> Floats:
        """float32 [count][fields] of the header."""
        size, offset = 4 * POINT_FIELDS * count, MASTER.size + 4 * POINT_FIELDS * first
        data = _read(self.header, size, offset, self.header_name)
        return np.frombuffer(data, "<f4").reshape(count, POINT_FIELDS)


def _check_size(name: str, descriptor: int, expected: int) -> None:
    size = os.fstat(descriptor).st_size
    if size != expected:
        raise LayoutError(f"{name}: has {size} bytes, its header promises {expected}")


def _read(descriptor: int, size: int, offset: int, name: str) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        read = os.preadv(descriptor, [view], offset)
        if not read:
            raise LayoutError(f"{name}: ends at byte {offset}, while it is being read")
        view, offset = view[read:], offset + read
    return data


def open_pair(options: argparse.Namespace) -> tuple[SGT, SGT]:
    fx, fy = SGT.open(0, *options.fx), SGT.open(1, *options.fy)
    if fx[4:] != fy[4:]:
        raise LayoutError(f"{fx.header_name} and {fy.header_name}: of different meshes")
    return fx, fy


def check_surfaces(ruptures: list[Rupture], sgt: SGT, name: str) -> None:
    for rupture in ruptures:
        if rupture.first_point + rupture.points > sgt.points:
            raise LayoutError(
                f"{name}: rupture {rupture.source} {rupture.rupture} needs points up "
                f"to {rupture.first_point + rupture.points}, but {sgt.name} has "
                f"{sgt.points}"
            )


def write_rupture(
    rupture: Rupture, pair: tuple[SGT, SGT], seed: int, folder: str
) -> None:
    """Compute one rupture's earthquakes and write its four files."""
    fx = pair[0]
    velocities = synthesize(
        rupture,
        fx.records(rupture.first_point, rupture.points),
        lambda component, first, count: pair[component].tensors(first, count),
        fx.timesteps,
        fx.dt,
        seed,
        block=max(1, BLOCK_BYTES // sgt_bytes(1, fx.timesteps)),
    )
    measures = [measure(velocity, fx.dt) for velocity in velocities]
    columns = zip(*measures, strict=True)
    contents = (velocities, *(np.array(column) for column in columns))
    files = output_files(rupture, fx.timesteps)
    for file, content in zip(files, contents, strict=True):
        title = RUPTURE_HEADER.pack(
            file.kind, *rupture[:2], rupture.variations, file.width,
            rupture.magnitude, fx.dt,
        )  # fmt: skip
        with open(os.path.join(folder, file.name), "wb") as out:
            out.write(title)
            out.write(content.astype("<f4").tobytes())


def synthesize_all(
    ruptures: list[Rupture],
    pair: tuple[SGT, SGT],
    seed: int,
    processes: int,
    folder: str,
) -> None:
    """The costliest ruptures first, each by whichever worker is free."""
    queue = sorted(ruptures, key=lambda r: r.variations * r.points, reverse=True)
    taken = multiprocessing.get_context("fork").Value("Q", 0)

    def work(_: int) -> None:
        while True:
            with taken.get_lock():
                mine = taken.value
                taken.value += 1
            if mine >= len(queue):
                return
            write_rupture(queue[mine], pair, seed, folder)

    run_workers(min(processes, len(queue)), work)


def summary_line(rupture: Rupture, timesteps: int, folder: str) -> str:
    """One line of the summary, from the files that the workers wrote."""
    _, peaks, rotd, durations = (
        np.fromfile(os.path.join(folder, file.name), "<f4", offset=RUPTURE_HEADER.size)
        .reshape(rupture.variations, file.width)
        .astype("f8")
        if file.kind != b"GRM\1"
        else np.empty(0)
        for file in output_files(rupture, timesteps)
    )
    return SUMMARY_LINE.format(
        rupture.source,
        rupture.rupture,
        rupture.magnitude,
        rupture.variations,
        peaks[:, 2].max(),
        float(np.median(peaks[:, 2])),
        rotd[:, 4].max(),
        float(durations[:, [0, 2]].mean()),
    )


def write_summary(
    path: str, ruptures: list[Rupture], timesteps: int, folder: str
) -> None:
    with open(path, "w", encoding="ascii") as out:
        out.write(SUMMARY_TITLE)
        for rupture in ruptures:
            out.write(summary_line(rupture, timesteps, folder))
        _make_durable(out)


def pack(path: str, ruptures: list[Rupture], timesteps: int, folder: str) -> None:
    """All files of all ruptures in one tar that depends on their content alone.

    Each file goes when it has been packed, so that the space in use does not double.
    """
    names = sorted(f.name for r in ruptures for f in output_files(r, timesteps))
    with open(path, "wb") as out:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name in names:
                source = os.path.join(folder, name)
                member = tarfile.TarInfo(name)
                member.size = os.stat(source).st_size
                with open(source, "rb") as content:
                    tar.addfile(member, content)
                os.unlink(source)
        _make_durable(out)


def _make_durable(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pair = ("SGT", "HEADER")
    parser.add_argument("--fx", nargs=2, metavar=pair, required=True)
    parser.add_argument("--fy", nargs=2, metavar=pair, required=True)
    parser.add_argument("--ruptures", required=True, help="the rupture list")
    parser.add_argument("--summary", required=True, help="text file to write")
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument("--tar", help="pack the files of all ruptures in this one")
    output.add_argument("--files", action="store_true", help="leave them as they are")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.processes < 1:
        parser.error(f"--processes is {options.processes}; 1 or more would do")
    if options.seed < 0:
        parser.error(f"--seed is {options.seed}; 0 or more would do")
    return options


def run(options: argparse.Namespace) -> None:
    pair = open_pair(options)
    ruptures = read_ruptures(options.ruptures)
    check_surfaces(ruptures, pair[0], options.ruptures)
    timesteps = pair[0].timesteps
    folder = "." if options.files else f"{options.tar}.parts"
    if not options.files:
        shutil.rmtree(folder, ignore_errors=True)  # what a killed attempt left
        os.mkdir(folder)
    synthesize_all(ruptures, pair, options.seed, options.processes, folder)
    write_summary(options.summary, ruptures, timesteps, folder)
    if not options.files:
        pack(options.tar, ruptures, timesteps, folder)
        os.rmdir(folder)


def main() -> None:
    try:
        run(parse())
    except (LayoutError, OSError) as error:
        sys.exit(f"{program()}: {error}")


if __name__ == "__main__":
    main()
