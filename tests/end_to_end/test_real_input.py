"""The 1000 Genomes workflow as its own authors generate it, for a NERSC site.

Their files are planned as they are: a tier is declared, and nothing else is edited.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded" / "1000genome-nersc"
FILES = ["workflow.yml", "sites.yml", "replicas.yml", "transformations.yml"]
TIER = (
    "x-storage-tiers:\n  cori:\n  - {name: bb, backend: datawarp, "
    "pool: wlm_pool, capacity: 700GiB, inputs: link}\n"
)
NERSC = {
    "NERSC_USER": "wfuser",
    "NERSC_PROJECT": "m1234",
    "NERSC_PEGASUS_HOME": "/global/pegasus",
}


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    for name in [*FILES, "pegasus.properties"]:
        shutil.copy(RECORDED / name, tmp_path)
    return tmp_path


def plan(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    without = {k: v for k, v in os.environ.items() if k not in NERSC}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pegasus_bb",
            "plan",
            "--bb-mode",
            "persistent",
            "--sites",
            "cori",
            "--output-sites",
            "local",
            "--dir",
            "submit",
            "--relative-submit-dir",
            "bb",
            "--bb-planner",
            "builtin",
            "--no-check",
        ],
        cwd=folder,
        env={**without, **environment},
        capture_output=True,
        text=True,
    )


def test_the_authors_workflow_plans_once_a_tier_is_declared(authors: Path) -> None:
    with (authors / "sites.yml").open("a") as catalog:
        catalog.write(TIER)
    before = {name: (authors / name).read_bytes() for name in FILES}
    done = plan(authors, **NERSC)
    assert done.returncode == 0, done.stderr
    assert {name: (authors / name).read_bytes() for name in FILES} == before
    submit = authors / "submit" / "bb"
    dag = (submit / "1000-genome-0.dag").read_text()
    jobs = [line.split()[1] for line in dag.splitlines() if line.startswith("JOB ")]
    tasks = [j for j in jobs if j.split("_ID")[0] in ("individuals", "frequency")]
    assert len(tasks) == 20 + 14
    assert "SCRIPT DEFER 75 10 PRE create_dir_1000-genome_0_cori" in dag
    request = json.loads((submit / "bb" / "request.json").read_text())
    assert request["capacity"] >= 700 << 30
    assert len(json.loads((submit / "bb/placement.json").read_text())["outputs"]) == 28
    (sub,) = submit.glob("*/*/individuals_ID0000001.sub")
    (line,) = [x for x in sub.read_text().splitlines() if x.startswith("arguments")]
    assert "ALL.chr1.250000.vcf 1 1 25001 250000" in line
