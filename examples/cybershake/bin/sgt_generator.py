#!/usr/bin/env python3
"""Synthetic AWP-ODC-SGT: strain Green's tensors of both horizontal components.

The wave propagation code needs 313 nodes for an hour; this stands in for it, as the
synthetic generator of the CyberShake burst buffer study did: the same files, written
in the same way, at a fraction of the arithmetic. Every process computes and writes
its own part of the shared files: through MPI-IO under MPI (with mpi4py), else with
pwrite from worker processes.

Each SGT is a damped sinusoid that starts when the shear wave arrives from its point;
frequency, damping, phase and amplitude vary smoothly in space, drawn from --seed.
A byte of the output depends on the options that shape it alone: not on how many
processes write.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processes share the cores already

try:
    import numpy as np
    import numpy.typing as npt
except ImportError:
    sys.exit(f"sgt_generator: NumPy is missing; install it for {sys.executable}")

from cybershake_layout import (
    COMPONENTS,
    MASTER,
    MASTER_MAGIC,
    POINT_FIELDS,
    sgt_bytes,
    sgt_header_bytes,
)
from cybershake_workers import program, run_workers

Floats = npt.NDArray[np.floating[Any]]
Write = Callable[[str, bytes, int], None]  # (file, data, offset)

BLOCK_BYTES = 4 << 20
SPACING = 0.2  # km between points
ROW, COLUMN = 200, 40  # points along strike and down dip of one fault plane
SITE = (-18.0, -11.0, 0.0)  # km: where the seismograms will be
MPI_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "PALS_RANKID")
MPI_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


class Field(NamedTuple):
    """A function of place, smooth and between -1 and 1: three plane waves."""

    wave_numbers: Floats  # [3 axes][3 waves]
    phases: Floats

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Field:
        return cls(rng.normal(scale=0.15, size=(3, 3)), rng.uniform(0, 2 * np.pi, 3))

    def at(self, places: Floats) -> Floats:
        angles = self.phases + sum(
            places[:, axis, None] * self.wave_numbers[axis] for axis in range(3)
        )
        waves: Floats = np.cos(angles)
        return (waves[:, 0] + waves[:, 1] + waves[:, 2]) / 3


class Simulation:
    """One horizontal component of the wave field, at any point that is asked for."""

    def __init__(self, component: int, options: argparse.Namespace) -> None:
        self.component = component
        self.points: int = options.points
        self.timesteps: int = options.timesteps
        self.dt: float = options.dt
        ground = np.random.default_rng([options.seed])  # fx and fy share the ground
        self.velocity, self.density = Field.draw(ground), Field.draw(ground)
        rng = np.random.default_rng([options.seed, 1 + component])
        self.frequency, self.damping = Field.draw(rng), Field.draw(rng)
        self.phase = [Field.draw(rng) for _ in range(COMPONENTS)]
        self.amplitude = [Field.draw(rng) for _ in range(COMPONENTS)]

    def places(self, first: int, count: int) -> Floats:
        """x, y and depth (km): fault planes of ROW x COLUMN points, 2 km apart."""
        index = np.arange(first, first + count)
        along, rest = index % ROW, index // ROW
        down, plane = rest % COLUMN, rest // COLUMN
        return np.stack([along * SPACING, plane * 2.0, (down + 1) * SPACING], axis=1)

    def header(self, first: int, count: int) -> bytes:
        """The points' records of the SGT header."""
        places = self.places(first, count)
        velocity, density = self._ground(places)
        rigidity = density * velocity**2
        fields = [*places.T, density, velocity, rigidity]
        return np.stack(fields, axis=1).astype("<f4").tobytes()

    def tensors(self, first: int, count: int) -> bytes:
        """SGTs of these points, [points][components][timesteps]."""
        places = self.places(first, count)
        elapsed = self._since_arrival(places)
        damping = _column(0.10 * (1 + 0.5 * self.damping.at(places)))
        angular = _column(np.pi * (1 + 0.5 * self.frequency.at(places)))
        envelope = elapsed * np.exp(-damping * elapsed)
        # sin(wt + p) = sin(wt) cos(p) + cos(wt) sin(p): two waves serve six components
        sine = envelope * np.sin(angular * elapsed)
        cosine = envelope * np.cos(angular * elapsed)
        block = np.empty((count, COMPONENTS, self.timesteps), "<f4")
        for k in range(COMPONENTS):
            phase = np.pi * self.phase[k].at(places)
            size = self.amplitude[k].at(places) / (1 + self._distance(places) / 10)
            block[:, k] = _column(size * np.cos(phase)) * sine
            block[:, k] += _column(size * np.sin(phase)) * cosine
        return block.tobytes()

    def _ground(self, places: Floats) -> tuple[Floats, Floats]:
        depth = places[:, 2]
        velocity = 2.6 + 0.1 * depth + 0.3 * self.velocity.at(places)
        density = 2.4 + 0.03 * depth + 0.1 * self.density.at(places)
        return velocity, density

    def _distance(self, places: Floats) -> Floats:
        offsets = places - np.array(SITE)
        squares: Floats = offsets**2
        return np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])

    def _since_arrival(self, places: Floats) -> Floats:
        """Seconds since the shear wave came, zero before; [points][timesteps]."""
        velocity, _ = self._ground(places)
        half = 0.5 * self.timesteps * self.dt  # however far: half of the record is wave
        arrival = half * (1 - np.exp(-self._distance(places) / velocity / half))
        time = (np.arange(self.timesteps) * self.dt).astype("f4")
        elapsed: Floats = np.maximum(time - _column(arrival), np.float32(0))
        return elapsed


