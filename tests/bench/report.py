"""What reading a run of many Kickstart records costs. `make bench` runs this.

python tests/bench/report.py [records]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from pegasus_bb.report.submitdir import read_run

SECONDS, MIB = 5.0, 500.0
RECORD = "tests/recorded/kickstart/kickstart-5.1.2-t-procs.yml"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    record = (Path(__file__).parents[2] / RECORD).read_bytes()
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-bench-") as name:
        for number in range(count):
            (Path(name) / f"writer_ID{number:07}.out.000").write_bytes(record)
        begun = time.monotonic()
        run = read_run(Path(name))
        taken = time.monotonic() - begun
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(run.tasks)} Kickstart records read in {taken:.2f} s, {most:.0f} MiB "
        f"(goals for 10000: {SECONDS:g} s, {MIB:g} MiB)"
    )
    return 0 if taken <= SECONDS and most <= MIB else 1


if __name__ == "__main__":
    sys.exit(main())
