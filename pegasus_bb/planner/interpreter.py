"""The Python of the jobs, tried at planning where it can be: not at the first job."""

from __future__ import annotations

import re

from pegasus_bb.files import is_there
from pegasus_bb.model.properties import Properties
from pegasus_bb.process import Finished, ask

_KEY = "pegasus.bb.python"
_OLDEST = (3, 7)
# In words that Python 2 understands as well: it is to answer, not to stumble.
_VERSION = "import sys; print('%d %d' % sys.version_info[:2])"
_WOULD_DO = "the path of a Python 3.7 or newer, or nothing: then the system's own is"


def tried_python(properties: Properties, python: str) -> str:
    """``python``, started once where it is the path of a file on this machine; what
    only the compute nodes have is taken on trust.

    Raises CatalogError where it does not start, or is too old.
    """
    name = python.strip()
    if not name.startswith("/") or not is_there(name):
        return python
    done = ask([name, "-E", "-S", "-c", _VERSION], timeout=20)
    said = re.fullmatch(r"(\d+) (\d+)", done.out.strip())
    if done.status or said is None:
        why = f"{name} does not start as a Python: {_why(done)}"
        raise properties.error(_KEY, why, _WOULD_DO)
    if (int(said[1]), int(said[2])) < _OLDEST:
        why = f"{name} is Python {said[1]}.{said[2]}; what runs beside the jobs needs "
        raise properties.error(_KEY, why + "3.7 or newer", _WOULD_DO)
    return python


def untried(python: str) -> list[str]:
    """A word about a path that only the compute nodes can have; else nothing."""
    name = python.strip()
    if not name.startswith("/") or is_there(name) or name.startswith("/usr/bin/env "):
        return []
    return [f"python:   {name} is not on this machine, so it was not tried"]


def _why(done: Finished) -> str:
    last = (done.err.strip() or done.out.strip()).splitlines()[-1:]
    return last[0][:200] if last else f"it said nothing (exit code {done.status})"
