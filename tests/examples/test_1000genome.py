"""The 1000 Genomes example: the workflow, the catalogs and the data it generates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.examples.genomes import generator, read, vcf

# What is generated


def test_defaults_give_the_jobs_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = generator.parse_arguments(["--output-dir", "run", "--rows", "10"])
    workflow = read(generator.generate(options))
    assert Counter(job["name"] for job in workflow["jobs"]) == {
        "individuals": 20,
        "individuals_merge": 2,
        "populations": 1,
        "sifting": 2,
        "mutation_overlap": 14,
        "frequency": 14,
    }


def test_names_and_arguments_are_the_original_ones(tiny: Path) -> None:
    jobs = read(tiny / "workflow.yml")["jobs"]
    calls = {(job["name"], *job["arguments"]) for job in jobs}
    annotation = vcf.annotation_name(1)
    assert calls == {
        ("populations", "populations.panel", "columns.txt", "GBR", "EAS"),
        ("individuals", "ALL.chr1.40.vcf", "1", "1", "21", "40"),
        ("individuals", "ALL.chr1.40.vcf", "1", "21", "41", "40"),
        ("individuals_merge", "1", "chr1n-1-21.tar.gz", "chr1n-21-41.tar.gz"),
        ("sifting", annotation, "1"),
        ("mutation_overlap", "-c", "1", "-pop", "GBR"),
        ("mutation_overlap", "-c", "1", "-pop", "EAS"),
        ("frequency", "-c", "1", "-pop", "GBR"),
        ("frequency", "-c", "1", "-pop", "EAS"),
    }


def test_only_results_are_staged_out_and_every_file_has_a_size(tiny: Path) -> None:
    uses = [use for job in read(tiny / "workflow.yml")["jobs"] for use in job["uses"]]
    staged = {use["lfn"] for use in uses if use.get("stageOut")}
    assert staged == {
        f"chr1-{name}.tar.gz" for name in ("GBR", "GBR-freq", "EAS", "EAS-freq")
    }
    assert not any(use.get("registerReplica") for use in uses)
    assert all(use["metadata"]["size"] > 0 for use in uses)


# The data
