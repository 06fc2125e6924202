#!/usr/bin/env python3
"""Seeded VCF files of the 1000 Genomes shape: real sample ids, made-up genotypes.

For a chromosome two files: the genotypes (9 fixed columns, then one phased genotype for
each of the 2,504 samples) and the annotation of the same sites, with the consequences
that the Variant Effect Predictor would have put into CSQ. INFO has the entries of the
phase 3 release in their order, because tasks count them: the ninth is EUR_AF.

    generate_vcf.py --chromosome 1 --rows 2500 --seed 42 --output-dir data

The same seed gives the same bytes on every Python: only Random.random and
Random.getrandbits are used, whose sequences Python promises to keep.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import NamedTuple

DATA = Path(__file__).resolve().parent / "data"
SUPER_POPULATIONS = ("AFR", "AMR", "EAS", "EUR", "SAS")
IN_INFO = ("EAS", "AMR", "AFR", "EUR", "SAS")  # the order of phase 3's INFO column

STRATA = 16  # frequencies are drawn evenly from so many strata: few rows, same mix
COMMON = 0.02  # rarer variants belong to one super-population
FLIPPED = 0.1  # share of variants whose ALT is the common allele
INDELS = 0.04
SIFTED = 0.3  # share of variants with a SIFT score: an exome's, not a genome's
ROWS_PER_GENE = 20

CSQ_FIELDS = (
    "Allele|Gene|Feature|Feature_type|Consequence|cDNA_position|CDS_position|"
    "Protein_position|Amino_acids|Codons|Existing_variation|DISTANCE|STRAND|SIFT|PolyPhen|"
    "MOTIF_NAME|MOTIF_POS|HIGH_INF_POS|MOTIF_SCORE_CHANGE"
)
SITE_HEADER = (
    '##INFO=<ID=AA,Number=1,Type=String,Description="Ancestral allele|||">\n'
    '##INFO=<ID=VT,Number=.,Type=String,Description="SNP or INDEL">\n'
)
SILENT = ("intron_variant", "synonymous_variant", "upstream_gene_variant")


class Variant(NamedTuple):
    """One site of a chromosome, the same in both files."""

    number: int
    position: int
    name: str
    ref: str
    alt: str


def read_samples() -> list[str]:
    """The 2,504 sample ids, in the order of the columns."""
    return (DATA / "columns.txt").read_text("ascii").split()[9:]


def pick(random: Random, choices: str) -> str:
    return choices[int(random.random() * len(choices))]


def variants(chromosome: int, rows: int, seed: int) -> Iterator[Variant]:
    """The sites of a chromosome, in order of position."""
    random = Random(f"{seed} sites {chromosome}")
    position = 10_000
    for number in range(rows):
        position += 1 + int(random.random() * 80)
        ref = pick(random, "ACGT")
        alt = pick(random, "ACGT".replace(ref, ""))
        if random.random() < INDELS:
            alt = ref + alt
        name = f"rs{chromosome * 10_000_000 + number * 7 + 1}"
        yield Variant(number, position, name, ref, alt)


class Genotypes:
    """Draws haplotypes: alleles of both chromosomes of every sample, in order."""

    def __init__(self, samples: list[str], random: Random) -> None:
        self.random = random
        self.size = 2 * len(samples)
        self.pools = [self._haplotypes(samples, name) for name in SUPER_POPULATIONS]
        pools = dict(zip(SUPER_POPULATIONS, self.pools, strict=True))
        self.members = {name: itemgetter(*pools[name]) for name in IN_INFO}

    @staticmethod
    def _haplotypes(samples: list[str], population: str) -> list[int]:
        people = set((DATA / "populations" / population).read_text("ascii").split())
        columns = [c for c, sample in enumerate(samples) if sample in people]
        return [2 * column + side for column in columns for side in (0, 1)]

    def frequency(self, number: int) -> float:
        """Between one single copy and one half, evenly on the logarithmic scale."""
        stratum = number * 7 % STRATA
        exponent = (stratum + self.random.random()) / STRATA
        return math.pow(self.size / 2, exponent) / self.size

    def frequencies(self, alleles: bytes) -> str:
        """The share of ALT alleles in each super-population, as INFO has it."""
        found = {name: members(alleles) for name, members in self.members.items()}
        shares = {name: own.count(ord("1")) / len(own) for name, own in found.items()}
        return ";".join(f"{name}_AF={share:.4g}" for name, share in shares.items())

    def draw(self, number: int) -> bytes:
        """The alleles, b"0" or b"1", of one variant."""
        frequency = self.frequency(number)
        common = frequency > COMMON
        alleles = self._common(frequency) if common else self._rare(frequency)
        if self.random.random() < FLIPPED:
            return alleles.translate(bytes.maketrans(b"01", b"10"))
        return alleles

    def _common(self, frequency: float) -> bytes:
        below = round(256 * frequency)
        noise = self.random.getrandbits(8 * self.size).to_bytes(self.size, "little")
        return noise.translate(b"1" * below + b"0" * (256 - below))

    def _rare(self, frequency: float) -> bytes:
        alleles = bytearray(b"0" * self.size)
        pool = self.pools[int(self.random.random() * len(self.pools))]
        for _ in range(max(1, round(frequency * self.size))):
            alleles[pool[int(self.random.random() * len(pool))]] = ord("1")
        return bytes(alleles)


def vcf_header(chromosome: int, seed: int) -> str:
    return (
        "##fileformat=VCFv4.1\n"
        f"##source=synthetic genotypes, seed {seed}\n"
        f"##contig=<ID={chromosome}>\n"
        '##FILTER=<ID=PASS,Description="All filters passed">\n'
    )


def genotype_header(samples: list[str]) -> str:
    return (
        '##INFO=<ID=AC,Number=A,Type=Integer,Description="Count of ALT alleles">\n'
        '##INFO=<ID=AF,Number=A,Type=Float,Description="ALT allele frequency">\n'
        '##INFO=<ID=AN,Number=1,Type=Integer,Description="Count of alleles">\n'
        '##INFO=<ID=NS,Number=1,Type=Integer,Description="Samples with data">\n'
        '##INFO=<ID=DP,Number=1,Type=Integer,Description="Total read depth">\n'
        + "".join(
            f"##INFO=<ID={name}_AF,Number=A,Type=Float,Description="
            f'"ALT allele frequency in {name}">\n'
            for name in IN_INFO
        )
        + SITE_HEADER
        + '##FORMAT=<ID=GT,Number=1,Type=String,Description="Phased genotype">\n'
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
        + "\t".join(samples)
        + "\n"
    )


def depth(site: Variant) -> int:
    """How many reads cover the site: made up, about 7 for each sample."""
    return 15_000 + site.position * 7919 % 6_000


def site_info(site: Variant) -> str:
    """What INFO says of a site in both files: the ancestral allele, and its kind."""
    return f"AA={site.ref}|||;VT={kind(site)}"


def kind(variant: Variant) -> str:
    return "SNP" if len(variant.alt) == 1 else "INDEL"


def write_vcf(path: Path, chromosome: int, rows: int, seed: int) -> None:
    """Write the genotypes: about 10 KB a row."""
    samples = read_samples()
    genotypes = Genotypes(samples, Random(f"{seed} genotypes {chromosome}"))
    columns = bytearray(b"0|0\t" * len(samples))
    columns[-1:] = b"\n"
    with path.open("wb") as file:
        file.write(vcf_header(chromosome, seed).encode())
        file.write(genotype_header(samples).encode())
        for site in variants(chromosome, rows, seed):
            alleles = genotypes.draw(site.number)
            count, total = alleles.count(b"1"), len(alleles)
            fixed = (
                f"{chromosome}\t{site.position}\t{site.name}\t{site.ref}\t{site.alt}\t100"
                f"\tPASS\tAC={count};AF={count / total:.6g};AN={total}"
                f";NS={len(samples)};DP={depth(site)}"
                f";{genotypes.frequencies(alleles)};{site_info(site)}\tGT\t"
            )
            columns[0::2] = alleles
            file.write(fixed.encode())
            file.write(columns)


def consequence(site: Variant, gene: str, transcript: int, random: Random) -> str:
    """One transcript's entry of CSQ; SIFT only where an amino acid changes."""
    score = random.random()
    prediction = "deleterious" if score <= 0.05 else "tolerated"
    place = 1 + int(random.random() * 3000)
    return (
        f"{site.alt}|{gene}|ENST{int(gene[4:]) * 10 + transcript:011d}|Transcript"
        f"|missense_variant|{place + 90}|{place}|{place // 3 + 1}|A/V|gCg/gTg"
        f"|{site.name}||1|{prediction}({score:.2f})|benign({random.random():.3f})||||"
    )


