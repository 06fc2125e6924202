"""The catalogs and properties of the 1000 Genomes example, through Pegasus.api."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from Pegasus.api import (
    OS,
    Arch,
    Directory,
    File,
    FileServer,
    Operation,
    Properties,
    ReplicaCatalog,
    Site,
    SiteCatalog,
    Transformation,
    TransformationCatalog,
)

BIN = Path(__file__).resolve().parent / "bin"
TASKS = (
    "individuals",
    "individuals_merge",
    "populations",
    "sifting",
    "mutation_overlap",
    "frequency",
)
GIB = 1024**3
SMALLEST_QUOTA = 8  # GiB


def _directory(kind: object, path: Path) -> Directory:
    server = FileServer(f"file://{path}", Operation.ALL)
    shared = Directory(kind, path, shared_file_system=True)
    return shared.add_file_servers(server)


def write_sites(
    target: Path,
    site: str,
    *,
    scratch: Path,
    results: Path,
    local_scratch: Path,
    pegasus_home: Path | None,
) -> None:
    """Write the submit host and the cluster, whose sharedScratch is on the PFS."""
    local = Site("local", arch=Arch.X86_64, os_type=OS.LINUX)
    local.add_directories(
        _directory(Directory.SHARED_SCRATCH, local_scratch),
        _directory(Directory.LOCAL_STORAGE, results),
    )
    cluster = Site(site, arch=Arch.X86_64, os_type=OS.LINUX)
    cluster.add_directories(_directory(Directory.SHARED_SCRATCH, scratch))
    cluster.add_pegasus_profile(style="condor", data_configuration="sharedfs")
    if pegasus_home is not None:
        cluster.add_env(PEGASUS_HOME=str(pegasus_home))
    SiteCatalog().add_sites(local, cluster).write(str(target))


def add_tier(target: Path, site: str, path: Path, capacity: str, need: int) -> None:
    """Declare a burst buffer for the site; plain Pegasus ignores the key.

    The folder's quota leaves room for twice the workflow's NEED in bytes.
    """
    quota = max(SMALLEST_QUOTA, -(-2 * need // GIB))
    tier = {
        "name": "bb",
        "backend": "directory",
        "path": str(path),
        "quota": f"{quota}GiB",
        "granularity": "4MiB",
        "access": "striped",
        "capacity": capacity,
        "intermediate": "bb",
        "inputs": "stage",
        "outputs": "bb",
    }
    with target.open("a", encoding="utf-8") as file:
        yaml.safe_dump({"x-storage-tiers": {site: [tier]}}, file, sort_keys=False)


def write_transformations(target: Path, site: str) -> None:
    """Write the tasks: installed on the site, where this checkout is visible."""
    catalog = TransformationCatalog()
    for task in TASKS:
        pfn = str(BIN / f"{task}.py")
        catalog.add_transformations(
            Transformation(task, site=site, pfn=pfn, is_stageable=False)
        )
    catalog.write(str(target))


def write_replicas(target: Path, site: str, inputs: Mapping[File, Path]) -> None:
    """Write where the inputs are: on the PFS of the site."""
    catalog = ReplicaCatalog()
    for file, path in inputs.items():
        catalog.add_replica(site, file, str(path))
    catalog.write(str(target))


def write_properties(target: Path) -> None:
    """Write the properties, naming the catalogs: plan from any working directory."""
    properties = Properties()
    properties["pegasus.data.configuration"] = "sharedfs"
    properties["pegasus.transfer.links"] = "true"
    for catalog, name in (
        ("site", "sites.yml"),
        ("replica", "replicas.yml"),
        ("transformation", "transformations.yml"),
    ):
        properties[f"pegasus.catalog.{catalog}.file"] = str(target.parent / name)
    properties.write(str(target))
