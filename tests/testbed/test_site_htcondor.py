"""HTCondor in the testbed: a DAG of each user, with jobs on Slurm through blahp."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegasus_bb.testbed import site
from tests.testbed.slurm_site import SlurmSite

pytestmark = [pytest.mark.site]

_DAG = """\
JOB pool {folder}/pool.sub
JOB here {folder}/here.sub
JOB slurm {folder}/slurm.sub
SCRIPT DEFER 75 1 PRE here {folder}/later
PARENT pool CHILD here
PARENT here CHILD slurm
"""
_WHERE = {
    "pool": "universe = vanilla\nrequest_memory = 10",
    "here": "universe = local",
    "slurm": "universe = grid\ngrid_resource = batch slurm\n"
    '+remote_cerequirements = "EXTRA_ARGUMENTS==\\"--bbf={folder}/use.bbf\\""',
}
_SUB = """\
{where}
executable = {folder}/task
arguments = {name}
output = {folder}/{name}.out
error = {folder}/{name}.err
log = {folder}/jobs.log
queue
"""
_TASK = """\
#!/bin/sh
echo "$1 as $(id -un)" "${SLURM_JOB_ID:+in Slurm}" "$(env | grep -o dag.*_scratch)"
"""
_LATER = """\
#!/bin/sh
[ -e {folder}/asked ] || {{ touch {folder}/asked; exit 75; }}
"""


@pytest.mark.parametrize("user", site.USERS)
def test_a_dag_runs_in_the_pool_on_the_submit_host_and_on_slurm(
    slurm: SlurmSite, user: str
) -> None:
    folder = _dag(slurm, user)
    slurm.hold(user, f"dag{user}", 1 << 20)
    assert slurm.run(user, "condor_submit_dag", "-f", f"{folder}/t.dag").status == 0
    log = f"{folder}/t.dag.dagman.log"
    slurm.run(user, "condor_wait", "-wait", "50", log)
    told = (folder / "t.dag.dagman.out").read_text()
    assert "EXITING WITH STATUS 0" in told, told[-2000:]
    said = [(folder / f"{name}.out").read_text().split() for name in _WHERE]
    assert said[:2] == [["pool", "as", user], ["here", "as", user]]
    assert said[2][:5] == ["slurm", "as", user, "in", "Slurm"]
    assert f"/dag{user}_" in said[2][5]
    assert (folder / "asked").exists()
    slurm.give_back(user, f"dag{user}")


def test_a_busy_controller_is_waited_for(slurm: SlurmSite) -> None:
    """Its job may be taken after sbatch gave up, and would then be held for ever."""
    submit = "/usr/libexec/blahp/slurm_submit.sh"
    with ThreadPoolExecutor() as beside:
        with stopped(slurm, "slurmctld"):
            asked = beside.submit(slurm.run, "wfuser", submit, "-c", "/bin/true")
            time.sleep(8)
        answer = asked.result(timeout=60)
    assert (answer.status, "slurm/" in answer.out) == (0, True), answer


def test_an_array_has_a_buffer_for_each_task(slurm: SlurmSite) -> None:
    said = slurm.work / "array"
    said.mkdir(exist_ok=True)
    said.chmod(0o777)
    script = slurm.script(
        "array.sh",
        "#DW jobdw type=scratch capacity=5MiB access_mode=striped",
        f"echo $DW_JOB_STRIPED > {said}/$SLURM_ARRAY_TASK_ID",
    )
    slurm.sbatch("wfuser", "--array=1-3", script)
    slurm.until(lambda: len(list(said.iterdir())) == 3, seconds=40)
    slurm.until(lambda: list(slurm.place.buffers.iterdir()) == [])
    assert len({file.read_text() for file in said.iterdir()}) == 3


@contextmanager
def stopped(slurm: SlurmSite, daemon: str) -> Iterator[None]:
    """It answers nobody meanwhile."""
    assert slurm.run("root", "pkill", "-STOP", "-x", daemon).status == 0
    try:
        yield
    finally:
        slurm.run("root", "pkill", "-CONT", "-x", daemon)


def _dag(slurm: SlurmSite, user: str) -> Path:
    """The files of a DAG that ``user`` owns."""
    name = f"dag-{user}"
    slurm.run("root", "rm", "-rf", name)
    assert slurm.run(user, "mkdir", name).status == 0
    folder = slurm.work / name
    (folder / "t.dag").write_text(_DAG.format(folder=folder))
    (folder / "use.bbf").write_text(f"#DW persistentdw name=dag{user}\n")
    for job, where in _WHERE.items():
        where = where.format(folder=folder)
        text = _SUB.format(where=where, folder=folder, name=job)
        (folder / f"{job}.sub").write_text(text)
    for program, text in (("task", _TASK), ("later", _LATER.format(folder=folder))):
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
    return folder
