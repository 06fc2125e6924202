"""The abstract workflow: a typed view of the document, built in one pass."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Data, Document, Entry, Key, plain, suggestion
from pegasus_bb.model.transformations import TransformationCatalog, full_name

_WORD = re.compile(r"(?:[A-Za-z0-9._+@=-]|[^\x00-\x7f])+")
# Any other key is a mistake: pegasus-plan refuses it as well.
_KEYS_OF_A_JOB = {
    "type",
    "name",
    "namespace",
    "version",
    "id",
    "nodeLabel",
    "arguments",
    "file",
    "stdin",
    "stdout",
    "stderr",
    "uses",
    "profiles",
    "metadata",
    "hooks",
}
_KEYS_OF_A_USE = {
    "lfn",
    "type",
    "stageOut",
    "registerReplica",
    "size",
    "metadata",
    "bypass",
    "optional",
    "forPlanning",
}
# Beside these anything that begins with x- (Pegasus's schema wf-5.0.yml).
_KEYS_OF_A_WORKFLOW = (
    "pegasus",
    "name",
    "version",
    "jobs",
    "jobDependencies",
    "profiles",
    "metadata",
    "hooks",
    "siteCatalog",
    "replicaCatalog",
    "transformationCatalog",
)
_LISTED = 20  # ids in an error
_KINDS = ("input", "output", "checkpoint")
PEGASUS_WORKFLOW = "pegasusWorkflow"
OWN_RUN = "run"  # a pegasusWorkflow that the built-in planner plans as a run of its own
_LONGEST_LFN = 3000  # bytes: a path has 4,095, and the folders of a site come first
_PLAIN_LFN = re.compile(r"[A-Za-z0-9._+@=,:-]{1,255}")


@dataclass(slots=True)
class Use:
    lfn: str
    kind: str  # input | output | checkpoint
    stage_out: bool = False
    register: bool = False
    size: int | None = None  # declared bytes; None if not declared
    tier: str = ""  # the file's metadata bb.tier, empty if it has none
    optional: bool = False  # an input without a replica is left out
    handed_over: bool = False  # a sub-workflow that is a run of its own reads it

    @property
    def leaves(self) -> bool:
        """Whether it is staged out: as a result, or for a sub-workflow."""
        return self.stage_out or self.handed_over


@dataclass(slots=True)
class Job:
    """A job of the abstract workflow; ``data`` is its whole entry in the file."""

    id: str
    name: str
    kind: str  # job | pegasusWorkflow | condorWorkflow | OWN_RUN
    index: int  # its place in the document's list of jobs
    data: Data
    uses: list[Use]
    namespace: str = ""
    version: str = ""
    arguments: list[str] = field(default_factory=list)
    passed: list[Use] = field(default_factory=list)  # of an OWN_RUN, in place of uses

    @property
    def is_sub_workflow(self) -> bool:
        """Whether it is a workflow whose jobs use this run's scratch."""
        return self.kind not in ("job", OWN_RUN)

    @property
    def transformation(self) -> str:
        if not self.namespace and not self.version:  # the usual case
            return self.name
        return full_name(self.namespace, self.name, self.version)

    def runs_on(self, site: str) -> bool:
        """Whether it is a task that runs on ``site``, as without a selector."""
        if self.kind != "job" or "profiles" not in self.data:  # the usual case
            return self.kind == "job"
        return self.profile("selector", "execution.site") in (None, site)

    def is_only_local(self, programs: TransformationCatalog, site: str) -> bool:
        """Whether it has no files, and its program is on site local and not on
        ``site``: pegasus-plan maps it to local, if --sites names that."""
        return not self.uses and programs.is_only_local(self.transformation, site)

    @property
    def profiles(self) -> Data:
        """Its own, by namespace."""
        return self.data.get("profiles") or {}

    def profile(self, namespace: str, key: str) -> str | None:
        value = self.profiles.get(namespace, {}).get(key)
        return None if value is None else plain(value)

    def all_profiles(
        self, programs: TransformationCatalog, site: str
    ) -> Iterator[Mapping[str, Mapping[str, Any]]]:
        """Its profiles and those of its program on ``site``, the nearest first."""
        yield self.profiles
        yield from programs.profiles(self.transformation, site)

    def inputs(self) -> Iterator[Use]:
        return (use for use in self.uses if use.kind == "input")

    def outputs(self) -> Iterator[Use]:
        return (use for use in self.uses if use.kind == "output")

    def checkpoints(self) -> Iterator[Use]:
        return (use for use in self.uses if use.kind == "checkpoint")


