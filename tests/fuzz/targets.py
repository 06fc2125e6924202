"""Every reader of text that others wrote, with real samples of that text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from pegasus_bb_lab.flash.flash_study import to_geometry
from pegasus_bb_lab.model.applications import read_draining
from pegasus_bb_lab.model.flash_device import read_flash
from pegasus_bb_lab.model.machine import read_machine
from pegasus_bb_lab.model.mix import read_mix
from pegasus_bb_lab.provision.provision import provision

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import read_journal
from pegasus_bb.decide.tier_rules import read_placement_file
from pegasus_bb.model.catalogs import read_replicas, read_sites
from pegasus_bb.model.dag.htcondor_api import read_submit
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.document import load
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.tiers import read_tiers
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.planner.seal.live_bytes import check_phases
from pegasus_bb.planner.seal.phases import read_phases
from pegasus_bb.report.kickstart import read_tasks
from pegasus_bb.report.run_folder import read_run
from pegasus_bb.run.engine.dagman.find import LifeLog
from pegasus_bb.run.engine.jobstate_log import Tail, read_history
from pegasus_bb.run.engine.rescue import read_rescue
from pegasus_bb.runtime import manifest, reservation_identity
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.backends.scontrol import parse_burst, parse_jobs
from pegasus_bb.runtime.backends.squeue import parse_queue
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import exitcode
from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.runtime.stager_client.protocol import check_version, decode
from pegasus_bb.runtime.stager_client.task import check_specs
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.transfers.transfer_jobs import read_jobs
from pegasus_bb.stager.site_config import site_config

TESTS = Path(__file__).parents[1]
RECORDED = TESTS / "recorded"
CAO = TESTS.parent / "examples" / "papers" / "cao"
TANG = TESTS.parent / "examples" / "papers" / "tang"
BIOS = TANG.parent / "bios"
GENOME = RECORDED / "1000genome-nersc"
CONDOR = RECORDED / "htcondor-23.9"
OURS = (PegasusBBError,)
REQUEST = Request("pbbone", "directory", 1 << 20, "/bb/pbbone", "u-1", "bb", "cori")
USER = {"HOME": "/home/me", "NERSC_USER": "me"}
VARIABLES = {**USER, "NERSC_PROJECT": "m1", "NERSC_PEGASUS_HOME": "/opt/pegasus"}
TIER = """x-storage-tiers:
  cori:
    - {name: bb, backend: datawarp, access: striped, pool: p, capacity: 700GiB}
    - {name: fast, backend: directory, path: /fast, quota: 1TiB, inputs: link}
