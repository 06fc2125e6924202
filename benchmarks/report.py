"""What reading Kickstart records costs, many of them or large. `make bench` runs this.

python benchmarks/report.py [records]
"""

from __future__ import annotations

import gc
import resource
import sys
import tempfile
import time
from pathlib import Path

from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.run_folder import read_run

# of 10,000 records, read and compared
SECONDS = 5.0
MIB = 500.0
LARGE_SECONDS = 0.2  # of one record of Pegasus 4 with MEBIBYTE bytes
MEBIBYTE = 1 << 20
RECORD = "tests/recorded/kickstart/kickstart-5.1.2-t-procs.yml"
LARGE = """<?xml version="1.0" encoding="UTF-8"?>
<invocation version="2.3" start="2020-02-03T01:49:00.473-08:00" duration="9.5">
<mainjob start="2020-02-03T01:49:00.473-08:00" duration="9.4" pid="42">
<status raw="0"><regular exitcode="0"/></status>
<proc ppid="41" pid="42" rchar="7000" wchar="500" rbytes="4096" wbytes="512">
{}</proc></mainjob></invocation>
"""
FILE = (
    '<file name="/global/cscratch1/sd/me/workflow/input/{:08}.w.fits" bread="67154752" '
    'nread="55" bwrite="0" nwrite="0" bseek="33583680" nseek="1" size="33583680"/>\n'
)


def main() -> int:
    gc.disable()  # as the command does
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-bench-") as name:
        kept = many(Path(name), count)
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-bench-") as name:
        kept = large(Path(name)) and kept
    return 0 if kept else 1


def many(folder: Path, count: int) -> bool:
    record = (Path(__file__).parents[1] / RECORD).read_bytes()
    for number in range(count):
        own = record.replace(b'"ID1"', b'"ID%07d"' % number)
        (folder / f"writer_ID{number:07}.out.000").write_bytes(own)
    begun = time.monotonic()
    run = read_run(folder)
    read = time.monotonic() - begun
    to_document(compare([run], [run]))
    taken = time.monotonic() - begun
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(run.tasks)} Kickstart records read in {read:.2f} s, and compared in "
        f"{taken:.2f} s, {most:.0f} MiB (goals for 10000: {SECONDS:g} s, {MIB:g} MiB)"
    )
    return taken <= SECONDS and most <= MIB


def large(folder: Path) -> bool:
    path = folder / "resample_ID0000001.out.000"
    rows = (MEBIBYTE - len(LARGE)) // len(FILE.format(0)) + 1
    path.write_text(LARGE.format("".join(map(FILE.format, range(rows)))))
    begun = time.monotonic()
    run = read_run(path)
    taken = time.monotonic() - begun
    print(
        f"a Kickstart record (XML) of {path.stat().st_size / MEBIBYTE:.2f} MiB read in "
        f"{taken:.3f} s, {len(run.tasks[0].files)} files (goal: {LARGE_SECONDS:g} s)"
    )
    return taken <= LARGE_SECONDS


if __name__ == "__main__":
    sys.exit(main())