@dataclass(frozen=True)
class Workflow:
    """An abstract workflow; ``children`` has the declared dependencies."""

    document: Document
    name: str
    jobs: dict[str, Job]  # by id, in the order of the file
    children: dict[str, list[str]]

    def first_use(
        self, lfns: Collection[str], of: Collection[str] = _KINDS
    ) -> tuple[Job, list[Key], str] | None:
        """The first job that uses one of ``lfns``, the keys of that use, and the
        LFN."""
        for job in self.jobs.values() if lfns else ():
            for place, use in enumerate(job.uses):
                if use.lfn in lfns and use.kind in of:
                    return job, ["jobs", job.index, "uses", place], use.lfn
        return None

    def __iter__(self) -> Iterator[Job]:
        return iter(self.jobs.values())

    def job_error(
        self, job: Job, what: str, found: object, would_do: str, *at: object
    ) -> CatalogError:
        """An error about ``job``, or what is ``at`` keys of it."""
        return self.document.error(what, ["jobs", job.index, *at], found, would_do)

    @property
    def made_by_own_runs(self) -> set[str]:
        """The LFNs that sub-workflows make which are runs of their own."""
        runs = (job for job in self.jobs.values() if job.kind == OWN_RUN)
        return {use.lfn for job in runs for use in job.passed if use.kind == "output"}


def read_workflow(document: Document, before: Workflow | None = None) -> Workflow:
    """The typed view of ``document``. Raises CatalogError with file, line and key.

    ``before`` is the workflow before rewriting: a job whose data is unchanged is not
    parsed again.
    """
    name = str(document.data.get("name", ""))
    if not _is_file_name(name):
        raise document.error(
            "a workflow needs a name without blanks, slashes or control characters, "
            "not . or .., of no more than 200 bytes: files are named after it",
            ["name"],
            repr(name),
            "name: my-workflow",
        )
    document.entry().check_keys(_KEYS_OF_A_WORKFLOW, "a workflow")
    items = document.data.get("jobs")
    if not isinstance(items, list) or not items:
        raise document.error(
            "a workflow without jobs", ["jobs"], repr(items), "jobs: [{id: ...}]"
        )
    jobs: dict[str, Job] = {}
    lfns: dict[str, str] = {}  # checked LFNs, each stored once
    known = [] if before is None else list(before.jobs.values())
    for index, data in enumerate(items):
        if index < len(known) and known[index].data is data:
            job = known[index]
        else:
            job = _read_job(Entry(document, ("jobs", index), data), index, lfns)
        if job.id in jobs:
            at = ["jobs", index, "id"]
            raise document.error("two jobs have one id", at, job.id, "unique ids")
        jobs[job.id] = job
    return Workflow(document, name, jobs, _read_dependencies(document, jobs))


def _is_file_name(name: str) -> bool:
    plain = "/" not in name and all(ord(c) >= 33 for c in name)
    short = 0 < len(name.encode(errors="surrogatepass")) <= 200
    return plain and short and name not in (".", "..")


def _read_job(entry: Entry, index: int, lfns: dict[str, str]) -> Job:
    data = entry.data
    if not isinstance(data, dict):
        raise entry.error("a job is a mapping", would_do="- {id: ..., name: ...}")
    if not data.keys() <= _KEYS_OF_A_JOB:
        entry.check_keys(sorted(_KEYS_OF_A_JOB), "a job")
    kind = str(data.get("type", "job"))
    name = str(data.get("name", data.get("file", "")))
    ident = str(data.get("id", ""))
    if not ident or not name:
        raise entry.error(
            "a job needs an id and a name", ident or name, "- {id: ..., name: ...}"
        )
    _check_word(entry, ident, "id")
    if kind == "job":
        _check_word(entry, name, "name")
    entry.profiles()
    return Job(
        id=ident,
        name=name,
        kind=kind,
        index=index,
        data=data,
        uses=[
            _read_use(entry, place, use, lfns)
            for place, use in enumerate(entry.items("uses"))
        ],
        namespace=str(data.get("namespace", "")),
        version=str(data.get("version", "")),
        arguments=_read_arguments(entry),
    )


def _check_word(entry: Entry, word: str, key: str) -> None:
    """Names and ids become parts of node names and file names."""
    if _WORD.fullmatch(word) is None or not word.isprintable():
        raise entry.below(key).error(
            "only letters, digits and ._-+@= can stand here: it becomes part of the "
            "name of a DAG node",
            repr(word),
            "these characters alone",
        )


def _read_arguments(entry: Entry) -> list[str]:
    values = entry.items("arguments")
    for index, value in enumerate(values):
        if isinstance(value, (dict, list)) or value is None:
            at = entry.below("arguments", index)
            raise at.error("an argument is a single value", value, "text, or a number")
    return [value if type(value) is str else plain(value) for value in values]


