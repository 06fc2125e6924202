"""When a plain plan counts the I/O of its tasks, and when it stays unchanged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pegasus_bb.cli.plan_real import counting_folder, counting_options
from pegasus_bb.model.settings import Settings
from pegasus_bb.planner.options import PlanOptions

SHAREDFS = "pegasus.data.configuration=sharedfs"


def options(folder: Path, *defines: str) -> PlanOptions:
    return PlanOptions(
        Path("workflow.yml"), folder, defines=defines, base_dir=Path("submit")
    )


def test_on_a_site_with_a_tier_the_launcher_lies_beside_the_runs(
    tmp_path: Path,
) -> None:
    (setting,) = counting_options(
        options(tmp_path, SHAREDFS), Settings(), declared=True
    )
    option, _, launcher = setting.partition("=")
    assert option == "-Dpegasus.gridstart.launcher"
    assert Path(launcher).parents[3] == tmp_path / "submit"
    done = subprocess.run([launcher, "echo", "as it is"], capture_output=True)
    assert done.stdout == b"as it is\n"


@pytest.mark.parametrize(
    ("defines", "counters", "declared"),
    [
        ((), "on", True),  # Pegasus's default: jobs that share no files
        (("pegasus.data.configuration=nonsharedfs",), "on", True),
        ((SHAREDFS, "pegasus.gridstart=PegasusLite"), "on", True),
        ((SHAREDFS, "pegasus.gridstart.launcher=/bin/mine"), "on", True),
        ((SHAREDFS,), "on", False),
        ((SHAREDFS,), "off", True),
    ],
)
def test_where_it_could_be_in_a_jobs_way_there_is_none(
    tmp_path: Path, defines: tuple[str, ...], counters: str, declared: bool
) -> None:
    settings = Settings(counters=counters)
    assert (
        counting_options(options(tmp_path, *defines), settings, declared=declared) == []
    )
    assert not (tmp_path / "submit").exists()


def test_it_is_made_once(tmp_path: Path) -> None:
    first = counting_folder(tmp_path, "")
    made = (first / "bin" / "launch").stat().st_ino
    assert counting_folder(tmp_path, "") == first
    assert (first / "bin" / "launch").stat().st_ino == made
    assert [p.name for p in first.parent.iterdir()] == [first.name]
    assert counting_folder(tmp_path, "/usr/bin/env python3") != first
