"""The 1000 Genomes example: the workflow, the catalogs and the data it generates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.examples.genomes import EXAMPLE, ROWS, generator, read, vcf

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


def test_genotypes_are_a_valid_vcf_of_the_1000_genomes_shape(tiny: Path) -> None:
    lines = (tiny / "data" / vcf.vcf_name(1, ROWS)).read_text().splitlines()
    assert lines[0].startswith("##fileformat=VCFv4.")
    rows = [line.split("\t") for line in lines if not line.startswith("##")]
    assert len(rows) == 1 + ROWS
    assert rows[0] == (EXAMPLE / "data" / "columns.txt").read_text().split()
    assert {len(row) for row in rows} == {9 + 2504}
    positions = [int(row[1]) for row in rows[1:]]
    assert positions == sorted(set(positions))
    for row in rows[1:]:
        info = dict(field.split("=") for field in row[7].split(";"))
        genotypes = row[9:]
        assert set(genotypes) <= {"0|0", "0|1", "1|0", "1|1"}
        copies = sum(genotype.count("1") for genotype in genotypes)
        assert int(info["AC"]) == copies > 0
        assert float(info["AF"]) == pytest.approx(copies / 5008, rel=1e-5)
