"""Both examples, with a cache on the node and without: the results are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.report.run_folder import read_run

from .test_chains import cybershake, genome, results

SMALL_TOO = ("--bb-copy-below", "0")  # small inputs may be shared as well


@pytest.mark.parametrize(
    ("generate", "entries"),
    [
        pytest.param(genome, 1, id="genome"),
        pytest.param(cybershake, 0, id="cybershake", marks=pytest.mark.sweep),
    ],
)
def test_results_are_the_same_with_a_cache(
    tmp_path: Path, generate: Any, entries: int
) -> None:
    """The two jobs of the CyberShake example share no input."""
    workflow = generate(tmp_path)
    (tmp_path / "nvme").mkdir(mode=0o755)
    plain = results(tmp_path, workflow, "plain", *SMALL_TOO)
    assert plain
    assert list((tmp_path / "nvme").iterdir()) == []
    cached = results(tmp_path, workflow, "cached", *SMALL_TOO, cache="1GiB")
    assert cached == plain
    assert bool(read_run(tmp_path / "submit/cached").cached) == bool(entries)
    left = [path.name.split(".")[0] for path in (tmp_path / "nvme").iterdir()]
    assert left == ["pegasus_bb-cache"] * entries
