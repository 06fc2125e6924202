#!/usr/bin/env python3
"""individuals: what each individual carries in some rows of a chromosome.

usage: individuals.py VCF CHROMOSOME START STOP TOTAL

Reads data rows START up to (not including) STOP, the first being 1, of the VCF's TOTAL.
An individual has a mutation where at least one of its two alleles is the rarer one.
Writes one file per individual, a line per mutation (rs number, position, alleles,
allele frequency), and packs them as chrCn-START-STOP.tar.gz.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import lru_cache
from itertools import islice
from typing import Iterator

from genome import (
    FIXED_COLUMNS,
    fail,
    fresh_directory,
    pack,
    read_samples,
    run,
    sample_file,
)

ALLELE_FREQUENCY = re.compile(r"(?:^|;)AF=([^;]+)")


@lru_cache(maxsize=4096)
def carries(genotype: str, alt_is_rarer: bool) -> bool:
    """Whether a sample column such as 0|1 (or 0|1:35) has the rarer allele."""
    alleles = re.split(r"[|/]", genotype.split(":", 1)[0])
    if alt_is_rarer:
        return any(allele not in ("0", ".") for allele in alleles)
    return "0" in alleles


def data_rows(vcf: str, start: int, stop: int) -> Iterator[str]:
    """Data rows START..STOP-1, and not a byte further than needed."""
    with open(vcf, encoding="ascii") as lines:
        rows = (line for line in lines if not line.startswith("#"))
        yield from islice(rows, start - 1, stop - 1)


def mutations(rows: Iterator[str], samples: list[str]) -> list[list[str]]:
    """For each sample its mutations, as the lines of its file."""
    carried: list[list[str]] = [[] for _ in samples]
    for row in rows:
        fields = row.rstrip("\n").split("\t")
        _, position, name, ref, alt, _, _, info = fields[: FIXED_COLUMNS - 1]
        genotypes = fields[FIXED_COLUMNS:]
        if len(genotypes) != len(samples):
            fail(f"{name}: {len(genotypes)} genotypes for {len(samples)} samples")
        found = ALLELE_FREQUENCY.search(info)
        if found is None:
            fail(f"{name} at {position}: INFO has no AF")
        alt_is_rarer = sum(map(float, found.group(1).split(","))) < 0.5
        line = f"{name}\t{position}\t{ref}\t{alt}\t{found.group(1)}\n"
        for mine, genotype in zip(carried, genotypes):
            if carries(genotype, alt_is_rarer):
                mine.append(line)
    return carried


def main(vcf: str, chromosome: str, start: str, stop: str, total: str) -> None:
    samples = read_samples()
    last = min(int(stop), int(total) + 1)
    directory = fresh_directory(f"chr{chromosome}n-{start}-{stop}")
    carried = mutations(data_rows(vcf, int(start), last), samples)
    for sample, lines in zip(samples, carried):
        path = os.path.join(directory, sample_file(chromosome, sample))
        with open(path, "w", encoding="ascii") as file:
            file.writelines(lines)
    pack(directory, f"{directory}.tar.gz")
    shutil.rmtree(directory)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    run(main, *sys.argv[1:])
