#!/usr/bin/env python3
"""populations: the sequenced individuals of each population.

usage: populations.py PANEL COLUMNS POPULATION...

PANEL has a line "sample population" for each membership, COLUMNS the header line of the
VCF files. Writes one list per POPULATION, named after it: its members among
the samples, one id a line, in the order of the VCF's columns.
"""

from __future__ import annotations

import sys

from genome import fail, read_samples, run

SMALLEST = 2  # overlaps are between two individuals


def read_panel(panel: str) -> dict[str, set[str]]:
    """Population -> its individuals in the panel."""
    people: dict[str, set[str]] = {}
    with open(panel, encoding="ascii") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.split()
            if len(fields) != 2:
                fail(f"{panel}, line {number}: not 'sample population': {line!r}")
            people.setdefault(fields[1], set()).add(fields[0])
    return people


def main(panel: str, columns: str, *names: str) -> None:
    people = read_panel(panel)
    samples = read_samples(columns)
    for name in names:
        if name not in people:
            fail(f"{panel} knows no population {name}; it has {sorted(people)}")
        sequenced = [sample for sample in samples if sample in people[name]]
        if len(sequenced) < SMALLEST:
            fail(f"{name}: {len(sequenced)} sequenced, at least {SMALLEST} needed")
        with open(name, "w", encoding="ascii") as file:
            file.writelines(f"{sample}\n" for sample in sequenced)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    run(main, *sys.argv[1:])
