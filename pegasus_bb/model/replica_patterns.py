"""Replicas with ``regex: true``: a pattern of LFNs, and a PFN with ``[0]``, ``[1]``.

    lfn: (.*)_(\\d+)\\.fits
    pfn: /data/[1]/[0]

Pegasus asks them for each file of a workflow. Here each such file gets an entry.
"""

from __future__ import annotations

import re
from functools import partial

from pegasus_bb.model.document import Data, Document, Entry

_GROUP = re.compile(r"\[(\d+)\]")


def with_matches(document: Document, workflow: Document) -> Document:
    """Return ``document`` with an entry for each file of ``workflow`` that a pattern
    names; of several the first counts. Raises CatalogError for a wrong pattern."""
    entries = document.entry().entries("replicas", "a replica", "lfn")
    some = (each for each in entries if each.flag("regex", default=False))
    patterns = [(_pattern(each), each) for each in some]
    found = (_match(lfn, patterns) for lfn in sorted(_files(workflow)))
    new = [entry for entry in found if entry is not None]
    return document.with_data(
        {**document.data, "replicas": [*(each.data for each in entries), *new]}
    )


def _pattern(entry: Entry) -> re.Pattern[str]:
    text = str(entry.data["lfn"])
    try:
        return re.compile(text)
    except re.error as error:
        raise entry.below("lfn").error(
            f"is no pattern: {error}", text, "a regular expression"
        ) from None


def _match(lfn: str, patterns: list[tuple[re.Pattern[str], Entry]]) -> Data | None:
    for pattern, entry in patterns:
        if match := pattern.fullmatch(lfn):
            rest = {key: entry.data[key] for key in entry.data if key != "regex"}
            places = [each.data for each in entry.entries("pfns", "a replica", "pfn")]
            pfn = partial(_GROUP.sub, partial(_group, match))
            pfns = [{**place, "pfn": pfn(str(place["pfn"]))} for place in places]
            return {**rest, "lfn": lfn, "pfns": pfns}
    return None


def _group(match: re.Match[str], asked: re.Match[str]) -> str:
    """What ``asked``, as [1], stands for; itself if the pattern has no such group."""
    number = int(asked[1])
    return (match[number] or "") if number <= len(match.groups()) else asked[0]


def _files(workflow: Document) -> set[str]:
    """The LFNs that jobs use."""
    jobs = workflow.entry().entries("jobs", "a job")
    uses = (use for job in jobs for use in job.entries("uses", "a use", "lfn"))
    return {str(use.data["lfn"]) for use in uses}
