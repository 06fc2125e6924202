"""No program of a run takes (files) x (results) steps.

Each is run at two sizes, and its calls are counted: a busy machine changes no count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import await_stage_out, transfer
from pegasus_bb.runtime.programs.launch import launch
from pegasus_bb.runtime.scratch_root import MARK
from pegasus_bb.runtime.transfers.transfer_jobs import read_jobs
from tests.support import job_lists
from tests.support.counting import calls
from tests.support.job_reservation_site import JOB, JobSite
from tests.support.run_programs import Run
from tests.support.run_site import NODE, Site

FEW = 20
MANY = 80
SLACK = 1.02  # what is done once makes it less than MANY / FEW
Work = Callable[[], object]


def transfers(site: Site, jobs: list[dict[str, Any]]) -> Work:
    listed = read_jobs(json.dumps(jobs))
    options = transfer.parse_options([])
    return lambda: transfer.run(site.bbdir, listed, options, {}) == 0 or pytest.fail()


def many_results(root: Path, number: int, folders: bool = False) -> tuple[Site, Any]:
    """A site with results that are staged out, and the jobs that did that."""
    site = Site(root)
    names = [f"sub{n % 7}/out{n}" for n in range(number)]
    site.place(
        dict.fromkeys(names, "bb write"), {name: f"{site.out}/{name}" for name in names}
    )
    (site.scratch / MARK).write_text("run-1\n")
    for name in names:
        made = site.scratch / name / "file" if folders else site.scratch / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(name)
    jobs = [
        job_lists.transfer(name, site.scratch / name, site.out / name) for name in names
    ]
    return site, jobs


def stage_out_of_folders_again(root: Path, number: int) -> Work:
    site, jobs = many_results(root, number, folders=True)
    transfers(site, jobs)()
    return transfers(site, jobs)


def clean_up(root: Path, number: int) -> Work:
    site, jobs = many_results(root, number)
    transfers(site, jobs)()
    paths = [site.scratch / job["lfn"] for job in jobs]
    return transfers(site, [job_lists.folder("remove", path) for path in paths])


def launch_with_links(root: Path, number: int) -> Work:
    site = Site(root)
    links = {f"sub{n % 7}/in{n}": f"{site.pfs_scratch}/in{n}" for n in range(number)}
    site.link(links)
    return lambda: launch(site.bbdir, ["/bin/true"], {"PEGASUS_DAG_JOB_ID": NODE})


def launch_on_a_reservation(root: Path, number: int) -> Work:
    site = JobSite(root, "directory")
    names = [f"sub{n % 7}/{n}" for n in range(number)]
    script = "".join(f"echo {name} > {name}.out; " for name in names)
    for name in names:
        (site.scratch / name).parent.mkdir(exist_ok=True)
        (site.scratch / name).write_text(name)
    outputs = [f"{name}.out" for name in names]
    site.reserve(stage_in=names, stage_out=outputs, read=[], write=[])
    environ = {"PEGASUS_DAG_JOB_ID": NODE, "CONDOR_JOBID": JOB}
    os.chdir(site.scratch)
    argv = ["/bin/sh", "-c", script]
    return lambda: launch(site.bbdir, argv, environ) == 0 or pytest.fail()


def await_results(root: Path, number: int) -> Work:
    launch_on_a_reservation(root, number)()
    bb = BBDir(str(root / "submit" / "bb"))
    return lambda: await_stage_out.poll(bb, NODE, JOB)


def delete_of_results(root: Path, number: int) -> Work:
    run = Run(root)
    assert run.setup() == 0 and run.gate() == 0
    for n in range(number):
        run.stage_out(f"out{n}")
    return run.delete


@pytest.mark.parametrize(
    "program",
    [
        launch_with_links,
        launch_on_a_reservation,
        await_results,
        stage_out_of_folders_again,
        clean_up,
        delete_of_results,
    ],
    ids=lambda program: program.__name__,
)
def test_a_program_takes_steps_by_its_files_and_not_by_files_times_results(
    program: Callable[[Path, int], Work],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ledger: Path,
) -> None:
    monkeypatch.chdir(tmp_path)  # and back, after the test
    counted = []
    for number in (FEW, MANY):
        root = tmp_path / str(number)
        root.mkdir()
        counted.append(calls(program(root, number)))
    assert counted[1] < SLACK * MANY / FEW * counted[0]
