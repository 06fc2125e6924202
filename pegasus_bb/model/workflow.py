"""The abstract workflow: a typed view over the document, made in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.model.document import Data, Document, Key
from pegasus_bb.model.parse import plain
from pegasus_bb.model.shape import (
    list_under,
    mapping_under,
    profiles_under,
    unknown_key,
)
from pegasus_bb.units import parse_size

_WORD = re.compile(r"[A-Za-z0-9._+@=-]+")
# Any other key is a mistake: pegasus-plan refuses it as well.
_KEYS_OF_A_JOB = {
    *("type", "name", "namespace", "version", "id", "nodeLabel", "arguments", "file"),
    *("stdin", "stdout", "stderr", "uses", "profiles", "metadata", "hooks"),
}
_KEYS_OF_A_USE = {
    *("lfn", "type", "stageOut", "registerReplica", "size", "metadata"),
    *("bypass", "optional", "forPlanning"),
}
_PLAIN_LFN = re.compile(r"[A-Za-z0-9._+@=,:-]{1,255}")


@dataclass(slots=True)
class Use:
    """A file that a job uses."""

    lfn: str
    kind: str  # input | output | checkpoint
    stage_out: bool = False
    register: bool = False
    size: int | None = None  # declared bytes; None where nobody said
    tier: str = ""  # the file's metadata bb.tier, empty where there is none


@dataclass(slots=True)
class Job:
    """A job of the abstract workflow; ``data`` is all that the file says of it."""

    id: str
    name: str
    kind: str  # job | pegasusWorkflow | condorWorkflow
    index: int  # its place in the document's list of jobs
    data: Data
    uses: list[Use]
    namespace: str = ""
    version: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def transformation(self) -> str:
        """The full name, ``namespace::name:version``, as Pegasus writes it."""
        if not self.namespace and not self.version:  # as of nearly every job
            return self.name
        space = f"{self.namespace}::" if self.namespace else ""
        return f"{space}{self.name}" + (f":{self.version}" if self.version else "")

    def profile(self, namespace: str, key: str) -> str | None:
        """The job's own profile, as text, or None."""
        value = (self.data.get("profiles") or {}).get(namespace, {}).get(key)
        return None if value is None else plain(value)

    def inputs(self) -> Iterator[Use]:
        """Files that must be there before the job runs."""
        return (use for use in self.uses if use.kind == "input")

    def outputs(self) -> Iterator[Use]:
        """Files that the job makes."""
        return (use for use in self.uses if use.kind == "output")


@dataclass(frozen=True)
class Workflow:
    """An abstract workflow; ``children`` are the dependencies that it declares."""

    document: Document
    name: str
    jobs: dict[str, Job]  # by id, in the order of the file
    children: dict[str, list[str]]


def read_workflow(document: Document, before: Workflow | None = None) -> Workflow:
    """The typed view of ``document``. Raises CatalogError with file, line and key.

    ``before`` is the workflow that ``document`` was rewritten from: jobs that are still
    the same data in the same place are not read again.
    """
    data = document.data
    name = str(data.get("name", ""))
    if not _is_file_name(name):
        raise document.error(
            "a workflow needs a name without blanks, slashes or control characters, "
            "not . or .., of no more than 200 bytes: files are named after it",
            ["name"],
            repr(name),
            "name: my-workflow",
        )
    entries = data.get("jobs")
    if not isinstance(entries, list) or not entries:
        raise document.error("a workflow without jobs", ["jobs"], repr(entries))
    jobs: dict[str, Job] = {}
    lfns: dict[str, str] = {}  # each that was found good, kept once
    known = [] if before is None else list(before.jobs.values())
    for index, entry in enumerate(entries):
        if index < len(known) and known[index].data is entry:
            job = known[index]
        else:
            job = _read_job(document, entry, index, lfns)
        if job.id in jobs:
            raise document.error(
                "two jobs have one id", ["jobs", index, "id"], job.id, "unique ids"
            )
        jobs[job.id] = job
    return Workflow(document, name, jobs, _read_dependencies(document, jobs))


def _is_file_name(name: str) -> bool:
    plain = "/" not in name and all(ord(c) >= 33 for c in name)
    short = 0 < len(name.encode(errors="surrogatepass")) <= 200
    return plain and short and name not in (".", "..")