def consequences(site: Variant, gene: str, random: Random) -> str:
    """The whole CSQ of a site."""
    if kind(site) == "SNP" and random.random() < SIFTED:
        transcripts = 1 + int(random.random() * 3)
        entries = (consequence(site, gene, t, random) for t in range(transcripts))
        return ",".join(entries)
    effect = SILENT[int(random.random() * len(SILENT))]
    feature = f"ENST{int(gene[4:]) * 10:011d}|Transcript"
    return f"{site.alt}|{gene}|{feature}|{effect}||||||{site.name}||1||||||"


def write_annotation(path: Path, chromosome: int, rows: int, seed: int) -> None:
    """Write the sites with what the Variant Effect Predictor says of them."""
    random = Random(f"{seed} annotation {chromosome}")
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(vcf_header(chromosome, seed))
        file.write(
            '##INFO=<ID=CSQ,Number=.,Type=String,Description="Consequence type as '
            f'predicted by VEP. Format: {CSQ_FIELDS}">\n'
            f"{SITE_HEADER}"
            "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        )
        for site in variants(chromosome, rows, seed):
            gene = f"ENSG{chromosome * 100_000 + site.number // ROWS_PER_GENE:011d}"
            csq = consequences(site, gene, random)
            file.write(
                f"{chromosome}\t{site.position}\t{site.name}\t{site.ref}\t{site.alt}"
                f"\t100\tPASS\t{site_info(site)};CSQ={csq}\n"
            )


def vcf_name(chromosome: int, rows: int) -> str:
    return f"ALL.chr{chromosome}.{rows}.vcf"


def annotation_name(chromosome: int) -> str:
    release = "phase3_shapeit2_mvncall_integrated_v5.20130502"
    return f"ALL.chr{chromosome}.{release}.sites.annotation.vcf"


def main() -> None:
    parser = argparse.ArgumentParser(description="write the VCF files of a chromosome")
    parser.add_argument("--chromosome", type=int, required=True)
    parser.add_argument("--rows", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output-dir", type=Path, default=Path())
    given = parser.parse_args()
    given.output_dir.mkdir(parents=True, exist_ok=True)
    site = given.chromosome, given.rows, given.seed
    write_vcf(given.output_dir / vcf_name(given.chromosome, given.rows), *site)
    write_annotation(given.output_dir / annotation_name(given.chromosome), *site)


if __name__ == "__main__":
    main()