"""
LINES = "".join(
    json.dumps({"event": event, "lfn": "a", "dest": "/a", "size": 1, "stat": [1, 2, 3],
                "uuid": "u-1", "name": "pbbone", "time": 1.5, "digest": "sha256:0",
                "source": [1, 2], "copy": [3, 4], "request": {}})
    + "\n" for event in ("requested", "released")
)  # fmt: skip


BOMB = b"""<?xml version="1.0"?><!DOCTYPE i [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>
<invocation><mainjob>&b;&b;</mainjob></invocation>
- invocation: &a {mainjob: *a}
"""


DAG = b"""JOB A a.sub DIR d NOOP DONE
SUBDAG EXTERNAL S s.dag
FINAL F f.sub
SCRIPT DEFER 75 10 PRE A gate --wait
SCRIPT POST A check $RETURN "a b"
RETRY A 2 UNLESS-EXIT 3
PRIORITY A -4
CATEGORY A heavy
MAXJOBS heavy 2
VARS A x="1 \\"quoted\\"" +y="2"
PRE_SKIP A 1
ABORT-DAG-ON A 3 RETURN 0
PARENT A CHILD S
DOT dag.dot UPDATE
"""


class Target(NamedTuple):
    """A reader, what it reads, and the errors that it may raise."""

    name: str
    seeds: list[bytes]
    read: Callable[[Path], object]  # of a file, alone in a folder that may be used
    raises: tuple[type[Exception], ...] = ()
    file: str = "input"  # what the file has to be called


def _texts(*patterns: str, of: Path = RECORDED) -> list[bytes]:
    found = [path for pattern in patterns for path in sorted(of.glob(pattern))]
    assert found, patterns
    return [path.read_bytes() for path in found]


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")  # as process.ask does


def _raw(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _tiers(path: Path) -> None:
    document = load(path, VARIABLES)
    read_tiers(document, read_sites(document).sites)


def _tier_folder(path: Path) -> None:
    """The grants of a tier, or the identity of a reservation: others may write them."""
    folder = path.parent / "tier"
    own = folder / REQUEST.name
    own.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    for place in (folder / ".pegasus_bb.json", own / ".pegasus_bb"):
        place.write_bytes(data)
        FolderBackend({"path": str(folder), "quota": "1GiB"}).list_reservations(
            [REQUEST]
        )
        place.unlink()


def _bb_folder(path: Path) -> None:
    """Each of the small files of a run may be damaged, the others not."""
    bb = BBDir(str(path.parent))
    data = path.read_bytes()
    whole = json.dumps(REQUEST.to_json()).encode()
    for name in ("request", "reservation", "placement", "ready"):
        (path.parent / "request.json").write_bytes(whole)
        (path.parent / f"{name}.json").write_bytes(data)
        for ask in (bb.request, bb.reservation, bb.placement):
            try:
                ask()
            except PegasusBBError as error:
                assert f"{path.parent}/" in str(error)
        reservation_identity.last_storage_id(bb)
        (path.parent / f"{name}.json").unlink()


def _phases(path: Path) -> None:
    dag = Dag({name: Node(name, f"{name}.sub") for name in "abc"})
    check_phases(dag, read_phases(str(path)))


def _submit_directory(path: Path) -> None:
    """What a report reads beside the records, each damaged in turn."""
    (path.parent / "bb").mkdir(exist_ok=True)
    (path.parent / "a.out.000").write_bytes(b"")
    for name in ("braindump.yml", "bb/plan.json", "bb/request.json", "jobstate.log"):
        (path.parent / name).write_bytes(path.read_bytes())
        read_run(path.parent)
        (path.parent / name).unlink()


def _journals(path: Path) -> None:
    list(read_journal(str(path)))
    manifest.read(str(path), "u-1")
    with mock.patch.dict(os.environ, {"PEGASUS_BB_LEDGER": str(path)}):
        ledger.reservations()
        ledger.find("pbbone")
    journal = StageJournal(str(path), "from", "to")
    journal.has("a", path.stat(), path.stat(), digest=True)
    journal.close()


def _stager_request(path: Path) -> None:
    """All that a service does before it accepts tasks."""
    spaces = {"file": Dataspace("file", "/"), "bb": Dataspace("bb", "/bb")}
    for line in path.read_bytes().splitlines():
        message = decode(line)
        check_version(message)
        check_specs(message.get("tasks") or [{}], spaces)


def _stager_site(path: Path) -> None:
    site_config(str(path))


def _rescue(path: Path) -> None:
    read_rescue(path, Dag())


def _events(path: Path) -> None:
    read_history(path)
    Tail(path).new()


def _exit_code(path: Path) -> None:
    exitcode.judge(str(path))


def _kickstart(path: Path) -> None:
    list(read_tasks(path, "node"))


def _parsed(parse: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: parse(_text(path))


def _loaded(read: Callable[[Any], object]) -> Callable[[Path], object]:
    return lambda path: read(load(path, {}))


def _yaml(name: str, read: Callable[[Any], object], seeds: list[bytes]) -> Target:
    return Target(name, seeds, _loaded(read), OURS, f"{name.split()[0]}s.yml")


def _all() -> Iterator[Target]:
    bursts = _texts("slurm-24.11/show-b*.txt")
    jobs = _texts("slurm-24.11/show-job*.txt")
    yield Target("scontrol show burst", bursts, _parsed(parse_burst))
    yield Target("scontrol show job", jobs, _parsed(parse_jobs))
    queues = _texts("slurm-2*/squeue-format.txt")
    yield Target("squeue", queues, _parsed(parse_queue), (ValueError,))
    sites = _texts("sites.yml", of=GENOME)
    sites.append(sites[0] + TIER.encode())
    yield Target("site catalog", sites, _tiers, OURS, "sites.yml")
    catalogs = [
        _texts(f"{name}s.yml", of=GENOME) for name in ("replica", "transformation")
    ]
    yield _yaml("replica catalog", read_replicas, catalogs[0])
    yield _yaml("transformation catalog", read_transformations, catalogs[1])
    dumps = [path.read_bytes() for path in (TANG / "table3.yml", TANG / "fig8.yml")]
    yield Target("draining", dumps, _draining, OURS, "draining.yml")
    loads = [path.read_bytes() for path in (BIOS / "bios.yml", BIOS / "workflows.yml")]
    yield Target("flash", loads, _flash, OURS, "flash.yml")
    machine, mix = ([(CAO / name).read_bytes()] for name in ("machine.yml", "mix.yml"))
    yield Target("machine", machine, _machine, OURS, "machine.yml")
    yield Target("mix", mix, _mix, OURS, "mix.yml")
    golden = "planner/golden/off"
    workflows = _texts("*/catalogs/workflow.yml", f"{golden}/workflow.yml", of=TESTS)
    yield _yaml("workflow", read_workflow, workflows)
    properties = _texts("recorded/*/*.properties", f"{golden}/*.properties", of=TESTS)
    yield Target("pegasus.properties", properties, _properties, OURS)
    patterns = [b"- {lfn: 'a*.txt', tier: pfs}\n- {lfn: b, tier: bb}\n"]
    patterns.append(b"'*.gz': pfs\nx: bb\n")
    yield Target("placement file", patterns, _patterns, OURS)
    dags = _texts("pegasus-5.1.2/*/*.dag", "*/w.dag")
    yield Target("dag", [*dags, DAG], read_dag, OURS)
    submits = _texts("pegasus-5.1.2/plain/00/00/*.sub")
    yield Target("submit file", submits, _submit, OURS, "a.sub")
    lists = _texts("pegasus-5.1.2/*/00/00/[cs]*.in")
    yield Target("job list", lists, lambda path: read_jobs(_raw(path)), OURS)
    records = _texts("kickstart/*.yml", "kickstart/gated/00/00/*.out*")
    older = _texts("report/kickstart-4.xml", of=TESTS)
    yield Target("kickstart record", [*records, *older, BOMB], _kickstart)
    yield Target("exit code of a record", records, _exit_code)
    yield Target("manifest and ledger", [LINES.encode()], _journals)
    yield Target("dagman.log", _texts("*.dagman.log", of=CONDOR), _life, OURS)
    yield Target("jobstate.log", _texts("*.jobstate.log", of=CONDOR), _events)
    yield Target("rescue file", _texts("*rescue*", of=CONDOR), _rescue, OURS)
    yield Target("grants and identity of a tier", [_grants()], _tier_folder)
    phases = b'{"limit": 11, "barriers": ["b"], "sizes": {"x": 5, "y": 6}, '
    phases += b'"brings": {"a": ["x"], "c": ["y"]}, "removes": {"b": ["x"]}}'
    yield Target("phases", [phases], _phases, OURS)
    small = [json.dumps(REQUEST.to_json(), indent=1).encode(), _placement()]
    yield Target("small files of a run", small, _bb_folder)
    yield Target("request of the stager", _requests(), _stager_request, OURS)
    yield Target("site of the stager", [_stager_config()], _stager_site, OURS)
    about = _texts("kickstart/gated/braindump.yml", "htcondor-23.9/*.jobstate.log")
    yield Target("submit directory", about, _submit_directory)


def _requests() -> list[bytes]:
    copy = {"kind": "copy", "source": "file:///a", "dest": "bb://b", "size": 9}
    more = {**copy, "deadline": 1.5, "priority": -3, "rate": 1e6, "digest": True}
    tasks = [copy, more, {"kind": "remove", "source": "bb://x"}]
    lines = [{"v": 1, "id": 7, "do": "submit", "tasks": tasks}]
    return [b"".join(json.dumps(line).encode() + b"\n" for line in lines)]


def _stager_config() -> bytes:
    pool = {"path": "/bb", "capacity": "10TiB", "granularity": "1GiB", "rate": "1GB/s"}
    space = {"path": "/lus", "target": "disk", "rate": "2GB/s"}
    about = {"dataspaces": {"lustre": space}, "workers": 4, "state": "/var/x"}
    slurm = {"user": "root", "pools": {"flash": pool}, "spool": "/var/spool/x"}
    return json.dumps({**about, "slurm": slurm}, indent=1).encode()


def _properties(path: Path) -> None:
    read_properties(path, [], path.parent, path.parent)


def _machine(path: Path) -> None:
    read_machine(path, {})


def _mix(path: Path) -> None:
    read_mix(str(path), read_machine(CAO / "machine.yml", {}), {})


def _draining(path: Path) -> None:
    provision(read_draining(path))


def _flash(path: Path) -> None:
    to_geometry(read_flash(path))


def _patterns(path: Path) -> None:
    read_placement_file(path, {})


def _submit(path: Path) -> None:
    read_submit(path, {})


def _life(path: Path) -> None:
    LifeLog(path).read()


def _grants() -> bytes:
    entry = {"uuid": "u-1", "owner": "me", "size": 9, "created": 1.0, "delay": 0.0}
    whole = {"pbbone": {**entry, "granted": 1.0}}
    grants = {"version": 1, "reservations": whole, "name": "pbbone", **entry}
    return json.dumps(grants, indent=1).encode()


def _placement() -> bytes:
    files = {"in": {"tier": "bb", "how": "copy", "size": 11}}
    whole = {"version": 1, "prefix": "/bb/pbbone", "files": files}
    return json.dumps({**whole, "outputs": {"o": "/o"}}, indent=1).encode()


TARGETS = list(_all())
