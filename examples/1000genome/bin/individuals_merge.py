#!/usr/bin/env python3
"""individuals_merge: all parts of a chromosome, one file per individual.

usage: individuals_merge.py CHROMOSOME PART.tar.gz...

Appends each individual's lines part after part, in the order of the arguments, and
packs the individuals' files as chrCn.tar.gz.
"""

from __future__ import annotations

import os
import shutil
import sys

from genome import fresh_directory, members, pack, run


def append_part(archive: str, directory: str) -> None:
    """Append what ARCHIVE holds of each individual to its file in DIRECTORY."""
    for name, lines in members(archive):
        with open(os.path.join(directory, name), "ab") as file:
            file.write(lines)


def main(chromosome: str, *parts: str) -> None:
    directory = fresh_directory(f"chr{chromosome}n")
    for part in parts:
        append_part(part, directory)
    pack(directory, f"{directory}.tar.gz")
    shutil.rmtree(directory)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    run(main, *sys.argv[1:])
