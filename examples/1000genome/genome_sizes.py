"""Upper bounds for the sizes of files that tasks will write, from the options alone.

A reservation is sized from them, so none may be too small, and none should be wasteful:
they lie between the real size and about three times that. The constants were measured
on generated data from 1 to 25,000 rows; a test compares them with real files.
"""

from __future__ import annotations

import math

SAMPLES = 2504
MEMBER = 10  # bytes that the tar header of one individual takes once compressed
CARRIERS = 280  # individuals who carry the rarer allele of a variant, on average
CARRIERS_AT_MOST = 4000  # by which a block of few rows exceeds that average
SIFT_LINE = 48
SIFT_SHARE = 0.31
SAMPLE_ID = 8  # bytes of a line in a population's list


def individuals(rows: int) -> int:
    """An archive of one file per individual, made from so many rows.

    Neighbouring individuals' files repeat each other while they are short; the longer
    they get, the less of that gzip's window of 32 KB sees.
    """
    lines = CARRIERS * rows + CARRIERS_AT_MOST
    bytes_per_line = min(4 + rows / 600, 16)
    return math.ceil(SAMPLES * MEMBER + lines * bytes_per_line)


def sifted(rows: int) -> int:
    """The list of variants with a SIFT score: a share of the rows, and its scatter."""
    lines = SIFT_SHARE * rows + 3 * math.sqrt(SIFT_SHARE * rows) + 1
    return math.ceil(SIFT_LINE * lines)


def population(listed: int) -> int:
    """A population's list: at most all individuals of the panel."""
    return SAMPLE_ID * listed


def mutation_overlap(rows: int, listed: int) -> int:
    """Random pairs (whatever the rows), a line per individual, digits that grow."""
    return math.ceil(60_000 + 8 * listed + 4_000 * math.log2(1 + rows / 40))


def frequency(rows: int, listed: int) -> int:
    """Random groups (whatever the rows), their histograms, a line per mutation."""
    growing = 8_000 * math.log2(1 + rows / 40) + 4 * rows
    return math.ceil(130_000 + 12 * listed + growing)
