"""What a record says about times, files and the use of processors."""

from __future__ import annotations

import os
import time
from typing import Any, Dict

from pegasus_bb.runtime.records.yaml import Verbatim

Facts = Dict[Any, Any]


def instant(seconds: float) -> Verbatim:
    """A time as Kickstart writes it, in UTC."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    part = f"{seconds % 1:.6f}"[1:5]
    return Verbatim(f"{whole}{part}+00:00")


def file_facts(path: str) -> Facts:
    """A file under its real name; ``error`` holds the errno if it is not there."""
    real = os.path.realpath(path)
    try:
        return {"file_name": real, "size": os.stat(path).st_size}
    except OSError as error:
        return {"error": error.errno, "file_name": real}


def usage_facts(usage: Any) -> Facts:
    """A getrusage() in Kickstart's words: seconds, KiB, blocks of 512 bytes."""
    return {
        "utime": usage.ru_utime,
        "stime": usage.ru_stime,
        "maxrss": usage.ru_maxrss,
        "inblock": usage.ru_inblock,
        "outblock": usage.ru_oublock,
    }
