"""The 1000 Genomes example: what its tasks compute, run by hand, and how surely."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from tests.examples.genomes import EXAMPLE, ROWS, load, read, vcf


def attempt(
    task: str, arguments: list[str], cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a task that may fail."""
    return subprocess.run(
        [sys.executable, str(EXAMPLE / "bin" / f"{task}.py"), *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def run_task(task: str, arguments: list[str], cwd: Path, **environment: str) -> None:
    done = attempt(task, arguments, cwd, **environment)
    assert done.returncode == 0, done.stderr


def topological(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """The jobs, each after its parents."""
    jobs = {job["id"]: job for job in workflow["jobs"]}
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(jobs, ()))
    for row in workflow["jobDependencies"]:
        for child in row["children"]:
            order.add(child, row["id"])
    return [jobs[job] for job in order.static_order()]


def run_by_hand(generated: Path, cwd: Path, **environment: str) -> dict[str, bytes]:
    """Run every task in CWD; gives every file that is there in the end."""
    cwd.mkdir(parents=True)
    for replica in read(generated / "replicas.yml")["replicas"]:
        (cwd / replica["lfn"]).symlink_to(replica["pfns"][0]["pfn"])
    for job in topological(read(generated / "workflow.yml")):
        run_task(job["name"], job["arguments"], cwd, **environment)
    return {path.name: path.read_bytes() for path in cwd.iterdir()}


@pytest.fixture(scope="module")
def finished(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return run_by_hand(tiny, tmp_path_factory.mktemp("here") / "run")


Tables = dict[str, list[list[str]]]


def tables(archive: bytes) -> Tables:
    """Every file of an archive: its tab-separated lines."""
    contents = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            lines = file.read().decode().splitlines()
            contents[member.name] = [line.split("\t") for line in lines]
    return contents


@pytest.fixture(scope="module")
def sifted(finished: dict[str, bytes]) -> set[str]:
    """The variants that sifting kept."""
    lines = finished["sifted.SIFT.chr1.txt"].decode().splitlines()
    assert lines
    return {line.split("\t")[0] for line in lines}


@pytest.fixture(scope="module")
def merged(finished: dict[str, bytes]) -> Tables:
    """What each individual carries."""
    return tables(finished["chr1n.tar.gz"])


# What the tasks compute


@pytest.mark.sweep
def test_every_file_is_at_most_as_large_as_declared(
    tiny: Path, finished: dict[str, bytes]
) -> None:
    """And no declared size wastes more than a reservation can bear."""
    uses = [use for job in read(tiny / "workflow.yml")["jobs"] for use in job["uses"]]
    declared = {use["lfn"]: use["metadata"]["size"] for use in uses}
    assert finished.keys() == declared.keys()  # and the tasks leave nothing behind
    for lfn, content in finished.items():
        assert len(content) <= declared[lfn], lfn
        assert declared[lfn] <= 3 * len(content) + 1000, lfn


def test_declared_sizes_hold_for_more_rows_too(tmp_path: Path) -> None:
    """A part as large as the defaults', and the sifted variants of a chromosome."""
    sizes = load("genome_sizes")
    (tmp_path / "columns.txt").symlink_to(EXAMPLE / "data" / "columns.txt")
    vcf.write_vcf(tmp_path / "genotypes.vcf", 1, 250, 3)
    vcf.write_annotation(tmp_path / "annotation.vcf", 1, 2500, 3)
    arguments = ["genotypes.vcf", "1", "1", "251", "250"]
    run_task("individuals", arguments, tmp_path)
    run_task("sifting", ["annotation.vcf", "1"], tmp_path)
    part = (tmp_path / "chr1n-1-251.tar.gz").stat().st_size
    assert part <= sizes.individuals(250) <= 3 * part
    sifted = (tmp_path / "sifted.SIFT.chr1.txt").stat().st_size
    assert sifted <= sizes.sifted(2500) <= 3 * sifted


def test_individuals_carry_what_the_genotypes_say(tiny: Path, merged: Tables) -> None:
    lines = (tiny / "data" / vcf.vcf_name(1, ROWS)).read_text().splitlines()
    names = next(line for line in lines if line.startswith("#CHROM")).split("\t")
    column = names.index("NA18526")
    expected = []
    for row in (line.split("\t") for line in lines if not line.startswith("#")):
        frequency = float(row[7].split("AF=")[1].split(";")[0])
        if ("1" if frequency < 0.5 else "0") in row[column]:
            expected.append([row[2], row[1], row[3], row[4]])
    assert [line[:4] for line in merged["chr1n/chr1.NA18526"]] == expected
    assert expected


def rows_of(path: Path) -> list[list[str]]:
    lines = path.read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_info_has_the_layout_of_the_phase_3_release(tiny: Path) -> None:
    """The tasks of the Pegasus workflow count: individuals takes entry 9 of INFO,
    sifting what stands behind the 4th, the 16th and the 17th bar."""
    samples = vcf.read_samples()
    europeans = set((EXAMPLE / "data/populations/EUR").read_text().split())
    columns = [9 + i for i, sample in enumerate(samples) if sample in europeans]
    for row in rows_of(tiny / "data" / vcf.vcf_name(1, ROWS)):
        entries = [entry.split("=") for entry in row[7].split(";")]
        assert entries[8][0] == "EUR_AF"
        assert [key for key, _ in entries][:2] == ["AC", "AF"]
        alleles = "".join(row[column][::2] for column in columns)
        share = alleles.count("1") / len(alleles)
        assert float(entries[8][1]) == pytest.approx(share, abs=1e-4)
    sifted = [
        fields
        for row in rows_of(tiny / "data" / vcf.annotation_name(1))
        for fields in [row[7].split("|")]
        if fields[16]
    ]
    assert sifted
    for fields in sifted:
        assert fields[4].startswith("ENSG")
        assert fields[16].startswith(("tolerated(", "deleterious("))
        assert fields[17].startswith("benign(")


def test_archives_hold_one_file_per_individual_and_nothing_of_the_machine(
    finished: dict[str, bytes],
) -> None:
    part = finished["chr1n-1-21.tar.gz"]
    assert part[4:8] == bytes(4)  # gzip's time
    with tarfile.open(fileobj=io.BytesIO(part), mode="r:gz") as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == [
        f"chr1n-1-21/chr1.{sample}" for sample in vcf.read_samples()
    ]
    owners = {(m.uid, m.gid, m.uname, m.gname, m.mtime, m.mode) for m in members}
    assert owners == {(0, 0, "", "", 0, 0o644)}


def test_populations_are_the_sequenced_members(finished: dict[str, bytes]) -> None:
    british = finished["GBR"].decode().split()
    listed = set((EXAMPLE / "data/populations/GBR").read_text().split())
    assert british == [sample for sample in vcf.read_samples() if sample in listed]
    assert len(british) == 91


def test_sifting_keeps_the_lowest_score_of_each_gene(tmp_path: Path) -> None:
    (tmp_path / "annotation.vcf").write_text(
        "##fileformat=VCFv4.1\n"
        '##INFO=<ID=CSQ,Number=.,Description="VEP. Format: Allele|Gene|SIFT">\n'
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        "1\t5\trs1\tA\tG\t.\tPASS\tVT=SNP;CSQ=G|ENSG1|tolerated(0.3),"
        "G|ENSG1|deleterious(0.01),G|ENSG2|tolerated(1)\n"
        "1\t6\trs2\tA\tG\t.\tPASS\tCSQ=G|ENSG1|\n"
        "1\t7\t.\tA\tG\t.\tPASS\tCSQ=G|ENSG3|deleterious_low_confidence(0)\n"
        "1\t8\trs4\tA\tG\t.\tPASS\tVT=SNP\n"
    )
    run_task("sifting", ["annotation.vcf", "9"], tmp_path)
    assert (tmp_path / "sifted.SIFT.chr9.txt").read_text().splitlines() == [
        "rs1\tENSG1\t0.01\tdeleterious",
        "rs1\tENSG2\t1\ttolerated",
        "1:7\tENSG3\t0\tdeleterious_low_confidence",
    ]


def test_overlap_counts_mutations_that_both_carry(
    finished: dict[str, bytes], merged: Tables, sifted: set[str]
) -> None:
    results = tables(finished["chr1-GBR.tar.gz"])
    pairs = results["chr1-GBR/pairs.txt"]
    assert len(pairs) == 20 * 26 * 26
    for _, one, other, mutations, _ in pairs[::100]:
        assert one != other
        theirs, others = (
            {line[0] for line in merged[f"chr1n/chr1.{name}"]} for name in (one, other)
        )
        assert int(mutations) == len(theirs & others & sifted)
    histogram = results["chr1-GBR/histogram.txt"]
    assert sum(int(number) for _, number in histogram) == len(pairs)


def test_frequency_counts_carriers_in_each_draw(
    finished: dict[str, bytes], merged: Tables, sifted: set[str]
) -> None:
    results = tables(finished["chr1-EAS-freq.tar.gz"])
    draws = results["chr1-EAS-freq/draws.txt"]
    assert len(draws) == 1000
    drawn = draws[0][1].split()
    assert len(set(drawn)) == 52
    assert set(drawn) <= set(finished["EAS"].decode().split())
    carriers = Counter(
        line[0]
        for name in drawn
        for line in merged[f"chr1n/chr1.{name}"]
        if line[0] in sifted
    )
    expected = sorted(Counter(carriers.values()).items())
    histogram = results["chr1-EAS-freq/histogram.txt"]
    assert histogram[0] == ["1", " ".join(f"{n}:{m}" for n, m in expected)]


# How surely


@pytest.mark.sweep
def test_another_folder_and_hash_seed_give_the_same_bytes(
    tiny: Path, finished: dict[str, bytes], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "quite another" / "place"
    assert run_by_hand(tiny, elsewhere, PYTHONHASHSEED="1") == finished


@pytest.mark.parametrize(
    ("task", "folder"), [("individuals", "chr1n-1-21"), ("individuals_merge", "chr1n")]
)
def test_leftovers_of_a_killed_attempt_change_nothing(
    task: str, folder: str, tiny: Path, finished: dict[str, bytes], tmp_path: Path
) -> None:
    """Killed while it wrote its files, or while it packed them."""
    jobs = read(tiny / "workflow.yml")["jobs"]
    job = next(job for job in jobs if job["name"] == task)
    for use in job["uses"]:
        if use["type"] == "input":
            (tmp_path / use["lfn"]).write_bytes(finished[use["lfn"]])
    leftover, archive = tmp_path / folder, tmp_path / f"{folder}.tar.gz"
    leftover.mkdir()
    (leftover / "chr1.HG00096").write_text("rs1\t1\tA")
    (leftover / "chr1.STRANGER").write_text("rs1\t1\tA\tC\t0.5\n")
    archive.write_bytes(gzip.compress(b"half an archive")[:9])
    run_task(task, job["arguments"], tmp_path)
    assert not leftover.exists()
    assert archive.read_bytes() == finished[archive.name]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_part_that_was_cut_off_is_refused(
    kept: float, finished: dict[str, bytes], tmp_path: Path
) -> None:
    part = finished["chr1n-1-21.tar.gz"]
    (tmp_path / "part.tar.gz").write_bytes(part[: int(kept * len(part))])
    ended = attempt("individuals_merge", ["1", "part.tar.gz"], tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("individuals_merge.py: EOFError")
    assert not (tmp_path / "chr1n.tar.gz").exists()


@pytest.mark.parametrize(
    ("task", "arguments", "says"),
    [
        ("populations", ["panel", "columns.txt", "XYZ"], "knows no population XYZ"),
        ("populations", ["panel", "columns.txt", "ONE"], "1 sequenced, at least 2"),
        ("populations", ["bad", "columns.txt", "ONE"], "bad, line 1"),
        ("individuals", ["plain.vcf", "1", "1", "2", "1"], "genotypes for 2504"),
        ("frequency", ["-c", "1", "-pop", "STRANGERS"], "no column of columns.txt"),
        ("sifting", ["missing.vcf", "1"], "No such file or directory: 'missing.vcf'"),
        ("sifting", ["plain.vcf", "1"], "no CSQ header line"),
        ("individuals", ["narrow.vcf", "1", "1", "2", "1"], "1 genotypes for 2504"),
    ],
)
def test_tasks_say_what_is_wrong_with_an_input(
    task: str, arguments: list[str], says: str, tmp_path: Path
) -> None:
    header = (EXAMPLE / "data" / "columns.txt").read_text()
    (tmp_path / "columns.txt").write_text(header)
    (tmp_path / "panel").write_text("HG00096 ONE\nSTRANGER ONE\n")
    (tmp_path / "bad").write_text("HG00096\n")
    (tmp_path / "plain.vcf").write_text("1\t5\trs1\tA\tG\t.\tPASS\tAF=0.1\n")
    (tmp_path / "sifted.SIFT.chr1.txt").write_text("rs1\tENSG1\t0.5\ttolerated\n")
    (tmp_path / "STRANGERS").write_text("HG00096\nSTRANGER\n")
    row = "1\t5\trs1\tA\tG\t.\tPASS\tAF=0.1\tGT\t0|1\n"
    (tmp_path / "narrow.vcf").write_text(row)
    ended = attempt(task, arguments, tmp_path)
    assert ended.returncode == 1
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr
