#!/usr/bin/env python3
"""Generate the 1000 Genomes workflow: abstract workflow, catalogs, input data.

    workflow_generator.py --output-dir run --rows 2500 --tier-path /bb

The defaults give the job counts of the paper that first ran it on a burst buffer: 20
individuals, 2 individuals_merge, 1 populations, 2 sifting, 14 mutation_overlap and
14 frequency.
"""

import argparse
import re
import shutil
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from Pegasus.api import File, Job, Workflow

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))  # the folder's name is no identifier: it cannot be a package

import genome_catalogs  # noqa: E402
import genome_sizes  # noqa: E402
from generate_vcf import annotation_name, vcf_name, write_annotation, write_vcf  # noqa: E402

DATA = HERE / "data"
POPULATIONS = ("EAS", "GBR", "AMR", "EUR", "SAS", "AFR", "ALL")
PANEL = "populations.panel"
SITE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
CHROMOSOMES = 22


class OptionError(ValueError):
    """Options that give no workflow; the message says which, and what would do."""


@dataclass(frozen=True)
class Options:
    """How large the workflow is, and where everything goes."""

    output_dir: Path
    chromosomes: int = 2
    individuals_jobs: int = 10  # per chromosome
    rows: int = 2500  # per chromosome
    populations: tuple[str, ...] = POPULATIONS
    seed: int = 42
    site: str = "cluster"
    scratch: Path | None = None  # the site's sharedScratch; output_dir/scratch
    results: Path | None = None  # where outputs are staged to; output_dir/results
    tier_path: Path | None = None  # the burst buffer's folder; none: no tier declared
    capacity: str = "auto"
    pegasus_home: Path | None = None  # of the site, for a plain pegasus-plan

    def __post_init__(self) -> None:
        if not 1 <= self.chromosomes <= CHROMOSOMES:
            raise OptionError(
                f"--chromosomes {self.chromosomes}: give 1 to {CHROMOSOMES}"
            )
        if not 1 <= self.individuals_jobs <= self.rows:
            raise OptionError(
                f"--individuals-jobs {self.individuals_jobs}: each job needs a row "
                f"of {self.rows}; give 1 to --rows"
            )
        unknown = [name for name in self.populations if name not in POPULATIONS]
        if unknown or not self.populations:
            raise OptionError(
                f"--populations {' '.join(unknown) or 'none'}: "
                f"give some of {' '.join(POPULATIONS)}"
            )
        if len(set(self.populations)) != len(self.populations):
            raise OptionError(
                f"--populations {' '.join(self.populations)}: give each once"
            )
        if not SITE_NAME.fullmatch(self.site) or self.site == "local":
            raise OptionError(
                f"--site {self.site!r}: give a name of letters, digits, - and _ that "
                "starts with a letter; local is the submit host"
            )


