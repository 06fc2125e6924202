"""dw_wlm_cli as a program: the answer on stdout, what is wrong on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import PegasusBBError, ReservationFailed
from pegasus_bb.core.files import append_json
from pegasus_bb_testbed.datawarp.arguments import read_arguments
from pegasus_bb_testbed.datawarp.functions import FUNCTIONS, READS
from pegasus_bb_testbed.datawarp.injected_faults import next_fault
from pegasus_bb_testbed.datawarp.place import Place

_LONGEST_LOG = 4 << 20


def dw_wlm_cli(place: Place, argv: Sequence[str]) -> int:
    """One call of Slurm's; 0 where it was done."""
    status = 0
    try:
        answer = _answer(place, argv)
        if answer:
            print(answer)
    except (PegasusBBError, OSError) as error:
        text = " ".join(str(error).split())
        print(text.encode(errors="replace").decode(), file=sys.stderr)
        status = 1
    if status != 0 or not (len(argv) > 1 and argv[1] in READS):
        _note(place, {"time": time.time(), "argv": list(argv), "status": status})
    return status


def _answer(place: Place, argv: Sequence[str]) -> str:
    call = read_arguments(argv)
    fault = next_fault(place, call)
    time.sleep(fault.delay)
    failure = ReservationFailed(fault.says or f"dwsd: {call.function} failed")
    if fault.status and not fault.after:
        raise failure
    answer = FUNCTIONS[call.function](place, call)
    if fault.status:
        raise failure
    return answer


def _note(place: Place, entry: dict[str, Any]) -> None:
    try:
        if place.calls.stat().st_size > _LONGEST_LOG:
            place.calls.replace(f"{place.calls}.1")
    except FileNotFoundError:
        pass
    append_json(str(place.calls), json.loads(json.dumps(entry)))