def _read_job(document: Document, entry: Any, index: int, lfns: dict[str, str]) -> Job:
    at: list[Key] = ["jobs", index]
    if not isinstance(entry, dict):
        raise document.error("a job is a mapping", at, entry)
    if not entry.keys() <= _KEYS_OF_A_JOB:
        raise unknown_key(document, entry, sorted(_KEYS_OF_A_JOB), "a job", at)
    kind = str(entry.get("type", "job"))
    name = str(entry.get("name", entry.get("file", "")))
    ident = str(entry.get("id", ""))
    if not ident or not name:
        raise document.error("a job needs an id and a name", at, ident or name)
    _check_word(document, ident, [*at, "id"])
    if kind == "job":
        _check_word(document, name, [*at, "name"])
    uses = list_under(document, entry, "uses", at)
    profiles_under(document, entry, at)
    return Job(
        id=ident,
        name=name,
        kind=kind,
        index=index,
        data=entry,
        uses=[
            _read_use(document, use, ["jobs", index, "uses", place], lfns)
            for place, use in enumerate(uses)
        ],
        namespace=str(entry.get("namespace", "")),
        version=str(entry.get("version", "")),
        arguments=_read_arguments(document, entry, at),
    )


def _check_word(document: Document, word: str, at: list[Key]) -> None:
    """Names and ids become node names, file names and DAG lines."""
    if _WORD.fullmatch(word) is None:
        raise document.error(
            "only letters, digits and ._-+@= can stand here: it becomes the name of "
            "a DAG node",
            at,
            repr(word),
        )


def _read_arguments(document: Document, entry: Data, at: list[Key]) -> list[str]:
    values = list_under(document, entry, "arguments", at)
    for index, value in enumerate(values):
        if isinstance(value, (dict, list)) or value is None:
            raise document.error(
                "an argument is a single value", [*at, "arguments", index], value
            )
    return [value if type(value) is str else plain(value) for value in values]


def _read_use(
    document: Document, entry: Any, at: list[Key], lfns: dict[str, str]
) -> Use:
    """``lfns`` are those of earlier uses: a file that many read is checked once, and
    all that is kept by its name finds it by the same text."""
    if not isinstance(entry, dict) or "lfn" not in entry:
        raise document.error("a used file needs an lfn", at, entry)
    if not entry.keys() <= _KEYS_OF_A_USE:
        raise unknown_key(document, entry, sorted(_KEYS_OF_A_USE), "a used file", at)
    said = str(entry["lfn"])
    lfn = lfns.get(said)
    if lfn is None:
        _check_lfn(document, said, at)
        lfn = lfns[said] = said
    kind = entry.get("type")
    if kind not in ("input", "output", "checkpoint"):
        raise document.error(
            "unknown type of use", [*at, "type"], kind, "one of input, output"
        )
    made = kind == "output"
    metadata = mapping_under(document, entry, "metadata", at)
    size = metadata.get("size", entry.get("size"))
    return Use(
        lfn,
        kind,
        bool(entry.get("stageOut", made)),
        bool(entry.get("registerReplica", made)),
        None if size is None else _read_file_size(document, size, at),
        str(metadata.get("bb.tier", "")),
    )


def _check_lfn(document: Document, lfn: str, at: list[Key]) -> None:
    why = lfn_fault(lfn)
    if why:
        raise document.error(
            f"the LFN {why}",
            [*at, "lfn"],
            repr(lfn),
            "a relative name inside the working directory, such as data/in.txt",
        )


def lfn_fault(lfn: str) -> str:
    """Why ``lfn`` cannot be a file below the working directory; empty if it can."""
    if _PLAIN_LFN.fullmatch(lfn) and lfn not in (".", ".."):
        return ""  # nearly all of them
    parts = lfn.split("/")
    if not lfn or lfn.startswith("/"):
        return "is absolute" if lfn else "is empty"
    if ".." in parts:
        return "leads out of the working directory"
    if any(ord(c) < 32 or ord(c) == 127 for c in lfn):
        return "has a control character"
    if "" in parts or "." in parts or lfn.startswith("~"):
        return "is not a plain relative path"
    if any(len(part.encode(errors="surrogatepass")) > 255 for part in parts):
        return "has a part of more than 255 bytes"
    return ""


def _read_file_size(document: Document, value: Any, at: list[Key]) -> int:
    try:
        return parse_size(value)
    except UsageError as error:
        raise document.error(f"a file's size: {error}", at, value) from error


def _read_dependencies(
    document: Document, jobs: dict[str, Job]
) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for index, entry in enumerate(document.data.get("jobDependencies") or []):
        at: list[Key] = ["jobDependencies", index]
        if not isinstance(entry, dict) or "id" not in entry:
            raise document.error("a dependency needs an id and children", at, entry)
        ids = [str(entry["id"]), *map(str, list_under(document, entry, "children", at))]
        for ident in ids:
            if ident not in jobs:
                raise document.error(
                    "a dependency names a job that there is not", at, ident
                )
        children.setdefault(ids[0], []).extend(ids[1:])
    return children
