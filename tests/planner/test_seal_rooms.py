"""A DAG whose jobs have rooms, and that would go on too early, or without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError, NotSealed
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.planner.seal.sealed_directory import check_directory

DAG = """\
JOB work_ID1 work_ID1.sub
SCRIPT DEFER 75 10 POST work_ID1 {bin}/await_stage_out work_ID1 $JOBID $RETURN {judge}
JOB other_ID2 other_ID2.sub
SCRIPT POST other_ID2 {bin}/exitcode -r $RETURN other_ID2.out
PARENT work_ID1 CHILD other_ID2
"""
JUDGE = "/usr/bin/pegasus-exitcode -r $RETURN work_ID1.out"
SUBMIT = """\
executable = {bin}/launch
arguments = "{bin}/record -w /lus/r true"
environment = "PEGASUS_DAG_JOB_ID=work_ID1 CONDOR_JOBID=$(cluster).$(process)"
+remote_cerequirements = EXTRA_ARGUMENTS=="-A me --bbf={bb}/nodes/ID1.bbf"
queue
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bb = tmp_path / "bb"
    (bb / "nodes").mkdir(parents=True)
    request = {"name": "pbb1", "backend": "datawarp", "capacity": 1, "prefix": "/lus/r"}
    request.update(uuid="u", tier="bb", site="cori")
    (bb / "transient.json").write_text(json.dumps(request))
    (bb / "nodes" / "work_ID1.json").write_text(
        json.dumps({"reservation": {"job": "ID1"}})
    )
    (bb / "nodes" / "ID1.bbf").write_text("#DW jobdw capacity=1\n")
    (tmp_path / "w.dag").write_text(DAG.format(bin=bb / "bin", judge=JUDGE))
    (tmp_path / "work_ID1.sub").write_text(SUBMIT.format(bin=bb / "bin", bb=bb))
    return tmp_path


def looked_at(folder: Path) -> None:
    check_directory(folder, read_dag(folder / "w.dag"))


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_dag_as_planned_is_sealed(folder: Path) -> None:
    looked_at(folder)


EARLY = "could start before the results"
SKIPPED = "without NOOP"
OTHER = ("/await_stage_out work_ID1 $JOBID", "/await_stage_out other $JOBID", EARLY)
DAG_CHANGES = [
    ("DEFER 75 10 POST", "POST", EARLY),
    ("DEFER 75 10 POST", "DEFER 1 10 POST", EARLY),
    OTHER,
    ("$JOBID $RETURN", "7.0 $RETURN", EARLY),
    ("$JOBID $RETURN", "$JOBID 0", EARLY),
    (JUDGE, "/bin/true -r $RETURN work_ID1.out", EARLY),
    (JUDGE, "/usr/bin/pegasus-exitcode -r 0 work_ID1.out", EARLY),
    ("work_ID1.sub", "work_ID1.sub NOOP", SKIPPED),
    ("work_ID1.sub", "work_ID1.sub DONE", SKIPPED),
    ("PARENT", "PRE_SKIP work_ID1 3\nPARENT", SKIPPED),
]
JOB_CHANGES = [
    ("/bb/bin/launch", "/bb/bin/record", "work on the PFS"),
    ("CONDOR_JOBID=$(cluster).$(process)", "", "which try"),
    ("PEGASUS_DAG_JOB_ID=work_ID1", "", "which try"),
    ("ID1.bbf", "ID2.bbf", "no reservation"),
    ("ID1.bbf", "ID1.bbf.old", "no reservation"),
    ("--bbf=", "--other=", "no reservation"),
    ("-w /lus/r ", "-w /lus/other ", "do not name the run's scratch"),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        *(("w.dag", *change) for change in DAG_CHANGES),
        *(("work_ID1.sub", *change) for change in JOB_CHANGES),
    ],
)
def test_a_dag_that_misses_results_or_a_reservation_is_refused(
    folder: Path, file: str, old: str, new: str, words: str
) -> None:
    change(folder / file, old, new)
    with pytest.raises(NotSealed, match=words):
        looked_at(folder)


def test_a_node_that_is_gone_is_missed(folder: Path) -> None:
    (folder / "w.dag").write_text("JOB other_ID2 other_ID2.sub\n")
    with pytest.raises(NotSealed, match="work_ID1 must run as jobs of this DAG"):
        looked_at(folder)


@pytest.mark.parametrize("name", ["bb/nodes/ID1.bbf", "work_ID1.sub"])
def test_a_file_that_is_gone_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CatalogError, match=Path(name).name):
        looked_at(folder)


class TestModeHybrid:
    """Beside the reservation of all jobs, for which the other rules hold."""

    @pytest.fixture
    def hybrid(self, folder: Path) -> Path:
        bb = folder / "bb"
        request = json.loads((bb / "transient.json").read_text())
        (bb / "request.json").write_text(json.dumps({**request, "prefix": "/bb/pbb1"}))
        plan = {"version": 2, "planner": "pegasus-bb built-in", "scratch": "/bb/pbb1/r"}
        (bb / "plan.json").write_text(json.dumps(plan))
        change(folder / "work_ID1.sub", "-w /lus/r ", "-w /bb/pbb1/r ")
        exitcode = f"{bb}/bin/exitcode"
        change(folder / "w.dag", "/usr/bin/pegasus-exitcode", exitcode)
        with (folder / "w.dag").open("a") as dag:
            dag.write(self.around(exitcode, bb))
        for name in ("bb_setup_B1", "create_dir_w_0_cori", "bb_delete_B2", "other_ID2"):
            text = 'executable = x\n+pegasus_site = "local"\nqueue\n'
            (folder / f"{name}.sub").write_text(text)
        return folder

    def around(self, exitcode: str, bb: Path) -> str:
        names = ("bb_setup_B1", "create_dir_w_0_cori", "bb_delete_B2")
        jobs = "".join(
            f"JOB {name} {name}.sub\n"
            f"SCRIPT POST {name} {exitcode} -r $RETURN {name}.out\n"
            for name in names
        )
        return (
            f"{jobs}SCRIPT DEFER 75 10 PRE create_dir_w_0_cori {bb}/bin/gate\n"
            "PARENT bb_setup_B1 CHILD create_dir_w_0_cori\n"
            "PARENT create_dir_w_0_cori CHILD work_ID1\n"
            "PARENT other_ID2 CHILD bb_delete_B2\n"
        )

    def test_a_dag_as_planned_is_sealed(self, hybrid: Path) -> None:
        looked_at(hybrid)

    def test_what_judges_the_node_in_the_end_must_read_its_record(
        self, hybrid: Path
    ) -> None:
        (hybrid / "bb/nodes/work_ID1.json").unlink()
        change(hybrid / "w.dag", "exitcode -r $RETURN work", "exitcode -r 0 work")
        with pytest.raises(NotSealed, match="a failure could count as success"):
            looked_at(hybrid)

    @pytest.mark.parametrize(
        ("file", "old", "new", "words"),
        [
            ("w.dag", *OTHER),
            ("work_ID1.sub", "--bbf=", "--bbf={}/bb/use.bbf --bbf=", "another one"),
            ("work_ID1.sub", "-w /bb/pbb1/r ", "-w /lus/r ", "do not name the run's"),
        ],
        ids=["waits for another node", "two options", "folder on the PFS"],
    )
    def test_the_rules_of_a_job_reservation_hold(
        self, hybrid: Path, file: str, old: str, new: str, words: str
    ) -> None:
        change(hybrid / file, old, new.format(hybrid))
        with pytest.raises(NotSealed, match=words):
            looked_at(hybrid)
