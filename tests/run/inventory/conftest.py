"""Runs of one user on one directory tier, as killed engines leave them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pegasus_bb.core.files import ENGINE_LOCK
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.redo import CREATE_DIR, TASK
from pegasus_bb.run.inventory.leftovers import Leftover, give_back, leftovers
from pegasus_bb.run.inventory.listing import list_reservations
from pegasus_bb.run.inventory.run_state import ReservationRecord
from pegasus_bb.runtime.job_reservation.results import list_kept
from tests.support.run_programs import Run

DAG = """\
JOB bb_setup_1 setup.sub
JOB create_dir_w_0_cori dir.sub
JOB work work.sub
JOB bb_delete_1 delete.sub
SCRIPT DEFER 75 10 PRE create_dir_w_0_cori {bb}/bin/gate
PARENT create_dir_w_0_cori CHILD work
PARENT work CHILD bb_delete_1
"""


class OneRun(Run):
    """One planned run named ``name``, with a DAG and a journal."""

    def __init__(self, root: Path, name: str, **settings: str) -> None:
        self.name, self.tier_of_all = name, root / "tier"
        super().__init__(root / name)
        self.request = self.request._replace(
            name=name, uuid=f"uuid-{name}", prefix=f"/bb/{name}"
        )
        self.change(path=str(self.tier_of_all), **settings)
        self.promise({"out.txt": str(self.results / "out.txt")})
        self.write("plan.json", {"version": 2, "dag": "w.dag", "label": f"l-{name}"})
        (self.submit / "w.dag").write_text(DAG.format(bb=self.bb.path))
        for file in ("setup", "delete"):
            (self.submit / f"{file}.sub").write_text("executable = x\nqueue\n")
        for file, number in (("dir", CREATE_DIR), ("work", TASK)):
            kind = f"+pegasus_job_class = {number}"
            text = f"executable = x\narguments = /bb/{name}/run\n{kind}\nqueue\n"
            (self.submit / f"{file}.sub").write_text(text)

    def folder(self) -> Path:
        return self.tier_of_all / self.name

    # -- what the engine notes

    def note(self, *lines: str) -> None:
        with (self.submit / "jobstate.log").open("a") as log:
            for line in lines:
                log.write(f"1700000000 {line}\n")

    def begins(self) -> None:
        """The engine was started, and has asked for the reservation."""
        self.note("INTERNAL *** DAGMAN_STARTED 1 ***")
        assert self.setup() == 0

    def waits(self) -> None:
        """Its gate holds the first job back."""
        self.note("create_dir_w_0_cori PRE_SCRIPT_STARTED - cori - 2")

    def works(self) -> None:
        """Its jobs have the reservation."""
        assert self.gate() == 0
        self.note("create_dir_w_0_cori PRE_SCRIPT_SUCCESS 0 cori - 2")
        self.note("create_dir_w_0_cori SUBMIT 1.0 cori - 2", "work SUBMIT 2.0 cori - 3")
        (self.folder() / "scratch").write_text("only here")

    def fails(self) -> None:
        """Its one task has failed, and so has the run."""
        self.note("create_dir_w_0_cori JOB_SUCCESS 0 cori - 2")
        self.note("work JOB_FAILURE 1 cori - 3")
        self.ends(1)

    def ends(self, status: int) -> None:
        self.note(f"INTERNAL *** DAGMAN_FINISHED {status} ***")

    def saves(self) -> None:
        """Stage-out has brought the one promised result to its place."""
        self.stage_out("out.txt", uuid=self.request.uuid)

    def loses_its_results(self, backend: str, number: int) -> str:
        """In mode transient its task has failed, for the results of Slurm's job of that
        ``number`` did not come back; where they should be."""
        (self.submit / "bb/request.json").unlink()
        scratch = str(self.root / "pfs")
        self.request = self.request._replace(backend=backend, prefix=scratch)
        self.write("transient.json", self.request.to_json())
        list_kept(self.bb, "work", str(number))
        self.note("INTERNAL *** DAGMAN_STARTED 1 ***", "work SUBMIT 2.0 cori - 3")
        self.note("work POST_SCRIPT_FAILURE 77 cori - 3")
        self.ends(1)
        self.name = f"job {number}"  # as it is listed
        return f"{scratch}/.pegasus_bb_landing/work"

    def begins_again(self) -> None:
        """Its task, too."""
        self.note("INTERNAL *** DAGMAN_STARTED 1 ***", "work SUBMIT 3.0 cori - 4")

    def has_its_results(self) -> None:
        self.note("work POST_SCRIPT_SUCCESS 0 cori - 4")
        self.ends(0)

    def at_work(self) -> AbstractContextManager[None]:
        """An engine works on it while the block runs."""
        return lock_submit_dir(self.submit / ENGINE_LOCK)

    def submitted_from(self, host: str, job: int = 32) -> None:
        """Its DAGMan is that ``job`` of the schedd on ``host``."""
        words = f"Job submitted from host: <127.0.0.1:1?alias={host}>"
        line = f"000 ({job:03}.000.000) 2026-11-21 14:04:29 {words}\n...\n"
        (self.submit / "w.dag.dagman.log").write_text(line)

    # -- what a person sees

    def held(self) -> ReservationRecord:
        return next(
            h for h in list_reservations(everything=True) if h.name == self.name
        )

    def verdict(self) -> Leftover:
        return next(one for one in leftovers() if one.record.name == self.name)


def drops_what_its_next_try_brought(run: OneRun, is_kept: Callable[[], bool]) -> None:
    """gc drops the space of a job once its node has run again, and not before."""
    run.begins_again()
    assert not run.verdict().goes  # how that ends is not known yet
    run.has_its_results()
    verdict = run.verdict()
    assert verdict.goes
    assert "was run again since, and its results are back" in verdict.why
    assert is_kept()  # a look changes nothing
    assert give_back(verdict).goes
    assert not is_kept()


class Runs:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.ledger = root / "ledger.jsonl"

    def run(self, name: str = "pbbone", **settings: str) -> OneRun:
        return OneRun(self.root, name, **settings)

    def dead(self, name: str = "pbbone", **settings: str) -> OneRun:
        """A run that was killed while its job was at work."""
        run = self.run(name, **settings)
        run.begins()
        run.works()
        return run

    def note(self, **line: object) -> None:
        with self.ledger.open("a") as out:
            out.write(json.dumps({"time": 1.7e9, "event": "requested", **line}) + "\n")


@pytest.fixture
def runs(tmp_path: Path, ledger: Path) -> Runs:
    (tmp_path / "tier").mkdir()
    return Runs(tmp_path)


@pytest.fixture
def run(runs: Runs) -> OneRun:
    """One that was killed while its job was at work."""
    return runs.dead()


@pytest.fixture
def saved(run: OneRun) -> OneRun:
    """The same, and its result is safe."""
    run.saves()
    return run
