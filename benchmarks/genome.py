"""A workflow of any number of jobs to plan, and the catalogs that go with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WRITTEN = 500_000  # bytes that each job writes
WIDTH = 100  # jobs of one chromosome
FAN_IN = 20  # of them, those that its merge job waits for

SITES = """\
pegasus: "5.0"
sites:
- name: local
  directories:
  - type: localStorage
    path: {root}/results
    fileServers: [{{url: "file://{root}/results", operation: all}}]
- name: cluster
  directories:
  - type: sharedScratch
    path: {root}/scratch
    fileServers: [{{url: "file://{root}/scratch", operation: all}}]
  profiles:
    pegasus: {{style: condor, data.configuration: sharedfs}}
x-storage-tiers:
  cluster:
  - name: bb
    backend: directory
    path: {root}/fast
    quota: 900TiB
    capacity: auto
"""
TRANSFORMATIONS = """\
pegasus: "5.0"
transformations:
- name: individuals
  sites: [{name: cluster, pfn: /bin/true, type: installed}]
- name: merge
  sites: [{name: cluster, pfn: /bin/true, type: installed}]
- name: overlap
  sites: [{name: cluster, pfn: /bin/true, type: installed}]
"""
SPEEDS = """\
cluster:
  slots: 64
  pfs: {read: 8GB/s, write: 6GB/s, job_read: 400MB/s, job_write: 300MB/s, latency: 2ms}
  bb: {read: 80GB/s, write: 60GB/s, job_read: 2GB/s, job_write: 1500MB/s}
"""


class Task(NamedTuple):
    """One job."""

    name: str
    reads: list[str]
    writes: str
    is_result: bool


def genome(jobs: int) -> Iterator[Task]:
    """Per chromosome: individuals of a file, a merge of them, overlaps of the merge."""
    for number in range(jobs):
        chromosome, place = divmod(number, WIDTH)
        if place < FAN_IN:
            part = f"part-{chromosome}-{place}.gz"
            yield Task("individuals", [f"chr{chromosome}.vcf"], part, False)
        elif place == FAN_IN:
            parts = [f"part-{chromosome}-{n}.gz" for n in range(place)]
            yield Task("merge", parts, f"chr{chromosome}.gz", False)
        else:
            overlap = f"overlap-{chromosome}-{place}.gz"
            yield Task("overlap", [f"chr{chromosome}.gz"], overlap, True)


def write_inputs(root: Path, jobs: int) -> None:
    """Workflow and catalogs; the workflow is YAML, as Pegasus's own API writes it."""
    if (root / "workflow.yml").exists():
        return
    root.mkdir(parents=True)
    (root / "sites.yml").write_text(SITES.format(root=root))
    (root / "transformations.yml").write_text(TRANSFORMATIONS)
    (root / "speeds.yml").write_text(SPEEDS)
    source = f"{root}/inputs"
    with (root / "replicas.yml").open("w") as out:
        out.write('pegasus: "5.0"\nreplicas:\n')
        for number in range(-(-jobs // WIDTH)):
            lfn = f"chr{number}.vcf"
            out.write(f"- lfn: {lfn}\n  metadata: {{size: 1000000}}\n")
            out.write(f"  pfns:\n  - site: cluster\n    pfn: {source}/{lfn}\n")
    with (root / "workflow.yml").open("w") as out:
        out.write(
            'x-pegasus:\n  apiLang: python\npegasus: "5.0"\nname: genome\njobs:\n'
        )
        out.writelines(job_lines(genome(jobs)))


def job_lines(tasks: Iterator[Task]) -> Iterator[str]:
    """Of each job, then that no dependency is declared: files imply them."""
    for number, (name, reads, writes, is_result) in enumerate(tasks, start=1):
        yield f"- type: job\n  name: {name}\n  id: ID{number:07d}\n"
        yield f"  arguments:\n  - {reads[0]}\n  - {writes}\n  uses:\n"
        for lfn in reads:
            yield f"  - lfn: {lfn}\n    type: input\n"
        yield (
            f"  - lfn: {writes}\n    type: output\n    stageOut: "
            f"{str(is_result).lower()}\n    registerReplica: false\n    metadata:\n"
            f"      size: {WRITTEN}\n"
        )
    yield "jobDependencies: []\n"
