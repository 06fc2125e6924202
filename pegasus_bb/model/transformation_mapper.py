"""The property pegasus.catalog.transformation.mapper: which programs of the catalog a
plan may take. All that it has, if nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Document
from pegasus_bb.model.transformations import MAPPER, TransformationCatalog

_PEGASUS = "pegasus"  # the namespace of the planner's own programs: any mapper


def mapped(
    catalog: TransformationCatalog, properties: Mapping[str, str]
) -> TransformationCatalog:
    """Return ``catalog`` with the programs that the mapper of ``properties`` takes."""
    mapper = mapper_of(properties)
    taken = {}
    for name, known in catalog.transformations.items():
        programs = known.executables
        if known.namespace != _PEGASUS:
            programs = tuple(e for e in programs if _is_taken(mapper, e.site, e.kind))
        taken[name] = replace(known, executables=programs)
    return replace(catalog, transformations=taken)


def mapped_document(document: Document, properties: Mapping[str, str]) -> Document:
    """Return the same of a catalog as it is written; programs on no site are gone."""
    mapper = mapper_of(properties)
    entries = document.data.get("transformations") or ()
    left = [{**entry, "sites": _sites(entry, mapper)} for entry in entries]
    kept = [entry for entry in left if entry["sites"]]
    return document.with_data({**document.data, "transformations": kept})


def mapper_of(properties: Mapping[str, str]) -> str:
    return properties.get(MAPPER, "all").strip().lower()


def _sites(entry: Mapping[str, Any], mapper: str) -> list[Any]:
    sites = list(entry.get("sites") or ())
    if entry.get("namespace") == _PEGASUS:
        return sites
    kind = "installed"  # if the catalog does not say
    return [s for s in sites if _is_taken(mapper, s["name"], s.get("type", kind))]


def _is_taken(mapper: str, site: str, kind: str) -> bool:
    """Any mapper takes bb_setup, which is installed on site local."""
    if mapper == "staged":
        return kind == "stageable" or site == LOCAL
    if mapper == "installed":
        return kind == "installed"
    return mapper != "submit" or site == LOCAL
