"""Settings of Pegasus that a planner does not apply, or that Pegasus does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.document import Document, plain
from pegasus_bb.model.pegasus_keys import NAMES, NAMESPACES, ONLY, is_left_out
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.profiles import REAL_PLANNER
from pegasus_bb.planner.rewrite.pass_input import Keys, ProfileSetting

_PEGASUS = "pegasus."


def unknown_settings(given: PlanningInput) -> Iterator[str]:
    """Notes on settings that no planner applies: Pegasus has none of that name."""
    properties = given.catalogs.properties
    for key in _properties(given.catalogs):
        if is_left_out(key[len(_PEGASUS) :]) is None:
            names = [_PEGASUS + name for name in NAMES]
            yield _unknown(f"{properties.origin(key)}: property {key}", key, names)
    for (namespace, name), setting in _profiles_of(given).items():
        what = f"{setting.place}: profile {namespace} {name}"
        if namespace not in NAMESPACES:
            yield _unknown(what, namespace, list(NAMESPACES))
        elif namespace == "pegasus" and is_left_out(name) is None:
            yield _unknown(what, name, NAMES)


def settings_left_out(given: PlanningInput) -> Iterator[str]:
    """A note on settings that the built-in planner does not apply."""
    left = [
        key for key in _properties(given.catalogs) if is_left_out(key[len(_PEGASUS) :])
    ]
    for namespace, name in _profiles_of(given):
        is_ours = namespace == "pegasus"
        if is_left_out(name) if is_ours else NAMESPACES.get(namespace):
            left.append(f"profile {namespace} {name}")
    if left:
        yield f"the built-in planner leaves out {', '.join(left)}"


def check_settings(workflow: Workflow, catalogs: Catalogs, site: str) -> None:
    """Raises CatalogError for a value that the built-in planner does not have, where
    results or the judgement of a task depend on it."""
    properties = catalogs.properties
    profiles = _profiles(workflow, catalogs, catalogs.sites.site(site))
    for name, allowed in ONLY.items():
        mend = f"{allowed[0] if allowed else 'take it out'}, or {REAL_PLANNER}"
        what = f"the built-in planner has no such {name}, which decides about results"
        key = _PEGASUS + name
        setting = profiles.get(("pegasus", name))
        if key in properties and properties[key].strip().lower() not in allowed:
            raise properties.error(key, what, mend)
        if setting is not None and setting.value.strip().lower() not in allowed:
            raise setting.error(what, mend)


def _unknown(what: str, word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, 1)
    mend = f"did you mean {close[0]}?" if close else "it has no effect; take it out"
    return f"{what} is not known to Pegasus 5: {mend}"


def _properties(catalogs: Catalogs) -> list[str]:
    return [key for key in catalogs.properties if key.startswith(_PEGASUS)]


def _profiles_of(given: PlanningInput) -> dict[tuple[str, str], ProfileSetting]:
    return _profiles(given.workflow, given.catalogs, given.site)


def _profiles(
    workflow: Workflow, catalogs: Catalogs, site: Site
) -> dict[tuple[str, str], ProfileSetting]:
    """Namespace and name of each profile that a task may have -> its first setting."""
    programs = catalogs.transformations.document
    found: dict[tuple[str, str], ProfileSetting] = {}
    at: Keys = ("sites", site.index)
    _add(found, catalogs.sites.document, at, site.data)
    for index, entry in enumerate(programs.data.get("transformations") or ()):
        at = ("transformations", index)
        _add(found, programs, at, entry)
        for place, there in enumerate(entry.get("sites") or ()):
            _add(found, programs, (*at, "sites", place), there)
    for index, entry in enumerate(workflow.document.data["jobs"]):
        if "profiles" in entry:
            _add(found, workflow.document, ("jobs", index), entry)
    return found


def _add(
    found: dict[tuple[str, str], ProfileSetting],
    document: Document,
    at: Keys,
    entry: dict[str, Any],
) -> None:
    for namespace, settings in (entry.get("profiles") or {}).items():
        for name, value in settings.items() if isinstance(settings, dict) else ():
            key = str(namespace).lower(), str(name)
            if key not in found and not key[0].startswith("x-"):
                keys = (*at, "profiles", namespace, name)
                found[key] = ProfileSetting(document, keys, plain(value))
