#!/usr/bin/env python3
"""Write the CyberShake test workflow, its catalogs and its rupture list.

Two jobs: sgt_generator writes the strain Green's tensors (SGTs) of both horizontal
components, direct_synth reads them back and synthesizes seismograms. Nothing in the
jobs knows of burst buffers; --tier-path declares one in the site catalog.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from Pegasus.api import (
    OS,
    Arch,
    Directory,
    File,
    FileServer,
    Job,
    Operation,
    Properties,
    ReplicaCatalog,
    Site,
    SiteCatalog,
    Transformation,
    TransformationCatalog,
    Workflow,
)

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "bin"))

from cybershake_layout import (  # noqa: E402
    Rupture,
    output_files,
    sgt_bytes,
    sgt_header_bytes,
    summary_bytes,
    tar_bytes,
    write_ruptures,
)

PROGRAMS = ("sgt_generator", "direct_synth")
RUPTURES_PER_SOURCE = 12

TIERS = """
x-storage-tiers:
  {site}:
    - name: bb
      backend: directory
      path: {path}
      quota: {quota}
      granularity: 4MiB
      access: striped
      capacity: {capacity}
      intermediate: bb
      inputs: stage
      outputs: bb
"""


class GeneratorError(Exception):
    """An option that cannot be; the text says which, and what would do."""


@dataclass(frozen=True)
class Options:
    """What the workflow looks like and where it runs; defaults are the demo's."""

    output_dir: Path = Path("cybershake")  # workflow, catalogs, rupture list, bin/
    points: int = 11_185  # with 2,000 timesteps: 512 MiB per component
    timesteps: int = 2_000
    ruptures: int = 200
    variations: tuple[int, int] = (10, 60)  # earthquakes per rupture, from and to
    processes: int = 2  # per job
    outputs: str = "tar"  # or "files": each of the four files per rupture is an LFN
    seed: int = 1
    site: str = "cluster"
    scratch: Path | None = None  # the site's sharedScratch; default: in output_dir
    results: Path | None = None  # where outputs go; default: in output_dir
    tier_path: Path | None = None  # declares a tier of backend directory there
    capacity: str = "auto"
    quota: str = "8GiB"
    python: str = sys.executable  # a Python with NumPy
    pegasus_home: str | None = None  # on the site; the real pegasus-plan asks for it


def generate(options: Options) -> Path:
    """Write everything into options.output_dir; return the path of workflow.yml."""
    check(options)
    folder = Path(os.path.abspath(options.output_dir))
    python = find_python(options.python)
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    ruptures = rupture_list(options)
    write_ruptures(folder / "ruptures.txt", ruptures)
    write_transformations(folder, options.site, python)
    write_replicas(folder)
    write_sites(folder, options)
    write_properties(folder)
    workflow = build_workflow(
        options, ruptures, (folder / "ruptures.txt").stat().st_size
    )
    workflow.write(str(folder / "workflow.yml"))
    return folder / "workflow.yml"


def check(options: Options) -> None:
    for name in ("points", "timesteps", "ruptures", "processes"):
        if getattr(options, name) < 1:
            found = getattr(options, name)
            raise GeneratorError(f"--{name} is {found}; 1 or more would do")
    low, high = options.variations
    if not 1 <= low <= high:
        raise GeneratorError(
            f"--variations is {low}:{high}; FROM:TO with 1 <= FROM <= TO would do"
        )
    if options.seed < 0:
        raise GeneratorError(f"--seed is {options.seed}; 0 or more would do")
    if options.outputs not in ("tar", "files"):
        raise GeneratorError(f"--outputs is {options.outputs!r}; tar or files would do")
    if options.site == "local" or not re.fullmatch(r"[A-Za-z0-9_-]+", options.site):
        raise GeneratorError(
            f"--site is {options.site!r}; letters, digits, _ and - would do, and not "
            "'local', which is the submit host"
        )


def find_python(name: str) -> str:
    """The absolute path of this Python; links stay as they are.

    A virtual environment's python is a link, and resolving it would lose NumPy.
    """
    found = shutil.which(name)
    if found is None:
        raise GeneratorError(f"--python {name}: no such program")
    return os.path.abspath(found)


def rupture_list(options: Options) -> list[Rupture]:
    """Surfaces that cover the SGTs once; seeded magnitudes and numbers of variations.

    Small numbers of variations are more frequent, as in a real rupture forecast.
    """
    rng = random.Random(options.seed)
    low, high = (math.log(bound) for bound in options.variations)
    ruptures = []
    for index in range(options.ruptures):
        first = index * options.points // options.ruptures
        following = (index + 1) * options.points // options.ruptures
        source, number = divmod(index, RUPTURES_PER_SOURCE)
        magnitude = round(rng.uniform(6.0, 8.3), 2)
        variations = round(math.exp(rng.uniform(low, high)))
        surface = max(1, following - first)
        ruptures.append(Rupture(source, number, magnitude, variations, first, surface))
    return ruptures


def build_workflow(
    options: Options, ruptures: list[Rupture], list_size: int
) -> Workflow:
    pairs = [sgt_pair(name, options) for name in ("fx", "fy")]
    common = ["--processes", str(options.processes), "--seed", str(options.seed)]
    fx_fy = ["--fx", *pairs[0], "--fy", *pairs[1]]
    shape = ["--points", str(options.points), "--timesteps", str(options.timesteps)]
    generator = Job("sgt_generator", node_label="sgt_generator")
    generator.add_args(*fx_fy, *shape, *common)
    for file in (*pairs[0], *pairs[1]):
        generator.add_outputs(file, stage_out=False, register_replica=False)

    rupture_file = File("ruptures.txt", size=list_size)
    summary = File("peaks.txt", size=summary_bytes(len(ruptures)))
    files, packing = result_files(options, ruptures)
    synth = Job("direct_synth", node_label="direct_synth")
    synth.add_args(
        *fx_fy, "--ruptures", rupture_file, "--summary", summary, *packing, *common
    )
    synth.add_inputs(rupture_file, *pairs[0], *pairs[1])
    synth.add_outputs(summary, *files, stage_out=True, register_replica=False)
    for job in (generator, synth):
        job.add_pegasus_profile(cores=options.processes)
    return Workflow("cybershake").add_jobs(generator, synth)