def _read_use(job: Entry, place: int, data: Any, lfns: dict[str, str]) -> Use:
    """``lfns`` has the LFNs of earlier uses: each is checked once, and all uses share
    one string, which makes lookups fast."""
    entry = Entry(job.document, (*job.at, "uses", place), data)
    if not isinstance(data, dict) or "lfn" not in data:
        raise entry.error(
            "a used file needs an lfn", would_do="- {lfn: ..., type: input}"
        )
    if not data.keys() <= _KEYS_OF_A_USE:
        entry.check_keys(sorted(_KEYS_OF_A_USE), "a used file")
    text = str(data["lfn"])
    lfn = lfns.get(text)
    if lfn is None:
        _check_lfn(entry, text)
        lfn = lfns[text] = text
    kind = data.get("type")
    if kind not in _KINDS:
        at = entry.below("type")
        raise at.error("unknown type of use", kind, f"one of {', '.join(_KINDS)}")
    made = kind == "output"
    metadata = entry.mapping("metadata")
    size = metadata.get("size", data.get("size"))
    if size is not None:
        size = Entry(job.document, entry.at, size).size("a file's size: ")
    return Use(
        lfn,
        kind,
        entry.flag("stageOut", default=made),
        entry.flag("registerReplica", default=made),
        size,
        str(metadata.get("bb.tier", "")),
        entry.flag("optional", default=False),
    )


def _check_lfn(entry: Entry, lfn: str) -> None:
    why = lfn_fault(lfn)
    if why:
        raise entry.below("lfn").error(
            f"the LFN {why}",
            repr(lfn),
            "a relative name inside the working directory, such as data/in.txt",
        )


def lfn_fault(lfn: str) -> str:
    """Why ``lfn`` cannot be a file below the working directory; empty if it can."""
    if _PLAIN_LFN.fullmatch(lfn) and lfn not in (".", ".."):
        return ""  # the usual case
    parts = lfn.split("/")
    if not lfn or lfn.startswith("/"):
        return "is absolute" if lfn else "is empty"
    if ".." in parts:
        return "leads out of the working directory"
    if any(ord(c) < 32 or ord(c) == 127 for c in lfn):
        return "has a control character"
    if "" in parts or "." in parts or lfn.startswith("~"):
        return "is not a plain relative path"
    sizes = [len(part.encode(errors="surrogatepass")) for part in parts]
    if max(sizes) > 255:
        return "has a part of more than 255 bytes"
    if sum(sizes) + len(sizes) > _LONGEST_LFN:
        return f"has {_LONGEST_LFN:,} bytes or more"
    return ""


def _read_dependencies(
    document: Document, jobs: dict[str, Job]
) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for index, data in enumerate(document.entry().items("jobDependencies")):
        entry = Entry(document, ("jobDependencies", index), data)
        if not isinstance(data, dict) or "id" not in data:
            raise entry.error(
                "a dependency needs an id and children",
                would_do="- {id: ID1, children: [ID2]}",
            )
        entry.check_keys(("id", "children"), "a dependency")
        ids = [str(data["id"]), *map(str, entry.items("children"))]
        for ident in ids:
            if ident not in jobs:
                mend = (
                    suggestion(ident, jobs)
                    if len(jobs) < _LISTED
                    else "the id of a job"
                )
                raise entry.error(
                    "a dependency names a job that there is not", ident, mend
                )
        children.setdefault(ids[0], []).extend(ids[1:])
    return children


def with_own_runs(workflow: Workflow) -> Workflow:
    """``workflow`` where each sub-workflow is a run of its own, as a job without files.

    What a sub-workflow reads of other jobs is staged out for it, what it makes is an
    input of others, and the order of the jobs becomes declared dependencies. Doing so
    twice changes nothing.
    """
    jobs = {ident: _as_own_run(job) for ident, job in workflow.jobs.items()}
    runs = [job for job in jobs.values() if job.kind == OWN_RUN]
    if not runs:
        return workflow
    read = {use.lfn for job in runs for use in job.passed if use.kind == "input"}
    maker = {
        use.lfn: job.id
        for job in jobs.values()
        for use in (*job.uses, *job.passed)
        if use.kind == "output"
    }
    children = {ident: list(below) for ident, below in workflow.children.items()}
    for job in jobs.values():
        if any(use.kind == "output" and use.lfn in read for use in job.uses):
            uses = [
                replace(use, handed_over=use.kind == "output" and use.lfn in read)
                for use in job.uses
            ]
            jobs[job.id] = replace(job, uses=uses)
        for use in (*job.uses, *job.passed):
            above = maker.get(use.lfn, job.id) if use.kind == "input" else job.id
            if above != job.id and OWN_RUN in (job.kind, jobs[above].kind):
                children.setdefault(above, []).append(job.id)
    return replace(workflow, jobs=jobs, children=children)


def _as_own_run(job: Job) -> Job:
    if job.kind != PEGASUS_WORKFLOW:
        return job
    return replace(job, kind=OWN_RUN, uses=[], passed=job.uses)
