"""The Python that compute nodes use: what the user names, tried where it can be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_there

if TYPE_CHECKING:
    from pegasus_bb.core.process import Finished
from pegasus_bb.model.properties import Properties
from pegasus_bb.runtime.install import OLDEST_PYTHON, default_python

_KEY = "pegasus.bb.python"
_ENV = "/usr/bin/env "
_OLDEST = ".".join(map(str, OLDEST_PYTHON))
_WOULD_DO = (
    f"the path of a Python {_OLDEST} or newer, or nothing: then the system's own is"
)
# Valid in Python 2 as well, so that an old Python answers with its version.
_VERSION = "import sys; print('%d %d' % sys.version_info[:2])"


def check_python(properties: Properties, python: str) -> str:
    """``python``, started once if it is a file on this machine. A path that exists only
    on compute nodes is not tested.

    Raises CatalogError if it does not start, or is too old.
    """
    name = python.strip()
    if not _is_here(name):
        return python
    try:
        version = _version([name])
    except UsageError as error:
        raise properties.error(_KEY, f"{name} {error}", _WOULD_DO) from error
    if version < OLDEST_PYTHON:
        why = f"{name} is Python {_shown(version)}; programs of a run need {_OLDEST}"
        raise properties.error(_KEY, f"{why} or newer", _WOULD_DO)
    return python


def untested_python_note(python: str) -> list[str]:
    """A note if ``python`` is a path that is not on this machine; else nothing."""
    name = python.strip()
    if not name.startswith("/") or is_there(name) or name.startswith(_ENV):
        return []
    return [f"python:   {name} is not on this machine, so it was not tried"]


def python_of_nodes(python: str) -> str:
    """Which Python a site's nodes use, for a person; ``python`` as the user gave it."""
    name = python.strip() or default_python()
    words = name[len(_ENV) :] if name.startswith(_ENV) else name
    where = words if words.startswith("/") else f"the {words} of their PATH"
    try:
        here = f"Python {_shown(_version(name.split()))} on this machine"
    except UsageError:
        here = "which is not on this machine"
    return f"jobs use {where}, {here}; it must be {_OLDEST} or newer on the nodes"


def _is_here(name: str) -> bool:
    return name.startswith("/") and is_there(name)


def _version(command: list[str]) -> tuple[int, int]:
    """Raises UsageError if ``command`` does not start as a Python."""
    from pegasus_bb.core.process import ask  # the system's own Python is not tried

    done = ask([*command, "-E", "-S", "-c", _VERSION], timeout=20)
    found = re.fullmatch(r"(\d+) (\d+)", done.out.strip())
    if done.status or found is None:
        raise UsageError(f"does not start as a Python: {_last_line(done)}")
    return int(found[1]), int(found[2])


def _shown(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _last_line(done: Finished) -> str:
    last = (done.err.strip() or done.out.strip()).splitlines()[-1:]
    return last[0][:200] if last else f"no output (exit code {done.status})"
