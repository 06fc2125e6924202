"""The rules on jobs with a reservation of their own: modes transient and hybrid.

Each such job finds its reservation, and no job reads its results before they are copied
back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import CatalogError, NotSealed
from pegasus_bb.model.dag.nodes import Dag, Node, submit_text
from pegasus_bb.model.dag.roles import id_in_names
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal.post_rules import (
    EXITCODES,
    awaits_node,
    checks_records,
    split_await_stage_out,
)
from pegasus_bb.planner.seal.view import DEFERRED, abbreviated
from pegasus_bb.runtime.bbdir import NODES, BBDir

_NUMBER = "CONDOR_JOBID=$(cluster).$(process)"


@dataclass(frozen=True)
class JobNode:
    name: str
    node: Node | None
    text: str  # of its submit file
    option: str  # for sbatch; empty if it needs none
    scratch: str  # of the run, as planned
    bin: Path


def check_job_reservations(dag: Dag, submit_dir: Path) -> None:
    """Raises NotSealed with every broken rule, CatalogError if a file is missing."""
    bb = BBDir(str(submit_dir / "bb"))
    request = bb.transient()
    if bb.has_request:
        request = request._replace(prefix=bb.scratch())
    planned = [
        _job_node(dag, submit_dir, bb, file.name[: -len(".json")], request)
        for file in sorted(Path(bb.file(NODES)).glob("*.json"))
        if bb.node(file.name[: -len(".json")]).reservation
    ]
    broken = [text for rule in _RULES for text in _violations(rule, planned)]
    if broken:
        raise NotSealed(
            "this DAG would put data at risk and is not submitted:\n"
            + "\n".join(f"  - {text}" for text in broken)
        )


def _job_node(
    dag: Dag, submit_dir: Path, bb: BBDir, name: str, request: Request
) -> JobNode:
    node = dag.nodes.get(name)
    option = ""
    if request.kind.is_slurm:
        job = str(bb.node(name).reservation["job"])
        file = bb.file(f"{NODES}/{id_in_names(job)}.bbf")
        option = f"--bbf={file}"
        if not Path(file).is_file():
            raise CatalogError("is not there", file, would_do="plan again")
    text = submit_text(submit_dir, node) if node else ""
    own = Path(bb.file("bin"))
    return JobNode(name, node, text, option, request.prefix, own)


_Rule = tuple[Callable[[JobNode], bool], str]


def _violations(rule: _Rule, planned: list[JobNode]) -> Iterator[str]:
    holds, message = rule
    names = [each.name for each in planned if not holds(each)]
    if names:
        yield message.format(abbreviated(names))


def _really_runs(each: JobNode) -> bool:
    node = each.node
    return node is not None and not (
        node.noop or node.done or node.pre_skip is not None or node.kind != "JOB"
    )


def _awaits_stage_out(each: JobNode) -> bool:
    post = each.node.post if each.node else None
    if post is None or post.defer_status != DEFERRED or not post.defer_time:
        return False
    arguments, script = split_await_stage_out(post)
    own = Path(post.executable).resolve() == (each.bin / "await_stage_out").resolve()
    if each.node is None or script is None or not script.executable.endswith(EXITCODES):
        return False
    checks = checks_records(script, is_essential=True)
    return own and awaits_node(each.node, arguments) and checks


def _is_launched(each: JobNode) -> bool:
    lines = (line.partition("=") for line in each.text.splitlines())
    programs = [v.strip() for k, _, v in lines if k.strip().lower() == "executable"]
    wanted = (each.bin / "launch").resolve()
    return [Path(p).resolve() for p in programs] == [wanted]


def _has_identity(each: JobNode) -> bool:
    return f"PEGASUS_DAG_JOB_ID={each.name}" in each.text and _NUMBER in each.text


def _requests_only_its_buffer(each: JobNode) -> bool:
    others = each.text.count("--bbf=") - 1 if each.option else 0
    return has_option(each.text, each.option) and not others


def has_option(text: str, option: str) -> bool:
    """Whether a submit file has ``option``, with or without quotes around it."""
    return re.search(rf"{re.escape(option)}(?![\w./-])", text) is not None


_RULES: tuple[_Rule, ...] = (
    (
        _really_runs,
        "{} must run as jobs of this DAG, without NOOP, DONE and PRE_SKIP: what goes "
        "on from their results would find none",
    ),
    (
        _awaits_stage_out,
        "the POST script of {} must be SCRIPT DEFER 75 <seconds> with "
        "bb/bin/await_stage_out "
        "NODE $JOBID $RETURN and the script that judges the node, such as "
        "pegasus-exitcode -r $RETURN: else later jobs could start before the results "
        "are back",
    ),
    (
        _is_launched,
        "the executable of {} must be bb/bin/launch, or the tasks work on the PFS, "
        "and their results are looked for on the tier",
    ),
    (
        lambda each: each.scratch in each.text,
        "the submit files of {} do not name the run's scratch, the sharedScratch of "
        "the site with --relative-dir: the reservation could not take its place",
    ),
    (
        _has_identity,
        "{} must have PEGASUS_DAG_JOB_ID and CONDOR_JOBID=$(cluster).$(process) in the "
        "environment: without them it is unknown which try made what",
    ),
    (
        _requests_only_its_buffer,
        "the submit files of {} do not give sbatch the --bbf of bb/nodes, or another "
        "one besides: the jobs would have no reservation. A property "
        "pegasus.glite.arguments may stand before profiles of jobs: say it in the site "
        "catalog",
    ),
)
