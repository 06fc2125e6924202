"""A request of burst_buffer.lua: ``key=value`` lines, an empty line, the directives."""

from __future__ import annotations

import re
import time
from typing import NamedTuple

HOOKS = ("data_in", "pre_run", "data_out", "teardown")
STATUS = "status"
_WHOLE = re.compile("[0-9]{1,18}", re.ASCII)


class HookRequest(NamedTuple):
    """One. ``fields`` has what the hook knows; ``words`` those of scontrol."""

    token: str
    do: str
    uid: int
    gid: int
    fields: dict[str, str]
    words: list[str]
    directives: list[str]  # lines; none where the hook was not given them

    @property
    def job(self) -> int:
        """The job's id; 0 in a question."""
        return self.number("job") or 0

    @property
    def noted_at(self) -> float:
        """When the hook asked: its note begins with the time (burst_buffer.lua)."""
        head = self.token.partition(".")[0]
        return float(head) if _WHOLE.fullmatch(head) else time.time()

    def number(self, key: str) -> int | None:
        """Return the whole number of a field; None where Slurm did not know it."""
        text = self.fields.get(key, "").partition(".")[0]
        return int(text) if _WHOLE.fullmatch(text) else None


def parse_request(token: str, text: str) -> HookRequest:
    """Return the request in ``text``. Raises ValueError where burst_buffer.lua did not
    write it."""
    head, _, body = text.partition("\n\n")
    fields: dict[str, str] = {}
    words: list[str] = []
    for line in head.split("\n"):
        key, sign, value = line.partition("=")
        if not sign:
            raise ValueError(f"{token}: no key=value: {line[:80]!r}")
        if key == "arg":
            words.append(value)
        else:
            fields[key] = value
    do = fields.get("do", "")
    if do not in (*HOOKS, STATUS):
        raise ValueError(f"{token}: do {do!r} is no hook")
    # int() takes more than hooks write: signs, blanks, digits of other alphabets.
    for key in ("uid", "gid") if do == STATUS else ("uid", "gid", "job"):
        if _WHOLE.fullmatch(fields.get(key, "")) is None:
            raise ValueError(f"{fields.get(key, '')[:80]!r} is no whole number")
    lines = [line for line in body.replace("\0", "").split("\n") if line]
    numbers = (int(fields["uid"]), int(fields["gid"]))
    return HookRequest(token, do, *numbers, fields, words, lines)
