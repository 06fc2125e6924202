"""Values of the shape that Pegasus wants, or an error with the place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.document import Document, Key


def list_under(
    document: Document, entry: Mapping[str, Any], key: str, at: Sequence[Key]
) -> list[Any]:
    """The list under ``key``, empty where there is none. Raises CatalogError."""
    value = entry.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise document.error(f"{key} are a list", [*at, key], value)
    return value


def mapping_under(
    document: Document, entry: Mapping[str, Any], key: str, at: Sequence[Key]
) -> dict[str, Any]:
    """The mapping under ``key``, empty where there is none. Raises CatalogError."""
    value = entry.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise document.error(f"{key} is a mapping of keys to values", [*at, key], value)
    return value


def profiles_under(
    document: Document, entry: Mapping[str, Any], at: Sequence[Key]
) -> dict[str, Any]:
    """The profiles: namespace -> key -> value. Raises CatalogError."""
    profiles = entry.get("profiles")
    if profiles is None:
        return {}
    if not isinstance(profiles, dict) or not all(
        isinstance(below, dict) for below in profiles.values()
    ):
        raise document.error(
            "profiles are a mapping of namespaces to keys and values",
            [*at, "profiles"],
            profiles,
            "profiles: {pegasus: {runtime: 60}}",
        )
    return profiles


def unknown_key(
    document: Document,
    entry: Mapping[Any, Any],
    known: Collection[str],
    what: str,
    at: Sequence[Key],
) -> CatalogError:
    """About the first key of ``entry`` that is not ``known``."""
    key = next(key for key in entry if key not in known)
    close = get_close_matches(str(key), known, 1)
    would_do = f"did you mean {close[0]}?" if close else f"one of {', '.join(known)}"
    return document.error(f"{what} has no such key", [*at, str(key)], key, would_do)
