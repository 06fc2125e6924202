"""Where a file lives: the tier's rule for its class, unless a narrower rule covers it.

A job's profile ``pegasus: bb.tier`` places the files that the job writes. It places an
input only if every job that reads the input has the profile with the same value,
because a file lives in one place. ``link`` is for inputs only, so jobs cannot use it.
Staged programs and images belong to no job; the placement file places them.

The metadata ``bb.tier`` of a file may be in any use of it; uses that contradict each
other are refused.

The placement file (--bb-placement) has patterns over LFNs; the first match wins. It is
a list of ``{lfn: GLOB, tier: X}`` or a mapping ``GLOB: X``. ``*`` and ``?`` match a
slash as well; a name without ``*``, ``?`` and ``[`` is that one file.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import INPUT, INTERMEDIATE, OUTPUT, File, metadata_error
from pegasus_bb.decide.tier_choice import job_tier
from pegasus_bb.model.catalog_files import environment
from pegasus_bb.model.document import Document, Key, load_value
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Workflow

KEY = "bb.tier"
BB = "bb"
LINK = "link"
JOB = "job"  # mode hybrid: on another tier, in the reservation of the job that makes it


class Rule(NamedTuple):
    where: str  # bb | pfs | link (inputs only) | job
    reason: str  # for a person: which rule, and where it is set


class FileHome(NamedTuple):
    file: File
    tier: str
    how: str  # write, link or copy
    rule: Rule
    is_narrow: bool  # the rule is a user's for this file


def _class_rules(tier: Tier) -> dict[str, Rule]:
    """Role of a file -> the tier's rule for its class."""
    origin = f"tier {tier.name} of site {tier.site} says"
    inputs = BB if tier.inputs == "stage" else tier.inputs
    return {
        INPUT: Rule(inputs, f"an input: {origin} inputs: {tier.inputs}"),
        INTERMEDIATE: Rule(
            tier.intermediate,
            f"made by a job and not staged out: {origin} "
            f"intermediate: {tier.intermediate}",
        ),
        OUTPUT: Rule(
            tier.outputs,
            f"made by a job and staged out: {origin} outputs: {tier.outputs}",
        ),
    }


def _program_rule(tier: Tier) -> Rule:
    """Staged programs follow the rule of inputs, but are never links: Pegasus changes
    the mode of a file that it stages, which would be the user's own."""
    if tier.inputs == LINK:
        return Rule(BB, "a program that is staged, always a copy")
    where, reason = _class_rules(tier)[INPUT]
    return Rule(where, reason.replace("an input", "a program that is staged", 1))


def _image_rule(tier: Tier, mode: RunMode) -> Rule:
    """An image is placed as a program is, but no job copies it for itself alone."""
    if mode.is_only_for_jobs:
        return Rule(PFS, "the image of a container, which jobs share")
    where, reason = _program_rule(tier)
    return Rule(where, reason.replace("a program", "an image", 1))


def homes(
    given: PlanningInput, tier: Tier, files: Mapping[str, File]
) -> list[FileHome]:
    """Where each of ``files`` lives, by its narrowest rule: of the tier, a job profile,
    metadata, the placement file. Raises CatalogError."""
    narrow = _narrow_rules(given, tier, files)
    classes = _class_rules(tier)
    program = _program_rule(tier)
    mode = given.settings.mode
    image = _image_rule(tier, mode)
    saved = _checkpoints(given)
    found: list[FileHome] = []
    for lfn, file in files.items():
        of_class = program if file.executable else classes[file.role]
        rule = narrow.get(lfn) or (image if file.image else saved.get(lfn, of_class))
        if file.image and mode.is_only_for_jobs:
            rule = image  # no reservation outlives a job, whatever else is said
        on, how = tier_and_access(rule.where, file.role, tier)
        found.append(FileHome(file, on, how, rule, lfn in narrow))
    return found


def _checkpoints(given: PlanningInput) -> dict[str, Rule]:
    """Mode transient: a job's reservation goes with the job, and its checkpoint is for
    the next try."""
    if not given.settings.mode.is_only_for_jobs:
        return {}
    rule = Rule(PFS, "a checkpoint: the next try of its job continues it")
    jobs = given.workflow.jobs.values()
    return {use.lfn: rule for job in jobs for use in job.checkpoints()}


def tier_and_access(where: str, role: str, tier: Tier) -> tuple[str, str]:
    """The tier of a file of ``role`` by a rule's ``where``, and write, link or copy."""
    if role != INPUT:
        return (PFS if where == PFS else tier.name), "write"
    if where == LINK:
        return PFS, "link"
    return (tier.name if where == BB else PFS), "copy"


