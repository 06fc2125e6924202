"""Profiles of every source merged into what one job gets.

The order is properties, site, transformation, job: the nearer to the job, the stronger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pegasus_bb.errors import CatalogError
from pegasus_bb.planner.builtin.checks import plain_text, short_enough
from pegasus_bb.planner.builtin.executable import Profiles

_KEY = re.compile(r"[A-Za-z0-9._+-]+")
# Ours to set: a profile that changed them would run something else, or lose a log.
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
# With these a line begins that is no setting.
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
)


def merge(*sources: Mapping[str, Any]) -> Profiles:
    """Later sources win, key by key. Raises CatalogError for what cannot be kept."""
    merged: dict[str, dict[str, str]] = {}
    for source in sources:
        for namespace, entries in source.items():
            into = merged.setdefault(str(namespace).lower(), {})
            into.update(_checked(str(namespace).lower(), entries))
    return merged


def of_properties(properties: Mapping[str, str]) -> Profiles:
    """Profiles that hold for every job: condor.X, dagman.X, env.X, pegasus.cores."""
    found: dict[str, dict[str, str]] = {}
    for key, value in properties.items():
        namespace, _, name = key.partition(".")
        known = namespace in ("condor", "env") or (
            namespace == "pegasus" and name in _PEGASUS_PROPERTIES
        )
        if (known and name) or key.lower() == "dagman.retry":
            found.setdefault(namespace, {})[name] = value
    return found


def _checked(namespace: str, entries: Any) -> dict[str, str]:
    if not isinstance(entries, Mapping):
        raise CatalogError(
            f"profiles of namespace {namespace} are keys and values",
            found=repr(entries),
        )
    plain: dict[str, str] = {}
    for key, value in entries.items():
        name = str(key)
        if namespace == "dagman":
            name = name.upper()
        text = str(value).lower() if isinstance(value, bool) else str(value)
        plain[name] = plain_text(text, f"the profile {namespace} {name}")
        if namespace == "condor":
            _check_condor(name)
        if namespace == "env":
            short_enough(f"{name}={text}", f"the environment variable {name}")
    return plain


def _check_condor(key: str) -> None:
    if _KEY.fullmatch(key) is None:
        raise CatalogError(
            "a condor profile becomes a line of a submit file",
            key=key,
            found=repr(key),
            would_do="a key of letters, digits and ._+-",
        )
    if key.lower() in _KEYWORDS:
        raise CatalogError(
            f"the condor profile {key} is a word of the language of submit files",
            key=key,
            would_do="remove it, or write it as an attribute: +" + key,
        )
    if key.lower() in _RESERVED:
        raise CatalogError(
            f"the condor profile {key} is set by the planner and cannot be changed",
            key=key,
            would_do="remove it; a task's own settings go to env or arguments",
        )
