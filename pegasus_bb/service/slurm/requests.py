"""A request of burst_buffer.lua: ``key=value`` lines, an empty line, the directives."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

HOOKS = ("setup", "data_in", "pre_run", "post_run", "data_out", "teardown")
STATUS = "status"


class Request(NamedTuple):
    """One. ``fields`` has what the hook knows; ``words`` those of scontrol."""

    token: str
    do: str
    uid: int
    gid: int
    fields: Dict[str, str]
    words: List[str]
    directives: List[str]  # lines; none where the hook was not given them

    @property
    def job(self) -> int:
        """The job's id. Raises ValueError."""
        return int(self.fields.get("job", ""))

    def number(self, key: str) -> Optional[int]:
        """The whole number of a field; None where Slurm did not know it."""
        text = self.fields.get(key, "")
        return int(float(text)) if text.replace(".", "", 1).isdigit() else None


def parse_request(token: str, text: str) -> Request:
    """Raises ValueError where burst_buffer.lua did not write ``text``."""
    head, _, body = text.partition("\n\n")
    fields: Dict[str, str] = {}
    words: List[str] = []
    for line in head.split("\n"):
        key, sign, value = line.partition("=")
        if not sign:
            raise ValueError(f"{token}: no key=value: {line[:80]!r}")
        if key == "arg":
            words.append(value)
        else:
            fields[key] = value
    do = fields.get("do", "")
    if do not in HOOKS and do != STATUS:
        raise ValueError(f"{token}: do {do!r} is no hook")
    uid, gid = int(fields["uid"]), int(fields["gid"])
    lines = [line for line in body.replace("\0", "").split("\n") if line]
    return Request(token, do, uid, gid, fields, words, lines)
