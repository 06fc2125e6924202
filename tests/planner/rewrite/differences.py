"""What differs between two nested values, key by key: all else is the same."""

from __future__ import annotations

from typing import Any

from pegasus_bb.planner.rewrite.pass_input import Inputs

GONE = "(gone)"


def differences(before: Any, after: Any, at: str = "") -> dict[str, Any]:
    """Path -> new value, for every value that is new, other or gone."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        pairs = [(f"{at}/{k}", before.get(k, GONE), after.get(k, GONE)) for k in keys]
    elif isinstance(before, list) and isinstance(after, list):
        length = max(len(before), len(after))
        old, new = ([*x, *[GONE] * (length - len(x))] for x in (before, after))
        pairs = [(f"{at}/{i}", old[i], new[i]) for i in range(length)]
    else:
        return {} if before == after else {at: after}
    found: dict[str, Any] = {}
    for path, was, now in pairs:
        found.update(differences(was, now, path))
    return found


def changed(before: Inputs, after: Inputs) -> dict[str, Any]:
    """The same over a whole planning: paths begin with the document's name."""
    found: dict[str, Any] = {}
    for name in ("workflow", "sites", "replicas", "transformations"):
        old = getattr(before, name)
        new = getattr(after, name)
        assert (new.path, new.text, new.root) == (old.path, old.text, old.root)
        found.update(differences(old.data, new.data, name))
    old_properties = dict(before.properties)
    new_properties = dict(after.properties)
    found.update(differences(old_properties, new_properties, "properties"))
    return found
