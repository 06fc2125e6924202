#!/usr/bin/env python3
"""mutation_overlap: how many mutations do two individuals of a population share?

usage: mutation_overlap.py -c CHROMOSOME -pop POPULATION

The null distribution for any group of patients: again and again two groups of
individuals are drawn at random, and every individual of the one is compared with
every individual of the other, on the variants that have a SIFT score. Writes
chrC-POPULATION.tar.gz:

    mutations.txt     individual, its sifted mutations, the genes they are in
    pairs.txt         draw, two individuals, mutations they share, genes they share
    histogram.txt     mutations shared, number of pairs that share so many
    null.txt          draw, mean mutations shared, most mutations shared
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from random import Random
from typing import Dict, FrozenSet, Iterable, NamedTuple

from genome import (
    fresh_directory,
    pack,
    read_mutations,
    read_population,
    read_sifted,
    run,
)

DRAWS = 20
GROUP = 26  # individuals in each of a draw's two groups

Carried = Dict[str, FrozenSet[str]]


class Pair(NamedTuple):
    """One comparison of a draw."""

    draw: int
    one: str
    other: str
    mutations: int
    genes: int


def compare(
    draw: int, one: str, other: str, carried: Carried, gene: dict[str, str]
) -> Pair:
    shared = carried[one] & carried[other]
    return Pair(draw, one, other, len(shared), len({gene[rs] for rs in shared}))


def draw_pairs(carried: Carried, gene: dict[str, str], random: Random) -> list[Pair]:
    """All comparisons of all draws."""
    individuals = list(carried)
    size = min(GROUP, len(individuals) // 2)
    pairs = []
    for draw in range(1, DRAWS + 1):
        drawn = random.sample(individuals, 2 * size)
        pairs += [
            compare(draw, one, other, carried, gene)
            for one in drawn[:size]
            for other in drawn[size:]
        ]
    return pairs


def null_distribution(pairs: list[Pair]) -> Iterable[str]:
    """Per draw: the mean and the largest overlap."""
    by_draw: dict[int, list[int]] = {}
    for pair in pairs:
        by_draw.setdefault(pair.draw, []).append(pair.mutations)
    for draw, shared in by_draw.items():
        yield f"{draw}\t{sum(shared) / len(shared):.4f}\t{max(shared)}\n"


def write(directory: str, name: str, lines: Iterable[str]) -> None:
    with open(os.path.join(directory, name), "w", encoding="ascii") as file:
        file.writelines(lines)


def main(chromosome: str, population: str) -> None:
    results = f"chr{chromosome}-{population}"
    gene = read_sifted(chromosome)
    individuals = read_population(population)
    carried = read_mutations(chromosome, individuals, gene, f"{results}.individuals")
    pairs = draw_pairs(carried, gene, Random(f"overlap {results}"))
    histogram = sorted(Counter(pair.mutations for pair in pairs).items())

    fresh_directory(results)
    write(
        results,
        "mutations.txt",
        (
            f"{name}\t{len(mutations)}\t{len({gene[rs] for rs in mutations})}\n"
            for name, mutations in carried.items()
        ),
    )
    write(results, "pairs.txt", ("\t".join(map(str, pair)) + "\n" for pair in pairs))
    write(results, "histogram.txt", (f"{shared}\t{n}\n" for shared, n in histogram))
    write(results, "null.txt", null_distribution(pairs))
    pack(results, f"{results}.tar.gz")
    shutil.rmtree(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-c", required=True, metavar="CHROMOSOME")
    parser.add_argument("-pop", required=True, metavar="POPULATION")
    given = parser.parse_args()
    run(main, given.c, given.pop)