@dataclass(frozen=True)
class TierWords:
    """What a user may write after ``bb.tier:`` and in a placement file: the tier's
    name, ``bb`` (this tier, unless another has that name), ``pfs``, for inputs
    ``link``, and the name of another tier that job reservations are on."""

    meaning: dict[str, str]  # word -> bb | pfs | link | job
    tier: Tier
    readers: Mapping[str, Collection[str]]  # LFN -> jobs

    def fault(self, word: str, file: File | None = None) -> str:
        """Why ``word`` is not valid (for ``file``); empty if it is."""
        if word not in self.meaning:
            return (
                f"no such tier in this run, which reserves tier {self.tier.name} "
                f"of site {self.tier.site}"
            )
        if file is None or self.meaning[word] not in (JOB, LINK):
            return ""
        if self.meaning[word] == JOB:
            return self._not_of_a_job(word, file)
        if file.executable:
            return f"{file.lfn} is a staged program, always a copy, never a link"
        if file.role != INPUT:
            made = f"{file.lfn} is made by job {file.maker}"
            return f"{made}; only an input can be a link"
        return ""

    def _not_of_a_job(self, word: str, file: File) -> str:
        jobs = sorted(set(self.readers.get(file.lfn, ())))
        if file.role == INPUT:
            why = "no job makes it"
        elif len(jobs) == 1:
            why = f"job {jobs[0]} reads it"
        elif jobs:
            why = f"jobs {', '.join(jobs)} read it"
        else:
            return ""
        return (
            f"{file.lfn} cannot live on tier {word}, where a job's own reservation "
            f"holds what it makes and no other reads: {why}"
        )

    def choices(self, file: File | None) -> str:
        fit = (word for word in self.meaning if not self.fault(word, file))
        return "one of " + ", ".join(fit)


def _tier_words(given: PlanningInput, tier: Tier) -> TierWords:
    """The valid words for a run on ``tier``."""
    tiers = given.catalogs.tiers.get(tier.site, ())
    other = _other_job_tier(given, tier)
    meaning = {tier.name: BB, BB: BB, PFS: PFS, LINK: LINK}
    if tier.name != BB and any(each.name == BB for each in tiers):
        del meaning[BB]
    if other is not None:
        meaning[other.name] = JOB
    return TierWords(meaning, tier, given.graph.consumers)


def _rules_of_jobs(
    given: PlanningInput, files: Mapping[str, File], words: TierWords
) -> dict[str, Rule]:
    """LFN -> rule, from the profiles of jobs and programs. Raises CatalogError."""
    profiles = _profiles(given, files, words)
    rules: dict[str, Rule] = {}
    for ident, word in profiles.items():
        where = words.meaning[word]
        for use in given.workflow.jobs[ident].uses:
            if use.kind != "input":
                reason = f"job {ident}, which writes it, has the profile {KEY}: {word}"
                rules[use.lfn] = Rule(where, reason)
            elif where == JOB:
                continue  # a job reservation is for what its job makes
            elif use.lfn not in rules and files[use.lfn].role == INPUT:
                readers = given.graph.consumers[use.lfn]
                if {profiles.get(reader) for reader in readers} == {word}:
                    reason = f"every job that reads it has the profile {KEY}: {word}"
                    rules[use.lfn] = Rule(where, reason)
    return rules


def _profiles(
    given: PlanningInput, files: Mapping[str, File], words: TierWords
) -> dict[str, str]:
    profiles: dict[str, str] = {}
    for job in given.workflow:
        word = given.profile(job, KEY)
        if word is None:
            continue
        fault = words.fault(word)
        would_do = "one of " + ", ".join(w for w in words.meaning if w != LINK)
        if not fault and words.meaning[word] == LINK:
            fault = "a job's profile is about what it writes, which cannot be a link"
        elif not fault and words.meaning[word] == JOB:
            fault = _fault_of_made(job, files, words, word)
            would_do = "the metadata bb.tier of those of its files that no job reads"
        if fault:
            raise given.profile_error(job, KEY, fault, word, would_do)
        profiles[job.id] = word
    return profiles


def _fault_of_made(
    job: Job, files: Mapping[str, File], words: TierWords, word: str
) -> str:
    made = (files[use.lfn] for use in job.uses if use.kind != "input")
    return next(filter(None, (words.fault(word, file) for file in made)), "")


