"""Values of the shape that Pegasus wants, or an error with the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
