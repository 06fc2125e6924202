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


def test_pegasus_api_reads_the_properties_and_no_tier_is_there_unless_asked(
    tiny: Path,
) -> None:
    from Pegasus.api import Properties

    properties = Properties.load(tiny / "pegasus.properties")
    assert properties["pegasus.data.configuration"] == "sharedfs"
    assert Path(properties["pegasus.catalog.site.file"]) == tiny / "sites.yml"
    assert "x-storage-tiers" not in read(tiny / "sites.yml")


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


def test_rows_that_do_not_divide_are_all_given_out_once(tmp_path: Path) -> None:
    options = generator.Options(
        tmp_path, chromosomes=1, individuals_jobs=3, rows=10, populations=("GBR",)
    )
    jobs = read(generator.generate(options))["jobs"]
    ranges = [job["arguments"][2:4] for job in jobs if job["name"] == "individuals"]
    assert ranges == [["1", "4"], ["4", "7"], ["7", "11"]]


def test_only_results_are_staged_out_and_every_file_has_a_size(tiny: Path) -> None:
    uses = [use for job in read(tiny / "workflow.yml")["jobs"] for use in job["uses"]]
    staged = {use["lfn"] for use in uses if use.get("stageOut")}
    assert staged == {
        f"chr1-{name}.tar.gz" for name in ("GBR", "GBR-freq", "EAS", "EAS-freq")
    }
    assert not any(use.get("registerReplica") for use in uses)
    assert all(use["metadata"]["size"] > 0 for use in uses)


def test_inputs_are_on_the_site_and_as_large_as_declared(tiny: Path) -> None:
    for replica in read(tiny / "replicas.yml")["replicas"]:
        (pfn,) = replica["pfns"]
        assert pfn["site"] == "cluster"
        assert Path(pfn["pfn"]).stat().st_size == replica["metadata"]["size"]


def test_tier_scratch_and_results_go_where_they_are_told(tmp_path: Path) -> None:
    options = generator.parse_arguments(
        f"--output-dir {tmp_path}/run --rows 2 --individuals-jobs 1 --populations GBR"
        f" --chromosomes 1 --site hpc --scratch {tmp_path}/pfs --results {tmp_path}/out"
        f" --tier-path {tmp_path}/bb --capacity 2GiB".split()
    )
    catalog = read(generator.generate(options).parent / "sites.yml")
    local, site = catalog["sites"]
    storage = {each["type"]: each["path"] for each in local["directories"]}
    assert storage["localStorage"] == f"{tmp_path}/out"
    assert (site["name"], site["directories"][0]["path"]) == ("hpc", f"{tmp_path}/pfs")
    (tier,) = catalog["x-storage-tiers"]["hpc"]
    assert (tier["backend"], tier["capacity"]) == ("directory", "2GiB")
    assert tier["path"] == f"{tmp_path}/bb"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--chromosomes 23", "give 1 to 22"),
        ("--rows 5 --individuals-jobs 6", "each job needs a row"),
        ("--rows 0", "each job needs a row"),
        ("--populations EAS XYZ", "XYZ: give some of EAS GBR"),
        ("--populations EAS EAS", "give each once"),
        ("--site local", "local is the submit host"),
    ],
)
def test_impossible_options_are_refused_by_name(
    options: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        generator.parse_arguments(["--output-dir", str(tmp_path), *options.split()])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# The data


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        vcf.write_vcf(tmp_path / name, 1, 30, seed)
        vcf.write_annotation(tmp_path / f"{name}.annotation", 1, 30, seed)
    for kind in ("", ".annotation"):
        one, again, other = (
            (tmp_path / f"{name}{kind}").read_bytes()
            for name in ("one", "again", "other")
        )
        assert one == again
        assert one != other


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


def test_annotation_has_the_same_sites_and_the_fields_its_header_names(
    tiny: Path,
) -> None:
    genotypes = (tiny / "data" / vcf.vcf_name(1, ROWS)).read_text().splitlines()
    annotation = (tiny / "data" / vcf.annotation_name(1)).read_text().splitlines()
    sites, annotated = (
        [line.split("\t") for line in lines if not line.startswith("#")]
        for lines in (genotypes, annotation)
    )
    assert [row[:5] for row in sites] == [row[:5] for row in annotated]
    (header,) = (line for line in annotation if line.startswith("##INFO=<ID=CSQ"))
    fields = header.split("Format: ")[1].rstrip('">').split("|")
    for row in annotated:
        for transcript in row[7].split("CSQ=")[1].split(","):
            assert len(transcript.split("|")) == len(fields)
