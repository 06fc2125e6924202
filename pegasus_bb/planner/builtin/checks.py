"""What a planning of the built-in planner refuses, in words for a person."""

from __future__ import annotations

import re

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.workflow import Job, Workflow, lfn_fault
from pegasus_bb.planner.context import PlanContext

_PLAIN_PATH = re.compile(r"/[^\s\"'\\$%\x00-\x20\x7f]*")
_LABEL = re.compile(r"[^\s\"'\\$%/\x00-\x20\x7f]+")
_SITE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# Linux's MAX_ARG_STRLEN, with the NUL at the end: no process can be started with more.
_LONGEST_WORD = 128 * 1024 - 1  # bytes
WORTH_A_LOOK = _LONGEST_WORD // 4  # characters; UTF-8 has no more than 4 bytes each
STREAMS = {"stdin", "stdout", "stderr"}
REAL_PLANNER = "plan this workflow with a real pegasus-plan"


def check_context(context: PlanContext, catalogs: Catalogs) -> None:
    """Raises UsageError where the run's own names cannot stand in a DAG."""
    if _PLAIN_PATH.fullmatch(str(context.submit_dir)) is None:
        raise UsageError(
            f"the submit directory {str(context.submit_dir)!r} has a blank, a quote or "
            "a control character in its path; DAGMan splits script lines at blanks: "
            "choose another --dir"
        )
    if _LABEL.fullmatch(context.label) is None:
        raise UsageError(
            f"the workflow's name {context.label!r} becomes part of file names and "
            "submit files: use no blanks, quotes, slashes, $ and %"
        )
    if _SITE_NAME.fullmatch(context.site) is None:
        raise UsageError(
            f"the site name {context.site!r} becomes part of node names: use letters, "
            "digits, _ . and -"
        )
    configuration = catalogs.properties.get("pegasus.data.configuration", "sharedfs")
    if configuration != "sharedfs":
        raise catalogs.properties.error(
            "pegasus.data.configuration",
            "the built-in planner has one data configuration, sharedfs",
            f"-Dpegasus.data.configuration=sharedfs, or {REAL_PLANNER}",
        )


def check_job(workflow: Workflow, graph: Graph, job: Job) -> None:
    """Raises CatalogError where the built-in planner would plan ``job`` wrongly."""
    if job.kind != "job":
        raise refused(workflow, job, f"a {job.kind} is a workflow inside", job.kind)
    for use in job.uses:
        lfn = use.lfn
        if not lfn.isascii():
            plain_text(lfn, f"an LFN of job {job.id}")
        if use.kind == "input" and graph.producer.get(lfn) == job.id:
            raise refused(workflow, job, "one file is its input and output", lfn)
    if not STREAMS.isdisjoint(job.data):
        for stream in sorted(STREAMS & job.data.keys()):
            _check_stream(workflow, job, stream)
        if "stdin" in job.data and job.data["stdin"] not in {
            use.lfn for use in job.inputs()
        }:
            raise workflow.document.error(
                f"the stdin of job {job.id} is no input of the job: no transfer "
                "would bring it",
                ["jobs", job.index, "stdin"],
                repr(job.data["stdin"]),
                "add it to the job's uses, with type: input",
            )


def _check_stream(workflow: Workflow, job: Job, stream: str) -> None:
    lfn = job.data[stream]
    why = lfn_fault(lfn) if isinstance(lfn, str) else "is not a name"
    if why:
        raise workflow.document.error(
            f"the {stream} of job {job.id} {why}",
            ["jobs", job.index, stream],
            repr(lfn),
            "the LFN of a file in the working directory",
        )


def check_results_survive(
    workflow: Workflow, graph: Graph, context: PlanContext
) -> None:
    """A buffer is given back: a result that stays on it is lost."""
    placement = context.placement
    if context.output_site or context.request is None or placement is None:
        return
    for job in workflow.jobs.values():
        for use in job.outputs():
            placed = placement.files.get(use.lfn)
            if use.stage_out and (placed is None or placement.on_tier(use.lfn)):
                raise UsageError(
                    f"the result {use.lfn!r} of job {job.id} would vanish with the "
                    "burst buffer: say --output-sites local or --output-dir FOLDER"
                )


def refused(workflow: Workflow, job: Job, why: str, found: str) -> CatalogError:
    """An error about ``job`` that a real planner would not have."""
    return workflow.document.error(
        f"the built-in planner cannot plan job {job.id} ({job.transformation}): {why}",
        ["jobs", job.index],
        repr(found),
        REAL_PLANNER,
    )


def plain_text(text: str, what: str) -> str:
    """``text`` where it fits on one line of UTF-8. Raises CatalogError."""
    if any(c in text for c in "\n\r\0") or not _encodable(text):
        raise CatalogError(
            f"{what} has a line break or a character that is no text",
            found=repr(text),
            would_do="one line of UTF-8 text",
        )
    return text


def short_enough(text: str, what: str) -> None:
    """Raises CatalogError where no process could be started with ``text``."""
    if len(text) > WORTH_A_LOOK and len(text.encode()) > _LONGEST_WORD:
        raise CatalogError(
            f"{what} has more than {_LONGEST_WORD} bytes, the most that Linux starts a "
            "program with",
            found=repr(text[:40] + "..."),
            would_do="a file with it as an input of the job",
        )


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)
