"""Finds the catalogs of a planning as pegasus-plan does: in the workflow, in a file of
a property, or in the working directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from pegasus_bb.core.files import is_file
from pegasus_bb.model.document import Document, load
from pegasus_bb.model.settings import Properties

# kind -> (file name in the working directory, key in a workflow that carries it)
SOURCES = {
    "site": ("sites.yml", "siteCatalog"),
    "replica": ("replicas.yml", "replicaCatalog"),
    "transformation": ("transformations.yml", "transformationCatalog"),
}
FILE = "pegasus.catalog.{}.file"  # a property


def environment(properties: Mapping[str, str]) -> dict[str, str]:
    """The variables for ``${VAR}``: the environment, and properties ``env.X``
    (GH-2207)."""
    own = {k[4:]: v for k, v in properties.items() if k.startswith("env.")}
    return {**_of_pegasus(), **os.environ, **own}


def _of_pegasus() -> dict[str, str]:
    """What pegasus-plan sets for itself: the folder of its programs."""
    home = os.environ.get("PEGASUS_HOME")
    program = which("pegasus-config", path=f"{home}/bin" if home else None)
    return {"PEGASUS_BIN_DIR": str(Path(program).resolve().parent)} if program else {}


def catalog_document(
    kind: str,
    workflow: Document,
    properties: Properties,
    cwd: Path,
    variables: Mapping[str, str],
) -> Document:
    """The catalog of ``kind``: the part of the workflow, and the file that
    ``properties`` name or else the one in ``cwd``, which has what the workflow does not
    say; empty if there is none. Raises CatalogError."""
    name, key = SOURCES[kind]
    is_carried = key in workflow.data
    file = _file_document(kind, properties, cwd, variables, is_carried=is_carried)
    if not is_carried:
        return file or Document(cwd / name, {"pegasus": "5.0", f"{kind}s": []})
    own = workflow.below(key)
    if file is None:
        return own
    from pegasus_bb.model.merged_catalog import merged  # few workflows have both

    return merged(own, file)


def _file_document(
    kind: str,
    properties: Properties,
    cwd: Path,
    variables: Mapping[str, str],
    *,
    is_carried: bool,
) -> Document | None:
    """The file of the catalog of ``kind``: that of ``properties``, or the one in
    ``cwd``; None if there is none, or if Pegasus does without. Raises CatalogError."""
    if missing_file(kind, properties, cwd, is_carried=is_carried):
        return None
    named = properties.get(FILE.format(kind))
    form = properties.get(f"pegasus.catalog.{kind}", "YAML")
    if (kind, form) == ("replica", "File") and named:
        from pegasus_bb.model.replica_file import load_replicas  # of Pegasus 4

        return load_replicas(cwd / named, variables)
    if form != "YAML":
        from pegasus_bb.model.document_faults import conversion

        raise properties.error(
            f"pegasus.catalog.{kind}",
            f"a {kind} catalog of this form is not supported",
            f"YAML, the form of Pegasus 5: {conversion(kind, named or 'FILE')}",
        )
    path = cwd / (named or SOURCES[kind][0])
    return load(path, variables) if named or is_file(path) else None


def missing_file(
    kind: str, properties: Mapping[str, str], cwd: Path, *, is_carried: bool
) -> Path | None:
    """The file that ``properties`` name as a catalog of ``kind``, if it is not there
    and Pegasus does without: with its own sites, with programs that the workflow
    carries, and with no replicas."""
    is_needed = kind == "transformation" and not is_carried
    path = cwd / properties.get(FILE.format(kind), "")
    if is_needed or FILE.format(kind) not in properties or path.exists():
        return None
    return path