def sgt_pair(name: str, options: Options) -> tuple[File, File]:
    return (
        File(f"{name}.sgt", size=sgt_bytes(options.points, options.timesteps)),
        File(f"{name}.sgtheader", size=sgt_header_bytes(options.points)),
    )


def result_files(
    options: Options, ruptures: list[Rupture]
) -> tuple[list[File], list[str | File]]:
    """The LFNs that carry the seismograms, and the arguments that ask for them."""
    outputs = [f for r in ruptures for f in output_files(r, options.timesteps)]
    if options.outputs == "files":
        return [File(file.name, size=file.size) for file in outputs], ["--files"]
    tar = File("seismograms.tar", size=tar_bytes([file.size for file in outputs]))
    return [tar], ["--tar", tar]


def write_transformations(folder: Path, site: str, python: str) -> None:
    """Both programs, each started by a wrapper that names the right Python."""
    catalog = TransformationCatalog()
    for name in PROGRAMS:
        wrapper = folder / "bin" / name
        program = str(HERE / "bin" / f"{name}.py")
        wrapper.write_text(f'#!/bin/sh\nexec {quote(python)} {quote(program)} "$@"\n')
        wrapper.chmod(0o755)
        catalog.add_transformations(
            Transformation(name, site=site, pfn=str(wrapper), is_stageable=False)
        )
    catalog.write(str(folder / "transformations.yml"))


def write_replicas(folder: Path) -> None:
    catalog = ReplicaCatalog()
    # A path, not a URL: where transfers run on the execution site, as with a scratch
    # of file:// URLs they do, pegasus-plan leaves out what is a URL on local.
    catalog.add_replica("local", "ruptures.txt", f"{folder}/ruptures.txt")
    catalog.write(str(folder / "replicas.yml"))


def write_sites(folder: Path, options: Options) -> None:
    """`local`, the execution site and, with --tier-path, the tier declared on it."""
    scratch = os.path.abspath(options.scratch or folder / "scratch")
    results = os.path.abspath(options.results or folder / "results")
    local = Site("local", arch=Arch.X86_64, os_type=OS.LINUX).add_directories(
        directory(Directory.SHARED_SCRATCH, str(folder / "local-scratch")),
        directory(Directory.LOCAL_STORAGE, results),
    )
    site = Site(options.site, arch=Arch.X86_64, os_type=OS.LINUX)
    site.add_directories(directory(Directory.SHARED_SCRATCH, scratch))
    site.add_pegasus_profile(style="condor", data_configuration="sharedfs")
    if options.pegasus_home:
        site.add_env(PEGASUS_HOME=options.pegasus_home)
    path = folder / "sites.yml"
    SiteCatalog().add_sites(local, site).write(str(path))
    if options.tier_path is not None:
        with path.open("a", encoding="utf-8") as catalog:
            catalog.write(tier_key(options, os.path.abspath(options.tier_path)))


def directory(kind: str, path: str) -> Directory:
    server = FileServer(f"file://{path}", Operation.ALL)
    return Directory(kind, path).add_file_servers(server)


def tier_key(options: Options, path: str) -> str:
    """A top-level key that a plain pegasus-plan accepts and ignores."""
    return TIERS.format(
        site=json.dumps(options.site),
        path=json.dumps(path),  # a JSON string is a YAML string, whatever is in it
        quota=json.dumps(options.quota),
        capacity=json.dumps(options.capacity),
    )


def write_properties(folder: Path) -> None:
    properties = Properties()
    for kind in ("site", "replica", "transformation"):
        properties[f"pegasus.catalog.{kind}.file"] = f"{folder}/{kind}s.yml"
    properties["pegasus.data.configuration"] = "sharedfs"
    properties.write(str(folder / "pegasus.properties"))


def parse(arguments: Sequence[str] | None = None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--output-dir", type=Path, required=True, help="where all of it goes")
    add("--points", type=int, help="points of the SGT mesh")
    add("--timesteps", type=int, help="of each SGT")
    add("--ruptures", type=int, help="ruptures to synthesize")
    add("--variations", type=_range, metavar="FROM:TO", help="per rupture")
    add("--processes", type=int, help="worker processes of each job")
    add("--outputs", choices=("tar", "files"), help="one tar, or 4 LFNs per rupture")
    add("--seed", type=int)
    add("--site", help="name of the execution site")
    add("--scratch", type=Path, help="the site's sharedScratch, on the PFS")
    add("--results", type=Path, help="where the outputs are staged out to")
    add("--tier-path", type=Path, help="declare a burst buffer: a directory there")
    add("--capacity", help="of the reservation: auto, or a size such as 700GiB")
    add("--quota", help="of the directory that plays the burst buffer")
    add("--python", help="a Python with NumPy, to run the jobs")
    add("--pegasus-home", help="Pegasus on the site; the real pegasus-plan needs it")
    given = {
        k: v for k, v in vars(parser.parse_args(arguments)).items() if v is not None
    }
    return Options(**given)


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: FROM:TO would do") from None


def main() -> None:
    try:
        print(generate(parse()))
    except (GeneratorError, OSError) as error:
        print(f"workflow_generator: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
