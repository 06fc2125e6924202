"""What a job's profile or a file's metadata says, over the rules of the tier.

A job's profile ``pegasus: bb.tier`` is about the files that the job writes. Of an
input, which several jobs may read, it decides only where every job that reads the
input has the profile and all say the same: a file lives in one place. ``link`` is
not a word for jobs, since it can be said of inputs only. Staged programs have no job
of their own; metadata and the placement file reach them.

A file's metadata ``bb.tier`` stands with any use of the file; uses that say nothing
do not count, uses that contradict each other are refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.policy import JOB, LINK, Rule
from pegasus_bb.placement.survey import INPUT, File, metadata_error
from pegasus_bb.placement.words import Words

KEY = "bb.tier"


def by_jobs(
    workflow: Workflow, graph: Graph, files: Mapping[str, File], words: Words
) -> dict[str, Rule]:
    """LFN -> rule, from the profiles of jobs. Raises CatalogError."""
    said = _profiles(workflow, words)
    rules: dict[str, Rule] = {}
    for ident, word in said.items():
        job = workflow.jobs[ident]
        if words.meaning[word] == JOB:
            _check_rooms(job, workflow, files, words, word)
        for use in job.uses:
            if use.kind != "input":
                reason = f"job {ident}, which writes it, has the profile {KEY}: {word}"
                rules[use.lfn] = Rule(words.meaning[word], reason)
            elif words.meaning[word] == JOB:
                continue  # a room is for what its job makes
            elif use.lfn not in rules and files[use.lfn].role == INPUT:
                readers = {said.get(reader) for reader in graph.consumers[use.lfn]}
                if readers == {word}:
                    reason = f"every job that reads it has the profile {KEY}: {word}"
                    rules[use.lfn] = Rule(words.meaning[word], reason)
    return rules


def _check_rooms(
    job: Job, workflow: Workflow, files: Mapping[str, File], words: Words, word: str
) -> None:
    """Whether all that ``job`` makes can be in a room of its own."""
    made = (files[use.lfn] for use in job.uses if use.kind != "input")
    fault = next(filter(None, (words.fault(word, file) for file in made)), "")
    if fault:
        raise workflow.document.error(
            fault,
            ["jobs", job.index, "profiles", "pegasus", KEY],
            word,
            "the metadata bb.tier of those of its files that no other job reads",
        )


def _profiles(workflow: Workflow, words: Words) -> dict[str, str]:
    said: dict[str, str] = {}
    for job in workflow.jobs.values():
        word = job.profile("pegasus", KEY) if "profiles" in job.data else None
        if word is None:
            continue
        fault = words.fault(word)
        if not fault and words.meaning[word] == LINK:
            fault = "a job's profile is about what it writes, which cannot be a link"
        if fault:
            raise workflow.document.error(
                fault,
                ["jobs", job.index, "profiles", "pegasus", KEY],
                word,
                "one of " + ", ".join(w for w in words.meaning if w != LINK),
            )
        said[job.id] = word
    return said


def by_metadata(workflow: Workflow, file: File, words: Words) -> Rule:
    """The rule that the metadata of ``file`` gives. Raises CatalogError."""
    fault = words.fault(file.tier, file)
    if fault:
        raise metadata_error(
            workflow, file.said_by, file.lfn, fault, file.tier, words.choices(file)
        )
    reason = f"its metadata in job {file.said_by} says {KEY}: {file.tier}"
    return Rule(words.meaning[file.tier], reason)
