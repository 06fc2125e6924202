"""What the tasks share: sample columns, individuals' files, reproducible archives.

Standard library only, Python 3.8 or newer: it runs on compute nodes beside the tasks.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tarfile
import zlib
from typing import Callable, Container, Iterator, NoReturn

FIXED_COLUMNS = 9  # CHROM POS ID REF ALT QUAL FILTER INFO FORMAT
COLUMNS = "columns.txt"
COMPRESSION = 6  # part of the result: another level gives other bytes


def fail(message: str) -> NoReturn:
    """End the task with one line on standard error."""
    task = os.path.basename(sys.argv[0])
    sys.exit(f"{task}: {message}")


def run(main: Callable[..., None], *arguments: str) -> None:
    """Call MAIN; an input that is missing or broken ends the task with one line."""
    try:
        main(*arguments)
    except (OSError, EOFError, ValueError, tarfile.TarError, zlib.error) as error:
        fail(f"{type(error).__name__}: {error}")


def read_samples(path: str = COLUMNS) -> list[str]:
    """The sample ids of columns.txt, in the order of the VCF's columns."""
    with open(path, encoding="ascii") as lines:
        columns = lines.readline().rstrip("\n").split("\t")
    if columns[0] != "#CHROM" or len(columns) <= FIXED_COLUMNS:
        fail(f"{path} holds no VCF header line (#CHROM ... FORMAT sample ids)")
    return columns[FIXED_COLUMNS:]


def sample_file(chromosome: str, sample: str) -> str:
    """The name, inside an archive, of what one individual carries."""
    return f"chr{chromosome}.{sample}"


def fresh_directory(name: str) -> str:
    """An empty directory NAME here, whatever a killed attempt may have left."""
    shutil.rmtree(name, ignore_errors=True)
    os.mkdir(name)
    return name


def pack(directory: str, archive: str) -> None:
    """Pack the files of DIRECTORY: the same names and bytes give the same archive.

    Nothing of the machine gets in: members are sorted, and carry no time, user or mode.
    """
    top = os.path.basename(directory)
    with open(archive, "wb") as raw, gzip.GzipFile(
        filename="", mode="wb", compresslevel=COMPRESSION, fileobj=raw, mtime=0
    ) as zipped, tarfile.open(
        fileobj=zipped, mode="w|", format=tarfile.USTAR_FORMAT
    ) as tar:
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), "rb") as file:
                content = file.read()
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def members(archive: str) -> Iterator[tuple[str, bytes]]:
    """Each file of ARCHIVE in its order: name without folders, content.

    Not as a stream ("r|gz"): that takes an archive which was cut off for a whole one.
    """
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                yield os.path.basename(member.name), file.read()


def unpack(archive: str, directory: str, wanted: Container[str]) -> None:
    """Write the files of ARCHIVE that are WANTED into DIRECTORY."""
    for name, content in members(archive):
        if name in wanted:
            with open(os.path.join(directory, name), "wb") as file:
                file.write(content)


def read_sifted(chromosome: str) -> dict[str, str]:
    """Variant -> gene, for every variant that has a SIFT score."""
    with open(f"sifted.SIFT.chr{chromosome}.txt", encoding="ascii") as lines:
        rows = (line.split("\t", 2) for line in lines)
        return {name: gene for name, gene, _ in rows}


def read_population(name: str) -> list[str]:
    """The individuals of a population, in the order of the VCF's columns."""
    with open(name, encoding="ascii") as lines:
        listed = set(lines.read().split())
    individuals = [sample for sample in read_samples() if sample in listed]
    if len(individuals) != len(listed):
        stranger = min(listed.difference(individuals))
        fail(f"{name} lists {stranger}, which is no column of {COLUMNS}")
    return individuals


def read_mutations(
    chromosome: str, individuals: list[str], sifted: Container[str], work: str
) -> dict[str, frozenset[str]]:
    """The sifted variants that each individual carries; WORK is emptied, then removed.

    The individuals' files are unpacked first and read one by one after that, as the
    tools of the field do.
    """
    files = {name: sample_file(chromosome, name) for name in individuals}
    archive = f"chr{chromosome}n.tar.gz"
    unpack(archive, fresh_directory(work), frozenset(files.values()))
    mutations = {}
    for name, file in files.items():
        try:
            with open(os.path.join(work, file), encoding="ascii") as lines:
                carried = (line.split("\t", 1)[0] for line in lines)
                mutations[name] = frozenset(rs for rs in carried if rs in sifted)
        except FileNotFoundError:
            fail(f"{archive} has no {file}: was it made with this {COLUMNS}?")
    shutil.rmtree(work)
    return mutations
