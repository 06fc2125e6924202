"""Submit directories that pegasus-plan wrote run in phases where a tier is small."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from pegasus_bb.decide.decision import PlacementDecision
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.document import Document
from pegasus_bb.model.placement import PlacedFile, Placement, PlannedPhases
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Use, Workflow
from pegasus_bb.planner.pegasus.complete_submit_dir import added_lines
from pegasus_bb.planner.pegasus.read_submit_dir import PegasusWorkflow, read_planned
from pegasus_bb.planner.seal.live_bytes import live_bytes
from pegasus_bb.planner.seal.sealing import complete
from tests.planner.sealing import RECORDED
from tests.planner.test_pegasus_reading import CONTEXT

SIZES = {"in.txt": 100, "mid.txt": 10, "out.txt": 20}
HAND = ("SCRIPT DEFER", "PARENT cleanup_demo_0_cori")  # lines that were added by hand


def placement(limit: int, sizes: dict[str, int]) -> Placement:
    files = {
        lfn: PlacedFile(lfn, "input", "bb", "copy", size, "a test")
        for lfn, size in sizes.items()
    }
    phases = PlannedPhases(limit, ends=(1, 2), peak=limit)
    return Placement(Tier("cori", "bb", "datawarp"), files, 1, phases=phases)


def workflow(**writes: list[str]) -> Workflow:
    jobs = {
        ident: Job(ident, "cat1", "job", 0, {}, [Use(lfn, "output") for lfn in lfns])
        for ident, lfns in writes.items()
    }
    return Workflow(Document(Path(), {}), "demo", jobs, {})


CHAIN = workflow(ID0000002=["mid.txt"], ID0000003=["out.txt"])


def found(
    folder: Path, limit: int, known: Workflow = CHAIN, sizes: dict[str, int] = SIZES
) -> PegasusWorkflow:
    context = replace(
        CONTEXT,
        submit_dir=folder,
        decision=PlacementDecision(placement(limit, sizes)),
        cleanup="inplace",
    )
    return complete(read_planned(context), known, context)


def copied(folder: Path, name: str) -> Path:
    shutil.copytree(RECORDED / name, folder)
    text = (folder / "demo-0.dag").read_text().splitlines(keepends=True)
    own = (line for line in text if not line.startswith(HAND))
    (folder / "demo-0.dag").write_text("".join(own))
    said = 'dag: "demo-0.dag"\nplanner_version: "5.1.2"\n'
    (folder / "braindump.yml").write_text(said)
    return folder


def test_the_clean_ups_of_pegasus_are_the_barriers(tmp_path: Path) -> None:
    folder = copied(tmp_path / "r", "gated")
    planned = found(folder, 115)
    barrier = "PARENT clean_up_cori_level_3_0 CHILD cat1_ID0000003"
    missing = added_lines(read_dag(folder / "demo-0.dag"), planned.dag)
    assert barrier in missing
    assert planned.phases is not None
    assert planned.phases.barriers == ("clean_up_cori_level_3_0",)
    with (folder / "demo-0.dag").open("a") as out:
        out.writelines(f"{line}\n" for line in missing)
    assert live_bytes(read_dag(folder / "demo-0.dag"), planned.phases) == [110, 30]
