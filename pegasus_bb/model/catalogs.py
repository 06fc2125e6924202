"""All catalogs of a planning, found where pegasus-plan finds them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.document import Document, load
from pegasus_bb.model.properties import Properties
from pegasus_bb.model.replicas import ReplicaCatalog, read_replicas
from pegasus_bb.model.sites import SiteCatalog, read_sites
from pegasus_bb.model.tiers import Tier, read_tiers
from pegasus_bb.model.transformations import (
    TransformationCatalog,
    read_transformations,
)

# kind -> (file name in the working directory, key in a workflow that carries it)
SOURCES = {
    "site": ("sites.yml", "siteCatalog"),
    "replica": ("replicas.yml", "replicaCatalog"),
    "transformation": ("transformations.yml", "transformationCatalog"),
}


@dataclass(frozen=True)
class Catalogs:
    """What pegasus-plan would read beside the workflow."""

    properties: Properties
    sites: SiteCatalog
    replicas: ReplicaCatalog
    transformations: TransformationCatalog
    tiers: dict[str, list[Tier]]  # by site


def load_inputs(
    workflow_file: Path,
    properties: Properties,
    cwd: Path,
    input_dirs: Sequence[Path] = (),
) -> tuple[Document, Catalogs]:
    """The abstract workflow, as it stands in its file, and its catalogs. Raises
    CatalogError and UsageError."""
    variables = environment(properties)
    workflow = load(workflow_file, variables)
    documents = {
        kind: _document(kind, workflow, properties, cwd, variables) for kind in SOURCES
    }
    sites = read_sites(documents["site"])
    replicas = read_replicas(documents["replica"])
    for folder in reversed(input_dirs):
        if not folder.is_dir():
            raise UsageError(f"--input-dir {folder}: there is no such folder")
        replicas = replicas.with_directory(folder)
    return workflow, Catalogs(
        properties,
        sites,
        replicas,
        read_transformations(documents["transformation"]),
        read_tiers(sites.document, sites.sites),
    )


def declared_tiers(properties: Properties, cwd: Path) -> dict[str, list[Tier]]:
    """Tiers by site, without a look at the workflow, which may carry a catalog of its
    own. Raises CatalogError."""
    nothing = Document(cwd, {})
    sites = _document("site", nothing, properties, cwd, environment(properties))
    return read_tiers(sites, read_sites(sites).sites)


def environment(properties: Mapping[str, str]) -> dict[str, str]:
    """What ``${VAR}`` can name: the environment, and properties ``env.X`` (GH-2207)."""
    own = {k[4:]: v for k, v in properties.items() if k.startswith("env.")}
    return {**os.environ, **own}


def _document(
    kind: str,
    workflow: Document,
    properties: Properties,
    cwd: Path,
    variables: Mapping[str, str],
) -> Document:
    name, key = SOURCES[kind]
    said = f"pegasus.catalog.{kind}.file"
    form = properties.get(f"pegasus.catalog.{kind}", "YAML")
    if form != "YAML":
        raise properties.error(
            f"pegasus.catalog.{kind}",
            f"a {kind} catalog of this form is not supported",
            "YAML, the form of Pegasus 5",
        )
    if said in properties:
        return load(cwd / properties[said], variables)
    if key in workflow.data:
        return workflow.below(key)
    if (cwd / name).is_file():
        return load(cwd / name, variables)
    if kind == "replica":
        return Document(cwd / name, {"pegasus": "5.0", "replicas": []})
    raise CatalogError(
        f"there is no {kind} catalog",
        file=str(cwd / name),
        key=said,
        would_do=f"put {name} there, or say -D{said}=FILE",
    )