class Builder:
    """Collects inputs and jobs; one object per workflow."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.data = options.output_dir.resolve() / "data"
        self.inputs: dict[File, Path] = {}
        self.outputs: list[File] = []
        self.workflow = Workflow("1000-genome")

    def input(self, name: str) -> File:
        """A file that lies in the data folder, with its real size."""
        path = self.data / name
        file = File(name, size=path.stat().st_size)
        self.inputs[file] = path
        return file

    def job(
        self,
        task: str,
        arguments: list[str],
        inputs: list[File],
        outputs: list[File],
        *,
        promised: bool = False,
    ) -> None:
        """Add a job; the outputs of a promised one are staged out."""
        job = Job(task).add_args(*arguments).add_inputs(*inputs)
        job.add_outputs(*outputs, stage_out=promised, register_replica=False)
        self.outputs += outputs
        self.workflow.add_jobs(job)

    def declared(self) -> int:
        """The bytes of all files, inputs and outputs."""
        return sum(file.size or 0 for file in [*self.inputs, *self.outputs])


def write_inputs(options: Options, data: Path) -> None:
    """Write the columns, the panel of populations, and two VCF files a chromosome."""
    data.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DATA / "columns.txt", data / "columns.txt")
    with (data / PANEL).open("w", encoding="ascii") as panel:
        for name in POPULATIONS:
            panel.writelines(f"{person} {name}\n" for person in members(name))
    for chromosome in range(1, options.chromosomes + 1):
        sites = chromosome, options.rows, options.seed
        write_vcf(data / vcf_name(chromosome, options.rows), *sites)
        write_annotation(data / annotation_name(chromosome), *sites)


def members(population: str) -> list[str]:
    """All individuals of the 1000 Genomes project, sequenced or not."""
    return (DATA / "populations" / population).read_text("ascii").split()


def add_populations(build: Builder, columns: File) -> dict[str, File]:
    """One job that lists the sequenced individuals of each population."""
    panel = build.input(PANEL)
    lists = {
        name: File(name, size=genome_sizes.population(len(members(name))))
        for name in build.options.populations
    }
    arguments = [panel.lfn, columns.lfn, *lists]
    build.job("populations", arguments, [panel, columns], list(lists.values()))
    return lists


def add_individuals(build: Builder, chromosome: int, columns: File) -> File:
    """The jobs that parse a chromosome's rows, and the one that merges their parts."""
    rows, jobs = build.options.rows, build.options.individuals_jobs
    vcf = build.input(vcf_name(chromosome, rows))
    parts = []
    for start, stop in pairwise(1 + rows * job // jobs for job in range(jobs + 1)):
        size = genome_sizes.individuals(stop - start)
        part = File(f"chr{chromosome}n-{start}-{stop}.tar.gz", size=size)
        arguments = [vcf.lfn, *map(str, (chromosome, start, stop, rows))]
        build.job("individuals", arguments, [vcf, columns], [part])
        parts.append(part)
    merged = File(f"chr{chromosome}n.tar.gz", size=genome_sizes.individuals(rows))
    arguments = [str(chromosome), *(part.lfn for part in parts)]
    build.job("individuals_merge", arguments, parts, [merged])
    return merged


def add_sifting(build: Builder, chromosome: int) -> File:
    """The job that picks the variants with a SIFT score."""
    annotation = build.input(annotation_name(chromosome))
    size = genome_sizes.sifted(build.options.rows)
    sifted = File(f"sifted.SIFT.chr{chromosome}.txt", size=size)
    build.job("sifting", [annotation.lfn, str(chromosome)], [annotation], [sifted])
    return sifted


def add_analyses(
    build: Builder, chromosome: int, population: File, inputs: list[File]
) -> None:
    """Overlap and frequency of one population: the results that users get."""
    rows, listed = build.options.rows, len(members(population.lfn))
    name = f"chr{chromosome}-{population.lfn}"
    overlap = genome_sizes.mutation_overlap(rows, listed)
    frequency = genome_sizes.frequency(rows, listed)
    results = {
        "mutation_overlap": File(f"{name}.tar.gz", size=overlap),
        "frequency": File(f"{name}-freq.tar.gz", size=frequency),
    }
    arguments = ["-c", str(chromosome), "-pop", population.lfn]
    for task, result in results.items():
        build.job(task, arguments, [*inputs, population], [result], promised=True)


def write_catalogs(build: Builder, options: Options, output: Path) -> None:
    """Write sites, replicas, transformations and properties beside the workflow."""
    sites = output / "sites.yml"
    genome_catalogs.write_sites(
        sites,
        options.site,
        scratch=(options.scratch or output / "scratch").resolve(),
        results=(options.results or output / "results").resolve(),
        local_scratch=output / "local-scratch",
        pegasus_home=options.pegasus_home,
    )
    if options.tier_path is not None:
        tier, need = options.tier_path.resolve(), build.declared()
        genome_catalogs.add_tier(sites, options.site, tier, options.capacity, need)
    replicas = output / "replicas.yml"
    genome_catalogs.write_replicas(replicas, options.site, build.inputs)
    transformations = output / "transformations.yml"
    genome_catalogs.write_transformations(transformations, options.site)
    genome_catalogs.write_properties(output / "pegasus.properties")


def generate(options: Options) -> Path:
    """Write everything into options.output_dir; returns the path of workflow.yml."""
    build = Builder(options)
    write_inputs(options, build.data)
    columns = build.input("columns.txt")
    populations = add_populations(build, columns)
    for chromosome in range(1, options.chromosomes + 1):
        merged = add_individuals(build, chromosome, columns)
        sifted = add_sifting(build, chromosome)
        for population in populations.values():
            add_analyses(build, chromosome, population, [merged, sifted, columns])
    output = build.data.parent
    write_catalogs(build, options, output)
    workflow = output / "workflow.yml"
    build.workflow.write(str(workflow))
    return workflow


def parse_arguments(arguments: list[str] | None = None) -> Options:
    """The command line as Options."""
    parser = argparse.ArgumentParser(
        description="Generate the 1000 Genomes workflow, its catalogs and its data.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--output-dir", type=Path, required=True, help="where everything is written")
    add("--chromosomes", type=int, default=Options.chromosomes)
    add(
        "--individuals-jobs",
        type=int,
        default=Options.individuals_jobs,
        help="per chromosome",
    )
    add("--rows", type=int, default=Options.rows, help="variants per chromosome")
    add("--populations", nargs="+", default=POPULATIONS, metavar="NAME")
    add("--seed", type=int, default=Options.seed)
    add("--site", default=Options.site, help="the execution site's name")
    add("--scratch", type=Path, help="the site's sharedScratch, on the PFS")
    add("--results", type=Path, help="where outputs are staged to")
    add("--tier-path", type=Path, help="the folder that is the burst buffer")
    add("--capacity", default=Options.capacity, help="auto, or a size such as 2GiB")
    add("--pegasus-home", type=Path, help="PEGASUS_HOME on the execution site")
    given = vars(parser.parse_args(arguments))
    given["populations"] = tuple(given["populations"])
    try:
        return Options(**given)
    except OptionError as error:
        parser.error(str(error))  # ends with status 2


if __name__ == "__main__":
    print(generate(parse_arguments()))
