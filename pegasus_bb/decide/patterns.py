"""The placement file (--bb-placement): patterns over LFNs; the first match wins.

Either a list of ``{lfn: GLOB, tier: X}`` or a mapping ``GLOB: X``. ``*`` and ``?``
match a slash as well; a name without ``*``, ``?`` and ``[`` is that one file.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegasus_bb.decide.survey import File
from pegasus_bb.decide.tier_rules import Rule, TierWords
from pegasus_bb.model.document import Document, Key, load_value

_WOULD_DO = "- {lfn: chr1*, tier: pfs}"


@dataclass(frozen=True)
class Entry:
    pattern: str
    word: str
    keys: tuple[Key, ...]  # its place in the file

    def matching(self, lfns: Collection[str]) -> Iterator[str]:
        """Those of ``lfns`` that match the pattern. Linear."""
        if any(c in self.pattern for c in "*?["):
            return filter(re.compile(fnmatch.translate(self.pattern)).match, lfns)
        return iter((self.pattern,) if self.pattern in lfns else ())


@dataclass(frozen=True)
class PlacementFile:
    document: Document
    entries: list[Entry]

    def rules(self, files: Mapping[str, File], words: TierWords) -> dict[str, Rule]:
        """LFN -> rule. Raises CatalogError for an unknown tier, a pattern without a
        match, or a file that cannot live there."""
        name, rules = self.document.path.name, dict[str, Rule]()
        for entry in self.entries:
            self._check(entry, words)
            where = words.meaning.get(entry.word, "")
            rule = Rule(where, f"{name} says {entry.pattern}: {entry.word}")
            fits = False
            for lfn in entry.matching(files):
                fits = True
                if lfn not in rules:
                    self._check(entry, words, files[lfn])
                    rules[lfn] = rule
            if not fits:
                listed = len(entry.keys) > 1  # - {lfn: ..., tier: ...}
                raise self.document.error(
                    "no file of the workflow fits this pattern",
                    [entry.keys[0], "lfn"] if listed else entry.keys,
                    entry.pattern,
                    "the LFN of a file, or a pattern such as chr1*.tar.gz",
                )
        return rules

    def _check(self, entry: Entry, words: TierWords, file: File | None = None) -> None:
        fault = words.fault(entry.word, file)
        if fault:
            would_do = words.choices(file)
            raise self.document.error(fault, entry.keys, entry.word, would_do)


def read_placement_file(path: Path, variables: Mapping[str, str]) -> PlacementFile:
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
    return PlacementFile(document, entries)


def _listed(document: Document, item: Any, index: int) -> Entry:
    if not isinstance(item, dict) or set(item) != {"lfn", "tier"}:
        what = "an entry has two keys, lfn and tier"
        raise document.error(what, [index], item, _WOULD_DO)
    return _entry(document, (index, "tier"), item["lfn"], item["tier"])


def _entry(document: Document, keys: tuple[Key, ...], pattern: Any, word: Any) -> Entry:
    for value in (pattern, word):
        if isinstance(value, (dict, list)) or value is None or value == "":
            raise document.error("a pattern and a tier are single values", keys, value)
    return Entry(str(pattern), str(word), keys)
