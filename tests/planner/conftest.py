"""A small site, small workflows, and what a planning of them gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.decide.decision import Ending, PlacementDecision, PlanningInput
from pegasus_bb.model.catalogs import Catalogs, read_replicas, read_sites
from pegasus_bb.model.document import Document, as_json
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.placement import JobReservation, PlacedFile, Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.settings import Properties, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import Workflow, read_workflow
from pegasus_bb.planner.builtin.build import build
from pegasus_bb.planner.builtin.executable import BuiltInExecutable, RewrittenWorkflow
from pegasus_bb.planner.builtin.write import check_files, write
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.passes import rewrite
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.runfiles import node_files, run_files
from pegasus_bb.planner.seal.sealing import complete

Data = dict[str, Any]
NAME = "pbbc7ae4acaae0f"
UUID = "c7ae4aca-ae0f-4673-a449-f7d80c871bf2"
SUBMIT_DIR = Path("/home/wfuser/submit/wfuser/pegasus/demo/run0001")
PFS_SCRATCH = "/lus/scratch/wfuser/pegasus/demo/run0001"


def new_job(
    ident: str, name: str, reads: list[str], writes: list[str], **more: Any
) -> Data:
    """A job of an abstract workflow; a name with a leading ! is a result."""
    uses: list[Data] = [{"lfn": lfn, "type": "input"} for lfn in reads]
    for lfn in writes:
        result = lfn.startswith("!")
        use = {"lfn": lfn.lstrip("!"), "type": "output", "stageOut": result}
        uses.append({**use, "registerReplica": False})
    entry = {"type": "job", "name": name, "id": ident, "arguments": []}
    return {**entry, "uses": uses, **more}


def three_jobs() -> list[Data]:
    return [
        new_job("ID1", "split", ["in.txt"], ["a.txt", "b.txt"], arguments=["in.txt"]),
        new_job("ID2", "count", ["a.txt", "words.txt"], ["sub/n.txt"]),
        new_job("ID3", "merge", ["sub/n.txt", "b.txt"], ["!out.txt"], stdout="out.txt"),
    ]


def site_catalog() -> Data:
    def folder(kind: str, path: str) -> Data:
        server = {"url": f"file://{path}", "operation": "all"}
        return {"type": kind, "path": path, "fileServers": [server]}

    local = [folder("localStorage", "/home/wfuser/out")]
    cori = [folder("sharedScratch", "/lus/scratch")]
    profiles = {"pegasus": {"style": "condor"}, "env": {"LANG": "C"}}
    return {
        "pegasus": "5.0",
        "sites": [
            {"name": "local", "directories": local},
            {"name": "cori", "directories": cori, "profiles": profiles},
        ],
    }


def transformation_catalog() -> Data:
    def program(name: str, site: str, pfn: str, kind: str) -> Data:
        return {"name": name, "sites": [{"name": site, "pfn": pfn, "type": kind}]}

    return {
        "pegasus": "5.0",
        "transformations": [
            program("split", "cori", "/opt/bin/split", "installed"),
            program("count", "local", "/home/wfuser/count.py", "stageable"),
            program("merge", "cori", "/opt/bin/merge", "installed"),
        ],
    }


def replica_catalog(*lfns: str) -> Data:
    return {
        "pegasus": "5.0",
        "replicas": [
            {"lfn": lfn, "pfns": [{"site": "cori", "pfn": f"/lus/inputs/{lfn}"}]}
            for lfn in lfns or ("in.txt", "words.txt")
        ],
    }


@dataclass
class WorkflowRunner:
    """What a user has before planning; tests change what they are about."""

    jobs: list[Data]
    sites: Data
    transformations: Data
    replicas: Data
    properties: dict[str, str]
    context: RunPlan
    placed: dict[str, PlacedFile]

    def change(self, **changes: Any) -> None:
        """Change what the planning knows, such as cleanup or submit_dir."""
        if "placement" in changes:
            changes["decision"] = PlacementDecision(changes.pop("placement"))
        self.context = replace(self.context, **changes)

    def persistent(self, **settings: str) -> None:
        """Plan on a burst buffer, every file copied to it or written on it."""
        backend = settings.pop("backend", "directory")
        tier = Tier("cori", "bb", backend)
        files = dict(self.placed)
        for entry in self.jobs:
            for use in entry["uses"]:
                lfn = use["lfn"]
                how = "write" if use["type"] == "output" else "copy"
                placed = PlacedFile(lfn, "intermediate", "bb", how, 11, "a test")
                if how == "write" or lfn not in files:
                    files[lfn] = self.placed.get(lfn, placed)
        request = Request(NAME, backend, 1 << 22, f"/bb/{NAME}", UUID, "bb", "cori")
        placement = Placement(tier, files, 1 << 22)
        self.change(request=request, placement=placement)

    def behind_slurm(self) -> None:
        """Site cori's jobs are jobs of the batch system."""
        cori = self.sites["sites"][1]
        cori["profiles"]["pegasus"]["style"] = "glite"
        cori["profiles"]["condor"] = {"grid_resource": "batch slurm"}

    def hybrid(self, **settings: str) -> None:
        """As ``persistent``, and ID3 makes out.txt on a reservation of its own."""
        self.persistent(**settings)
        request = self.context.request
        placement = self.context.placement
        assert request is not None
        assert placement is not None
        out = replace(placement.files["out.txt"], tier="pfs")
        room = JobReservation((), ("out.txt",), ("sub/n.txt", "b.txt"), (), 11, 1 << 22)
        files = {**placement.files, "out.txt": out}
        parted = replace(placement, files=files, job_reservations={"ID3": room})
        own = request._replace(prefix=PFS_SCRATCH)
        self.change(placement=parted, transient=own)

    def read(self) -> tuple[Workflow, Catalogs]:
        """Workflow and catalogs as planning has them, rewritten in mode persistent."""

        def document(name: str, data: Data) -> Document:
            return Document(Path("/home/wfuser") / name, data, as_json(data).decode())

        given = Inputs(
            document(
                "workflow.yml", {"pegasus": "5.0", "name": "demo", "jobs": self.jobs}
            ),
            document("sites.yml", self.sites),
            document("replicas.yml", self.replicas),
            document("transformations.yml", self.transformations),
            Properties({}).with_values(self.properties, "pegasus.properties"),
        )
        request = self.context.request
        placement = self.context.placement
        if request is not None and placement is not None:
            knows = Target("cori", placement, request, self.context.submit_dir)
            given = rewrite(given, knows)
        catalogs = Catalogs(
            given.properties,
            read_sites(given.sites),
            read_replicas(given.replicas),
            read_transformations(given.transformations),
            {},
        )
        return read_workflow(given.workflow), catalogs

    def planning(self) -> tuple[PlanningInput, RewrittenWorkflow]:
        """What was read, with the site as the user has it, and the rewritten inputs."""
        workflow, catalogs = self.read()
        graph = build_graph(workflow)
        folder = Document(Path("/home/wfuser/sites.yml"), self.sites)
        given = PlanningInput(
            workflow=workflow,
            graph=graph,
            catalogs=catalogs,
            settings=Settings(),
            site=read_sites(folder).site("cori"),
            ending=Ending("inplace", False),
        )
        return given, RewrittenWorkflow(workflow, graph, catalogs)

    def plan(self) -> BuiltInExecutable:
        """Build and complete, and check what would be written."""
        given, rewritten = self.planning()
        built = build(rewritten, self.context)
        check_files(built, self.context)
        return complete(built, given.workflow, self.context)

    def write(self) -> Path:
        """Build, complete and write."""
        given, rewritten = self.planning()
        planned = complete(build(rewritten, self.context), given.workflow, self.context)
        files = run_files(planned, given, self.context)
        nodes = partial(node_files, planned, given, self.context)
        return write(planned, self.context, files, nodes)


@pytest.fixture
def runner() -> WorkflowRunner:
    """Three jobs on site cori, mode off; nothing is wrong with it."""
    context = RunPlan(
        label="demo",
        user="wfuser",
        timestamp="2026-11-20T18:46:37+00:00",
        uuid=UUID,
        submit_dir=SUBMIT_DIR,
        base_dir=Path("/home/wfuser/submit"),
        relative_dir="wfuser/pegasus/demo/run0001",
        site="cori",
        output_sites=("local",),
        output_dir=None,
        cleanup="inplace",
        arguments=("--sites", "cori", "workflow.yml"),
    )
    return WorkflowRunner(
        three_jobs(),
        site_catalog(),
        transformation_catalog(),
        replica_catalog(),
        {},
        context,
        {},
    )
