#!/usr/bin/env python3
"""sifting: the variants that have a SIFT score.

usage: sifting.py ANNOTATION.vcf CHROMOSOME

Reads the consequences that the Variant Effect Predictor has put into CSQ (the header
says which field is where), and writes sifted.SIFT.chrC.txt: for each variant and gene
with a SIFT prediction the lowest score of its transcripts, as

    rs number <tab> gene <tab> score <tab> prediction
"""

from __future__ import annotations

import re
import sys
from typing import Iterator, Tuple

from genome import fail, run

CSQ_HEADER = re.compile(r'##INFO=<ID=CSQ,.*Format: ([^">]+)')
CSQ = re.compile(r"(?:^|;)CSQ=([^;]+)")
PREDICTION = re.compile(r"([a-z_]+)\(([0-9.]+)\)")

Score = Tuple[float, str]


def field_positions(header: str) -> tuple[int, int]:
    """Where CSQ's header line puts the gene and the SIFT prediction."""
    found = CSQ_HEADER.match(header)
    names: list[str] = found.group(1).strip().split("|") if found else []
    if "Gene" not in names or "SIFT" not in names:
        fail(f"CSQ's header line names no Gene and SIFT: {header.strip()}")
    return names.index("Gene"), names.index("SIFT")


def lowest_scores(consequences: str, gene: int, sift: int) -> dict[str, Score]:
    """Gene -> the most damaging (lowest) score among its transcripts."""
    lowest: dict[str, Score] = {}
    for transcript in consequences.split(","):
        fields = transcript.split("|")
        found = PREDICTION.fullmatch(fields[sift])
        if found is not None:
            score = float(found.group(2)), found.group(1)
            lowest[fields[gene]] = min(score, lowest.get(fields[gene], score))
    return lowest


def sift_lines(annotation: str) -> Iterator[str]:
    """The lines of the result, in the order of the variants."""
    positions = None
    with open(annotation, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("##INFO=<ID=CSQ,"):
                positions = field_positions(line)
            if line.startswith("#"):
                continue
            if positions is None:
                fail(f"{annotation} has no CSQ header line: annotate it with VEP")
            chromosome, position, name, *_, info = line.rstrip("\n").split("\t")
            found = CSQ.search(info)
            scores = lowest_scores(found.group(1), *positions) if found else {}
            known = name if name != "." else f"{chromosome}:{position}"
            for gene, (score, prediction) in sorted(scores.items()):
                yield f"{known}\t{gene}\t{score:g}\t{prediction}\n"


def main(annotation: str, chromosome: str) -> None:
    with open(f"sifted.SIFT.chr{chromosome}.txt", "w", encoding="ascii") as file:
        file.writelines(sift_lines(annotation))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run(main, *sys.argv[1:])
