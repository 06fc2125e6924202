"""Delays and failures on request: the file ``injected_faults``, one per line.

    FUNCTION [token=TOKEN] [times=N] [delay=SECONDS] [exit=STATUS] [after] [says=WORDS]

``says`` takes the rest of the line; a line with it fails with status 1 unless ``exit``
says otherwise. ``after`` fails once the work was done, as a lost answer does. The
first line that fits counts; one with ``times`` fits that often.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb_testbed.datawarp.accounts import open_accounts
from pegasus_bb_testbed.datawarp.arguments import Call
from pegasus_bb_testbed.datawarp.place import Place

_LINE = re.compile(
    r"(?P<function>[a-z_*]+)(?: token=(?P<token>\S+))?(?: times=(?P<times>[0-9]+))?"
    r"(?: delay=(?P<delay>[0-9.]+))?(?: exit=(?P<exit>[0-9]+))?(?P<after> after)?"
    r"(?: says=(?P<says>.*))?"
)


class Fault(NamedTuple):
    """What is to go wrong with one call; as it stands, nothing."""

    delay: float = 0.0
    status: int = 0
    after: bool = False
    says: str = ""


def next_fault(place: Place, call: Call) -> Fault:
    """What the file asks for this call, counted. Raises UsageError."""
    file = place.injected_faults
    try:
        stamp = file.stat().st_mtime_ns
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return Fault()
    for number, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line)
        if line.strip() and not line.startswith("#") and found is None:
            raise UsageError(f"{file}:{number}: {line!r} cannot be read")
        if found is not None and _fits(found, call):
            times = found["times"]
            # A file written anew counts anew.
            if times is None or _count(place, f"{stamp}:{number}", int(times)):
                return _fault(found)
    return Fault()


def _fits(line: re.Match[str], call: Call) -> bool:
    return line["function"] in ("*", call.function) and (
        line["token"] is None or line["token"] == call["token"]
    )


def _count(place: Place, key: str, times: int) -> bool:
    stamp = key.split(":")[0]
    with open_accounts(place) as accounts:
        used = {k: n for k, n in accounts.used_faults.items() if k.startswith(stamp)}
        fits = used.get(key, 0) < times
        if fits:
            accounts.used_faults = {**used, key: used.get(key, 0) + 1}
    return fits


def _fault(line: re.Match[str]) -> Fault:
    status = int(line["exit"] or (1 if line["says"] is not None else 0))
    after = line["after"] is not None
    return Fault(float(line["delay"] or 0), status, after, line["says"] or "")
