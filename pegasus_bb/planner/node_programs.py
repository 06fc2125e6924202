"""What nodes need, as far as this machine shows: a Python, Darshan's library, and tools
that fetch inputs."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_there
from pegasus_bb.core.paths import local_path
from pegasus_bb.core.units import abbreviate
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import staged_executables
from pegasus_bb.model.settings import Properties, Settings, property_of
from pegasus_bb.runtime.install import OLDEST_PYTHON, default_python

if TYPE_CHECKING:
    from pegasus_bb.core.process import Finished

_OUR_OWN = ("http", "https")  # runtime/transfers/web.py
_KEY = "pegasus.bb.python"
_ENV = "/usr/bin/env "
_OLDEST = ".".join(map(str, OLDEST_PYTHON))
_WOULD_DO = (
    f"the path of a Python {_OLDEST} or newer, or nothing: then the system's own is"
)
# Valid in Python 2 as well, so that an old Python answers with its version.
_VERSION = "import sys; print('%d %d' % sys.version_info[:2])"
_DARSHAN = property_of("darshan")
_NAME = "libdarshan.so"
_FOLDERS = ("/usr/local/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib")
_TRIAL = "/bin/cat"  # a program that is everywhere, and reads a file
_A_LIBRARY = "the path of a libdarshan.so that was built without MPI, auto, or off"
_PLAIN = re.compile(r"[^\s:]+")  # ld.so takes blanks and colons for the next library


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


def untested_notes(settings: Settings) -> Iterator[str]:
    """A note on each path of what nodes need that is not on this machine."""
    python = settings.python.strip()
    for what, name in (("python: ", python), ("darshan:", settings.darshan)):
        if name.startswith("/") and not is_there(name) and not name.startswith(_ENV):
            yield f"{what}  {name} is not on this machine, so it was not tried"


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


def check_darshan(properties: Properties, setting: str) -> str:
    """The library that ``setting`` (off, auto or a path) selects; empty: none.

    A path that exists only on compute nodes is not tested, as with a Python. Raises
    CatalogError if the library does not work on this machine.
    """
    if setting == "off":
        return ""
    if setting == "auto":
        return next((path for path in _candidates() if not darshan_fault(path)), "")
    if not setting.startswith("/") or not _PLAIN.fullmatch(setting):
        what = "not a full path without blanks and colons"
        raise properties.error(_DARSHAN, what, _A_LIBRARY)
    if is_there(setting) and (why := darshan_fault(setting)):
        raise properties.error(_DARSHAN, f"it does not work here: {why}", _A_LIBRARY)
    return setting


def _candidates() -> Iterator[str]:
    """Libraries on this machine: next to darshan-config, and where the loader looks."""
    config = shutil.which("darshan-config")
    prefix = Path(config).resolve().parent.parent if config else None
    folders = [str(prefix / name) for name in ("lib", "lib64")] if prefix else []
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in dict.fromkeys([*folders, *_FOLDERS]):
        path = Path(folder, _NAME)
        if path.is_absolute() and _PLAIN.fullmatch(str(path)) and path.is_file():
            yield str(path)


def darshan_fault(library: str) -> str:
    """Why ``library`` cannot record a program without MPI; empty if it can.

    A library that was built with MPI may make every program fail.
    """
    from pegasus_bb.core.process import ask  # few runs log their tasks
    from pegasus_bb.runtime.darshan_preload import make_log_folders, with_preload

    with tempfile.TemporaryDirectory(prefix="pegasus-bb-darshan-") as folder:
        make_log_folders(folder)
        file = Path(folder, "read")
        file.write_bytes(b"x")
        environ = with_preload(library, folder, dict(os.environ))
        done = ask([_TRIAL, str(file)], timeout=20.0, env=environ)
        if done.status or done.err.strip():
            lines = done.err.strip().splitlines()
            return lines[-1][:200] if lines else f"exit code {done.status}"
        if not any(Path(folder).rglob("*.darshan")):
            return "it leaves no log where DARSHAN_LOGPATH says"
    return ""


def tools_to_fetch(given: PlanningInput) -> Iterator[str]:
    """A note on inputs, programs and images that another tool than ours fetches, if
    this machine does not have it: the nodes may."""
    far: dict[str, list[str]] = {}  # scheme -> what it brings
    for what, pfns in _wanted(given):
        if not any(map(_has_way, pfns)):
            far.setdefault(_scheme(pfns[0]), []).append(what)
    if not far or _has_pegasus_transfer(given):
        return
    for scheme, names in far.items():
        tools = "scp or pegasus-transfer" if scheme == "scp" else "pegasus-transfer"
        yield (
            f"{abbreviate(names)}: only {tools} fetches {scheme}://, and this machine "
            f"has none: the nodes of site {given.site.name} need it on PATH or in a "
            "PEGASUS_HOME (env profile of the site)"
        )


def _wanted(given: PlanningInput) -> Iterator[tuple[str, list[str]]]:
    """What is brought, and the PFNs of which any will do."""
    replicas = given.catalogs.replicas.replicas
    for lfn in given.graph.consumers:
        known = () if lfn in given.graph.producer else replicas.get(lfn, ())
        if known:
            yield lfn, [replica.pfn for replica in known]
    programs = given.catalogs.transformations
    staged = staged_executables(given.workflow, programs, given.site.name)
    yield from ((lfn, [each.pfn]) for lfn, each in staged.items())


def _has_way(pfn: str) -> bool:
    scheme = _scheme(pfn)
    if scheme == "scp":
        return shutil.which("scp") is not None
    return scheme in _OUR_OWN or local_path(pfn) is not None


def _scheme(pfn: str) -> str:
    return pfn.partition(":")[0].lower()


def _has_pegasus_transfer(given: PlanningInput) -> bool:
    from pegasus_bb.core.process import find_pegasus_transfer  # few files are far

    of_site = given.site.profile("env", "PEGASUS_HOME")
    return bool(of_site) or bool(find_pegasus_transfer(os.environ))
