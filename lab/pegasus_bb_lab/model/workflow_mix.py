"""Workflows that share a site and its buffer, read from a YAML file.

    members:
      - {workflow: genome/workflow.yml, history: genome/pfs, copies: 3}
      - {planned: shake/submit, start: 10m, mode: off}
    capacity: 500GiB             # of the buffer for all of them; without it: enough
    speeds: speeds.yml           # of the site; without it: those that members declare

``workflow`` is planned in its folder, ``planned`` as that submit directory was, whose
records are its history. Paths are relative to the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Entry, load
from pegasus_bb.model.modes import PERSISTENT, PLANNED
from pegasus_bb.model.quantities import Source, choice, count, seconds, size, text
from pegasus_bb.model.records import key, read_record

MEMBERS = "members"
_COPIES = 1000
_LONGEST = 3650 * 86400  # seconds


@dataclass(frozen=True, slots=True)
class Member:
    workflow: str = key(text, "")
    planned: str = key(text, "")
    history: str = key(text, "")
    mode: str = key(choice(*PLANNED), PERSISTENT.name)
    start: float = key(seconds("such as 10m", _LONGEST), 0.0)  # when it is submitted
    copies: int = key(count(_COPIES), 1)


def _members(entry: Entry) -> tuple[Member, ...]:
    found = []
    for one in entry.document.entry().entries(MEMBERS, "a member"):
        member = read_record(Member, one)
        if bool(member.workflow) == bool(member.planned):
            raise one.error(
                "a member has one of workflow and planned",
                would_do="workflow: FILE, or planned: SUBMIT_DIR",
            )
        found += [member] * member.copies
    if not found:
        raise entry.error("a mix without members")
    return tuple(found)


@dataclass(frozen=True)
class WorkflowMix:
    members: tuple[Member, ...] = key(_members)  # each copy is one
    capacity: int = key(size("such as 500GiB"), 0)  # bytes; 0: no limit
    speeds: str = key(text, "")
    source: Source = field(default=Source(), compare=False)

    @property
    def folder(self) -> Path:
        return Path(self.source.name).absolute().parent


def read_workflow_mix(name: str, variables: Mapping[str, str]) -> WorkflowMix | None:
    """The mix of the file ``name``; None if it has no members. Raises CatalogError."""
    if not Path(name).is_file():
        return None
    entry = load(Path(name), variables).entry()
    if not isinstance(entry.data, dict) or MEMBERS not in entry.data:
        return None
    mix = read_record(WorkflowMix, entry, source=Source(name, entry.document))
    for member in mix.members:
        for path in (member.workflow, member.planned, member.history):
            if path and not (mix.folder / path).exists():
                raise CatalogError(
                    f"a member names {path}, and there is no such file or folder",
                    file=name,
                    would_do="a path relative to the folder of this file",
                )
    return mix
