#!/usr/bin/env python3
"""frequency: how often do the same mutations meet in random groups of a population?

usage: frequency.py -c CHROMOSOME -pop POPULATION

Draws groups of individuals at random, and counts in each for every variant that has a
SIFT score how many of the group carry it. Writes chrC-POPULATION-freq.tar.gz:

    draws.txt         draw, the individuals drawn
    histogram.txt     draw, then "individuals:mutations": so many mutations are carried
                      by exactly so many individuals of the group
    mutations.txt     mutation, gene, mean and largest number of carriers in a group
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from itertools import chain
from random import Random
from typing import Counter as Tally
from typing import Iterable

from genome import (
    fresh_directory,
    pack,
    read_mutations,
    read_population,
    read_sifted,
    run,
)

DRAWS = 1000
GROUP = 52  # individuals in a draw


def draw_groups(individuals: list[str], random: Random) -> list[list[str]]:
    """DRAWS groups; a population smaller than GROUP is drawn by halves."""
    size = GROUP if len(individuals) > GROUP else max(2, len(individuals) // 2)
    return [random.sample(individuals, size) for _ in range(DRAWS)]


def count(
    groups: list[list[str]], carried: dict[str, frozenset[str]]
) -> list[Tally[str]]:
    """For each group: mutation -> how many of the group carry it."""
    return [Counter(chain.from_iterable(carried[one] for one in g)) for g in groups]


def histogram_lines(counts: list[Tally[str]]) -> Iterable[str]:
    for draw, carriers in enumerate(counts, start=1):
        shared = sorted(Counter(carriers.values()).items())
        yield f"{draw}\t" + " ".join(f"{n}:{m}" for n, m in shared) + "\n"


def mutation_lines(counts: list[Tally[str]], gene: dict[str, str]) -> Iterable[str]:
    total: Tally[str] = Counter()
    largest: dict[str, int] = {}
    for carriers in counts:
        total.update(carriers)
        for mutation, number in carriers.items():
            largest[mutation] = max(number, largest.get(mutation, 0))
    for mutation in sorted(total):
        mean = total[mutation] / len(counts)
        yield f"{mutation}\t{gene[mutation]}\t{mean:.3f}\t{largest[mutation]}\n"


def write(directory: str, name: str, lines: Iterable[str]) -> None:
    with open(os.path.join(directory, name), "w", encoding="ascii") as file:
        file.writelines(lines)


def main(chromosome: str, population: str) -> None:
    results = f"chr{chromosome}-{population}-freq"
    gene = read_sifted(chromosome)
    individuals = read_population(population)
    carried = read_mutations(chromosome, individuals, gene, f"{results}.individuals")
    groups = draw_groups(individuals, Random(f"frequency {results}"))
    counts = count(groups, carried)

    fresh_directory(results)
    drawn = (f"{n}\t" + " ".join(g) + "\n" for n, g in enumerate(groups, start=1))
    write(results, "draws.txt", drawn)
    write(results, "histogram.txt", histogram_lines(counts))
    write(results, "mutations.txt", mutation_lines(counts, gene))
    pack(results, f"{results}.tar.gz")
    shutil.rmtree(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-c", required=True, metavar="CHROMOSOME")
    parser.add_argument("-pop", required=True, metavar="POPULATION")
    given = parser.parse_args()
    run(main, given.c, given.pop)
