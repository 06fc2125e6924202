"""A task that starts ranks on the nodes of its job: all of them are on the buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.runtime.test_launch import PREFIX, names

Site = Any  # tests/runtime/conftest.py
RANK = r"cat \$1/in.txt > \$SCRATCH/part.\$RANK"


def test_every_rank_that_srun_starts_finds_the_real_path(
    site: Site, tmp_path: Path
) -> None:
    """Slurm hands the job's environment and the command line to each of them."""
    srun = tmp_path / "srun"
    srun.write_text('#!/bin/sh\nshift 2\nfor rank in 0 1; do RANK=$rank "$@"; done\n')
    srun.chmod(0o755)
    mpi = tmp_path / "mpi.sh"
    mpi.write_text(f'#!/bin/sh\nexec {srun} -n 2 sh -c "{RANK}" sh "$@"\n')
    mpi.chmod(0o755)
    (site.scratch / "in.txt").write_text("shared\n")
    site.start("launch", str(mpi), f"{PREFIX}/run0001", SCRATCH=f"{PREFIX}/run0001")
    assert names(site.scratch) == ["in.txt", "part.0", "part.1"]
