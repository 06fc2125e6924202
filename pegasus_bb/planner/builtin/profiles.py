"""Merges the profiles of a job, and turns them into lines of its submit file.

The order is properties, site, transformation, job; later ones win.
A style is how a job reaches its site: condor (a pool), glite and ssh (a batch system).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pegasus_bb.core.errors import UnplacedError, UsageError
from pegasus_bb.core.text import WOULD_DO, is_plain
from pegasus_bb.model.catalogs import Site
from pegasus_bb.model.dag.blahp import GRID, GUARDED_RELEASE, PERIODIC_RELEASE
from pegasus_bb.model.dag.quoting import quote_environment
from pegasus_bb.model.document import plain

# namespace -> key -> value, merged from every source and checked
Profiles = Mapping[str, Mapping[str, str]]
At: TypeAlias = Sequence[str | int]  # keys from an entry of a catalog to a value

REAL_PLANNER = "plan this workflow with a real pegasus-plan"
# Linux's MAX_ARG_STRLEN, with the NUL at the end: no process can be started with more.
_LONGEST_WORD = 128 * 1024 - 1  # bytes
_MANY = _LONGEST_WORD // 4  # characters; UTF-8 has no more than 4 bytes each
_KEY = re.compile(r"[A-Za-z0-9._+-]+")
# Set by the planner: a profile with them would run another program, or lose a log.
_RESERVED = {
    "arguments",
    "environment",
    "error",
    "executable",
    "initialdir",
    "input",
    "log",
    "output",
    "queue",
    "transfer_executable",
}
# Words that begin a line that is no setting.
_KEYWORDS = {"elif", "else", "endif", "if", "include", "use", "warning"}
# Of the properties only these are profiles of namespace pegasus.
_PEGASUS_PROPERTIES = (
    "cores",
    "nodes",
    "ppn",
    "gpus",
    "memory",
    "diskspace",
    "runtime",
    "queue",
    "project",
    "glite.arguments",
    "gridstart.launcher",
    "gridstart.launcher.arguments",
    "style",
)
_REQUESTS = {
    "cores": "request_cpus",
    "memory": "request_memory",
    "gpus": "request_gpus",
    "diskspace": "request_disk",
}
# pegasus profile -> key of +remote_cerequirements, whole numbers and words
_NUMBERS = {"cores": "CORES", "nodes": "NODES", "ppn": "PROCS"}
_WORDS = {
    "memory": "TOTAL_MEMORY",
    "project": "PROJECT",
    "glite.arguments": "EXTRA_ARGUMENTS",
}
_JOB_NAME = re.compile(r"[-_]")


def merge(*sources: Mapping[str, Any]) -> Profiles:
    """Merge by key; later sources win. Raises UnplacedError for an invalid profile."""
    merged: dict[str, dict[str, str]] = {}
    for source in sources:
        for namespace, entries in source.items():
            into = merged.setdefault(str(namespace).lower(), {})
            into.update(_checked(str(namespace).lower(), entries))
    return merged


def of_properties(properties: Mapping[str, str]) -> Profiles:
    """Profiles of every job from properties: condor.X, dagman.X, env.X,
    pegasus.cores."""
    profiles: dict[str, dict[str, str]] = {}
    for key, value in properties.items():
        namespace, _, name = key.partition(".")
        known = namespace in ("condor", "env") or (
            namespace == "pegasus" and name in _PEGASUS_PROPERTIES
        )
        if (known and name) or key.lower() == "dagman.retry":
            profiles.setdefault(namespace, {})[name] = value
    return profiles


def _checked(namespace: str, entries: Any) -> dict[str, str]:
    if not isinstance(entries, Mapping):
        raise UnplacedError(
            f"profiles of namespace {namespace} are keys and values",
            ("profiles", namespace),
            repr(entries),
            f"{namespace}: {{key: value}}",
        )
    checked: dict[str, str] = {}
    for key, value in entries.items():
        name = str(key)
        at = ("profiles", namespace, str(key))
        if namespace == "dagman":
            name = name.upper()
        checked[name] = plain_text(plain(value), f"the profile {namespace} {name}", at)
        if namespace == "condor":
            _check_condor(name, at)
        if namespace == "env":
            _check_variable(name, checked[name], at)
    return checked


def _check_variable(name: str, text: str, at: At) -> None:
    try:
        quote_environment({name: text})
    except UsageError as error:
        raise UnplacedError(
            str(error), at, repr(name), "letters, digits and _"
        ) from error
    short_enough(f"{name}={text}", f"the environment variable {name}", at)


def _check_condor(key: str, at: At) -> None:
    if _KEY.fullmatch(key) is None:
        raise UnplacedError(
            "a condor profile becomes a line of a submit file",
            at,
            repr(key),
            "a key of letters, digits and ._+-",
        )
    if key.lower() in _KEYWORDS:
        raise UnplacedError(
            f"the condor profile {key} is a word of the language of submit files",
            at,
            key,
            "remove it, or write it as an attribute: +" + key,
        )
    if key.lower() in _RESERVED:
        raise UnplacedError(
            f"the condor profile {key} is set by the planner and cannot be changed",
            at,
            key,
            "remove it; a task's own settings go to env or arguments",
        )


def plain_text(text: str, what: str, at: At = ()) -> str:
    """``text``, if it is one line of UTF-8. Raises UnplacedError."""
    if any(c in text for c in "\n\r\0") or not _encodable(text):
        raise UnplacedError(
            f"{what} has a line break or a character that is no text",
            at,
            repr(text),
            "one line of UTF-8 text",
        )
    return text


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def short_enough(text: str, what: str, at: At = ()) -> None:
    """Raises UnplacedError if no process could be started with ``text``."""
    if len(text) > _MANY and len(text.encode()) > _LONGEST_WORD:
        raise UnplacedError(
            f"{what} has more than {_LONGEST_WORD} bytes, the most that Linux starts a "
            "program with",
            at,
            repr(text[:40] + "..."),
            "a file with it as an input of the job",
        )


def style_of(site: Site, profiles: Profiles) -> str:
    """condor | glite | ssh. Raises UnplacedError for any other."""
    style = profiles.get("pegasus", {}).get("style", "condor").lower()
    if style == "condor" or style in GRID:
        return style
    what = f"site {site.name} has a style that the built-in planner does not know"
    mend = f"condor, glite or ssh; or {REAL_PLANNER}"
    raise UnplacedError(what, ("profiles", "pegasus", "style"), style, mend)


def condor_keys(profiles: Profiles) -> dict[str, str]:
    """Submit keys for a job of a pool; with sharedfs the program is there already."""
    pegasus = profiles.get("pegasus", {})
    requests = {
        key: pegasus[name] for name, key in _REQUESTS.items() if name in pegasus
    }
    return {
        "universe": "vanilla",
        "should_transfer_files": "YES",
        "when_to_transfer_output": "ON_EXIT",
        **requests,
    }


def grid_keys(
    site: Site, style: str, profiles: Profiles, role: str, *, guarded: bool
) -> dict[str, str]:
    """Submit keys for a job through blahp; ``guarded``: launch starts it. Raises
    UnplacedError."""
    resource = profiles.get("condor", {}).get("grid_resource")
    if style == "ssh":
        resource = _ssh_resource(site, role)
    if not resource:
        raise UnplacedError(
            f"site {site.name} has style glite, but nothing says which batch system",
            ("profiles", "condor", "grid_resource"),
            would_do="in the site's condor profiles: grid_resource: batch slurm",
        )
    keys = {
        "universe": "grid",
        "grid_resource": resource,
        "periodic_release": GUARDED_RELEASE if guarded else PERIODIC_RELEASE,
    }
    queue = profiles.get("pegasus", {}).get("queue")
    return {**keys, "batch_queue": _for_scripts(queue, "queue")} if queue else keys


def requirements(profiles: Profiles) -> str:
    pegasus = profiles.get("pegasus", {})
    parts = [
        f"{key}=={whole_number(pegasus[name], name)}"
        for name, key in _NUMBERS.items()
        if name in pegasus
    ]
    if "runtime" in pegasus:
        minutes = -(-whole_number(pegasus["runtime"], "runtime") // 60)
        parts.append(f'WALLTIME=="{minutes // 60:02d}:{minutes % 60:02d}:00"')
    for name, key in _WORDS.items():
        if name in pegasus:
            parts.append(f'{key}=="{_for_scripts(pegasus[name], name)}"')
    return "".join(f" && {part}" for part in parts)


def batch_name(node: str) -> str:
    """JOBNAME: no - and _, at most 15 characters."""
    return _JOB_NAME.sub("", node)[:15]


def classad_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _for_scripts(text: str, key: str) -> str:
    """``text`` without blanks at its ends, which say nothing. Raises UnplacedError."""
    text = text.strip(" ")
    if not is_plain(text):
        raise UnplacedError(
            "this goes through the shell scripts of the batch system, which would "
            "read more than a text in it",
            ("profiles", "pegasus", key),
            repr(text),
            WOULD_DO,
        )
    return text


def whole_number(text: str, key: str) -> int:
    """Blanks at the ends say nothing. Raises UnplacedError."""
    text = text.strip(" ")
    if not text.isascii() or not text.isdigit():
        at = ("profiles", "pegasus", key)
        raise UnplacedError(f"{key} is a whole number", at, repr(text), f"{key}: 60")
    return int(text)


def _ssh_resource(site: Site, role: str) -> str:
    grids: list[Mapping[str, Any]] = site.data.get("grids") or []
    wanted = [g for g in grids if g.get("jobtype") == role] or grids
    if not wanted or not wanted[0].get("contact") or not wanted[0].get("scheduler"):
        raise UnplacedError(
            f"site {site.name} has style ssh, but no grid with contact and scheduler",
            ("grids",),
            would_do="- type: batch, contact: user@host, scheduler: slurm, "
            "jobtype: compute",
        )
    kind = str(wanted[0].get("type", "batch"))
    grid = wanted[0]
    words = f"{kind} {str(grid['scheduler']).lower()} {grid['contact']}"
    return plain_text(words, f"the grid of site {site.name}", ("grids",))