def _column(values: Floats) -> Floats:
    return values.astype("f4")[:, None]


def block_points(timesteps: int) -> int:
    """Points computed and written at once."""
    return max(1, BLOCK_BYTES // sgt_bytes(1, timesteps))


def my_blocks(
    points: int, timesteps: int, rank: int, ranks: int
) -> Iterator[tuple[int, int]]:
    """(first point, count) of each block in this process's own part of the file."""
    step = block_points(timesteps)
    blocks = -(-points // step)
    for block in range(blocks * rank // ranks, blocks * (rank + 1) // ranks):
        first = block * step
        yield first, min(step, points - first)


def write_part(
    simulation: Simulation, sgt: str, header: str, write: Write, rank: int, ranks: int
) -> None:
    """This process's part of one SGT file and of its header."""
    if rank == 0:
        shape = (simulation.points, simulation.timesteps, simulation.dt)
        write(header, MASTER.pack(MASTER_MAGIC, simulation.component, *shape), 0)
    for first, count in my_blocks(simulation.points, simulation.timesteps, rank, ranks):
        at = sgt_bytes(first, simulation.timesteps)
        write(sgt, simulation.tensors(first, count), at)
        at = MASTER.size + first * POINT_FIELDS * 4
        write(header, simulation.header(first, count), at)


def write_all(options: argparse.Namespace, write: Write, rank: int, ranks: int) -> None:
    for component, (sgt, header) in enumerate((options.fx, options.fy)):
        write_part(Simulation(component, options), sgt, header, write, rank, ranks)


def file_sizes(options: argparse.Namespace) -> dict[str, int]:
    sizes = {}
    for sgt, header in (options.fx, options.fy):
        sizes[sgt] = sgt_bytes(options.points, options.timesteps)
        sizes[header] = sgt_header_bytes(options.points)
    return sizes


def generate_with_processes(options: argparse.Namespace) -> None:
    """pwrite from worker processes; one fsync per file when all have written."""
    files = {}
    for name, size in file_sizes(options).items():
        files[name] = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.ftruncate(files[name], size)

    def write(name: str, data: bytes, offset: int) -> None:
        view = memoryview(data)
        while view:
            try:
                written = os.pwrite(files[name], view, offset)
            except OSError as error:
                raise OSError(error.errno, error.strerror, name) from None
            view, offset = view[written:], offset + written

    processes: int = options.processes
    run_workers(processes, lambda rank: write_all(options, write, rank, processes))
    for descriptor in files.values():
        os.fsync(descriptor)
        os.close(descriptor)


def generate_with_mpi(options: argparse.Namespace, mpi: Any) -> None:
    """The same through MPI-IO: every rank writes its own part of the shared files."""
    world = mpi.COMM_WORLD
    files = {}
    for name, size in file_sizes(options).items():
        mode = mpi.MODE_WRONLY | mpi.MODE_CREATE
        files[name] = mpi.File.Open(world, name, mode)
        files[name].Set_size(0)  # what a killed attempt left
        files[name].Set_size(size)

    def write(name: str, data: bytes, offset: int) -> None:
        files[name].Write_at(offset, data)

    write_all(options, write, world.Get_rank(), world.Get_size())
    for file in files.values():
        file.Sync()
        file.Close()


def find_mpi() -> Any:
    """mpi4py's MPI where this runs as one of several ranks, else None.

    MPI_Init outside of a launcher may end the process on some systems (login nodes),
    so mpi4py is imported only where a launcher's variables are set.
    """
    if not any(name in os.environ for name in MPI_LAUNCHERS):
        return None
    try:
        from mpi4py import MPI  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        sizes = (os.environ.get(name, "1") for name in MPI_SIZES)
        if any(size != "1" for size in sizes):
            sys.exit(
                "sgt_generator: started as one of several MPI ranks, but mpi4py is "
                f"missing; install it for {sys.executable}, or start one process"
            )
        return None
    return MPI if MPI.COMM_WORLD.Get_size() > 1 else None


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pair = ("SGT", "HEADER")
    parser.add_argument("--fx", nargs=2, metavar=pair, required=True)
    parser.add_argument("--fy", nargs=2, metavar=pair, required=True)
    parser.add_argument("--points", type=int, required=True)
    parser.add_argument("--timesteps", type=int, required=True)
    parser.add_argument("--dt", type=float, default=0.1, help="seconds per timestep")
    parser.add_argument("--processes", type=int, default=2, help="without MPI")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for name in ("points", "timesteps", "processes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}; 1 or more would do")
    if not options.dt > 0:
        parser.error(f"--dt is {options.dt}; more than 0 would do")
    if options.seed < 0:
        parser.error(f"--seed is {options.seed}; 0 or more would do")
    return options


def main() -> None:
    options = parse()
    mpi = find_mpi()
    if mpi is None:
        try:
            generate_with_processes(options)
        except OSError as error:
            sys.exit(f"{program()}: {error}")
        return
    try:
        generate_with_mpi(options, mpi)
    except Exception as error:  # a rank that ends alone leaves the others waiting
        print(f"{program()}: {error}", file=sys.stderr, flush=True)
        mpi.COMM_WORLD.Abort(1)


if __name__ == "__main__":
    main()