def _rule_of_metadata(workflow: Workflow, file: File, words: TierWords) -> Rule:
    """The rule in the metadata of ``file``. Raises CatalogError."""
    fault = words.fault(file.tier, file)
    if fault:
        raise metadata_error(
            workflow,
            file.declared_by,
            file.lfn,
            what=fault,
            found=file.tier,
            would_do=words.choices(file),
        )
    reason = f"its metadata in job {file.declared_by} says {KEY}: {file.tier}"
    return Rule(words.meaning[file.tier], reason)


def _narrow_rules(
    given: PlanningInput, tier: Tier, files: Mapping[str, File]
) -> dict[str, Rule]:
    """LFN -> rule, of the files that have one of their own. Raises CatalogError."""
    words = _tier_words(given, tier)
    rules = _rules_of_jobs(given, files, words)
    patterns = _patterns(given, files, words)
    for lfn, file in files.items():
        if file.tier and lfn not in patterns:
            rules[lfn] = _rule_of_metadata(given.workflow, file, words)
    return rules | patterns


def _other_job_tier(given: PlanningInput, tier: Tier) -> Tier | None:
    """The tier of job reservations in mode hybrid, if it is not ``tier``. Mode auto may
    select mode hybrid."""
    if not given.settings.mode.may_be_both:
        return None
    try:
        other = job_tier(given.catalogs, given.settings, tier)
    except CatalogError:
        if given.settings.mode.is_chosen:  # auto does not consider mode hybrid then
            return None
        raise
    return None if other == tier else other


def _patterns(
    given: PlanningInput, files: Mapping[str, File], words: TierWords
) -> dict[str, Rule]:
    """LFN -> rule, from the placement file. Raises CatalogError for an unknown tier, a
    pattern without a match, or a file that cannot live there."""
    path = given.settings.placement
    if path is None:
        return {}
    variables = environment(given.catalogs.properties)
    document, entries = read_placement_file(path, variables)
    rules = dict[str, Rule]()
    for entry in entries:
        _check(document, entry, words)
        reason = f"{path.name} says {entry.pattern}: {entry.word}"
        rule = Rule(words.meaning[entry.word], reason)
        matching = list(entry.matching(files))
        if not matching:
            listed = len(entry.keys) > 1  # - {lfn: ..., tier: ...}
            raise document.error(
                "no file of the workflow fits this pattern",
                [entry.keys[0], "lfn"] if listed else entry.keys,
                entry.pattern,
                "the LFN of a file, or a pattern such as chr1*.tar.gz",
            )
        for lfn in matching:
            if lfn not in rules:
                _check(document, entry, words, files[lfn])
                rules[lfn] = rule
    return rules


_WOULD_DO = "- {lfn: chr1*, tier: pfs}"


class PlacementPattern(NamedTuple):
    pattern: str
    word: str
    keys: tuple[Key, ...]  # its place in the file

    def matching(self, lfns: Collection[str]) -> Iterator[str]:
        """Those of ``lfns`` that match the pattern. Linear."""
        if any(c in self.pattern for c in "*?["):
            return filter(re.compile(fnmatch.translate(self.pattern)).match, lfns)
        return iter((self.pattern,) if self.pattern in lfns else ())


def _check(
    document: Document,
    entry: PlacementPattern,
    words: TierWords,
    file: File | None = None,
) -> None:
    fault = words.fault(entry.word, file)
    if fault:
        raise document.error(fault, entry.keys, entry.word, words.choices(file))


def read_placement_file(
    path: Path, variables: Mapping[str, str]
) -> tuple[Document, list[PlacementPattern]]:
    """Raises CatalogError with file and line."""
    data, text = load_value(path, variables)
    document = Document(path, {}, text)
    if isinstance(data, dict):
        entries = [_entry(document, (key,), key, word) for key, word in data.items()]
    elif isinstance(data, list):
        entries = [_listed(document, item, i) for i, item in enumerate(data)]
    else:
        raise document.error(
            "a placement file is a list of lfn and tier, or a mapping of LFN to tier",
            [],
            "nothing" if data is None else type(data).__name__,
            _WOULD_DO,
        )
    return document, entries


def _listed(document: Document, item: Any, index: int) -> PlacementPattern:
    if not isinstance(item, dict) or set(item) != {"lfn", "tier"}:
        what = "an entry has two keys, lfn and tier"
        raise document.error(what, [index], item, _WOULD_DO)
    return _entry(document, (index, "tier"), item["lfn"], item["tier"])


def _entry(
    document: Document, keys: tuple[Key, ...], pattern: Any, word: Any
) -> PlacementPattern:
    for value in (pattern, word):
        if isinstance(value, (dict, list)) or value is None or value == "":
            raise document.error("a pattern and a tier are single values", keys, value)
    return PlacementPattern(str(pattern), str(word), keys)
