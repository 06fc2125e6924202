"""The placement file (--bb-placement): patterns over LFNs, the first that fits wins.

Either a list of ``{lfn: GLOB, tier: X}`` or a mapping ``GLOB: X``. ``*`` and ``?``
match a slash as well; a name without ``*``, ``?`` and ``[`` is that one file.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.document import Document, Key, load_value
from pegasus_bb.placement.policy import Rule
from pegasus_bb.placement.survey import File
from pegasus_bb.placement.words import Words

_Pair: TypeAlias = tuple[tuple[Key, ...], Any, Any]  # where, pattern, tier


@dataclass(frozen=True)
class Entry:
    """One line of the file."""

    pattern: str
    word: str
    keys: tuple[Key, ...]  # where it stands


class PlacementFile:
    """A placement file, compiled once: exact names in a dict, patterns in one regex."""

    def __init__(self, document: Document, entries: list[Entry]) -> None:
        self.document = document
        self.entries = entries
        self._exact: dict[str, int] = {}
        self._globs: list[int] = []
        for index, entry in enumerate(entries):
            if any(c in entry.pattern for c in "*?["):
                self._globs.append(index)
            else:
                self._exact.setdefault(entry.pattern, index)
        # One group per pattern; the last group that closed is the one that matched.
        regex = "|".join(
            f"({fnmatch.translate(entries[index].pattern)})" for index in self._globs
        )
        self._regex = re.compile(regex) if regex else None
        self._group = _groups(self._regex, len(self._globs))

    def find(self, lfn: str) -> Entry | None:
        """The first entry that fits ``lfn``."""
        exact = self._exact.get(lfn)
        match = self._regex.match(lfn) if self._regex else None
        if match is None or match.lastindex is None:
            return None if exact is None else self.entries[exact]
        glob = self._globs[self._group[match.lastindex]]
        return self.entries[glob if exact is None else min(glob, exact)]

    def rule(self, file: File, words: Words) -> Rule | None:
        """The rule for ``file``, or None. Raises CatalogError."""
        entry = self.find(file.lfn)
        if entry is None:
            return None
        fault = words.fault(entry.word, file)
        if fault:
            raise self.error(entry, fault, entry.word, words.choices(file))
        name = self.document.path.name
        return Rule(
            words.meaning[entry.word], f"{name} says {entry.pattern}: {entry.word}"
        )

    def check(self, files: Mapping[str, File], words: Words) -> None:
        """Refuse unknown tiers and patterns that fit no file. Raises CatalogError."""
        for entry in self.entries:
            fault = words.fault(entry.word)
            if fault:
                raise self.error(entry, fault, entry.word, words.choices())
        unmet = {index for name, index in self._exact.items() if name not in files}
        unmet.update(self._unmatched(files))
        for index in sorted(unmet):
            entry = self.entries[index]
            listed = len(entry.keys) > 1  # - {lfn: ..., tier: ...}
            raise self.document.error(
                "no file of the workflow fits this pattern",
                [entry.keys[0], "lfn"] if listed else entry.keys,
                entry.pattern,
                "the LFN of a file, or a pattern such as chr1*.tar.gz",
            )

    def _unmatched(self, files: Mapping[str, File]) -> list[int]:
        """Patterns without a file; those hidden by earlier ones have files."""
        waiting = {index: self.entries[index].pattern for index in self._globs}
        for lfn in files:
            if not waiting:
                break
            found = self._regex.match(lfn) if self._regex else None
            if found is not None and found.lastindex is not None:
                waiting.pop(self._globs[self._group[found.lastindex]], None)
        return [
            index
            for index, pattern in waiting.items()
            if not any(map(re.compile(fnmatch.translate(pattern)).match, files))
        ]

    def error(self, entry: Entry, what: str, found: str, would_do: str) -> CatalogError:
        """An error about ``entry``, with its line."""
        return self.document.error(what, entry.keys, found, would_do)


def _groups(regex: re.Pattern[str] | None, count: int) -> dict[int, int]:
    """Number of a group -> pattern; translate() may bring named groups of its own."""
    if regex is None:
        return {}
    own = set(regex.groupindex.values())
    outer = [number for number in range(1, regex.groups + 1) if number not in own]
    return dict(zip(outer, range(count), strict=True))


def read_placement_file(path: Path, variables: Mapping[str, str]) -> PlacementFile:
    """Raises CatalogError with file and line."""
    data, text = load_value(path, variables)
    document = Document(path, {}, text)
    if isinstance(data, dict):
        pairs: list[_Pair] = [((key,), key, word) for key, word in data.items()]
    elif isinstance(data, list):
        pairs = [_pair(document, item, i) for i, item in enumerate(data)]
    else:
        raise document.error(
            "a placement file is a list of lfn and tier, or a mapping of LFN to tier",
            [],
            "nothing" if data is None else type(data).__name__,
            "- {lfn: chr1*, tier: pfs}",
        )
    return PlacementFile(document, [_entry(document, *pair) for pair in pairs])


def _pair(
    document: Document, item: Any, index: int
) -> tuple[tuple[Key, ...], Any, Any]:
    if not isinstance(item, dict) or set(item) != {"lfn", "tier"}:
        raise document.error(
            "an entry has two keys, lfn and tier",
            [index],
            item,
            "- {lfn: chr1*, tier: pfs}",
        )
    return (index, "tier"), item["lfn"], item["tier"]


def _entry(document: Document, keys: tuple[Key, ...], pattern: Any, word: Any) -> Entry:
    for value in (pattern, word):
        if isinstance(value, (dict, list)) or value is None or value == "":
            raise document.error("a pattern and a tier are single values", keys, value)
    return Entry(str(pattern), str(word), keys)
