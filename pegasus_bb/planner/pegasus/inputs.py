"""What the real planner needs beside the passes of rewriting, and the files it reads.

Its parsers stream, want text where YAML would have true, and expand ``${X}`` again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.catalogs import SCRATCH, SOURCES
from pegasus_bb.model.document import Data, Document
from pegasus_bb.model.properties import Properties
from pegasus_bb.planner.blahp import GRID, GUARDED_RELEASE
from pegasus_bb.planner.pegasus.places import programs_on_site, replicas_by_path
from pegasus_bb.rewrite import Inputs
from pegasus_bb.rewrite.edit import Keys, site_index, with_values

PROPERTIES = "pegasus.properties"
WORKFLOW = "workflow.yml"


def for_pegasus(inputs: Inputs, site: str, folder: Path, on_buffer: bool) -> Inputs:
    """``inputs`` as pegasus-plan should read them from ``folder``; ``on_buffer``: all
    jobs share a buffer that only the site's jobs see."""
    inputs = replace(
        inputs,
        sites=in_the_folder(inputs.sites, site),
        workflow=inputs.workflow.with_data(without(inputs.workflow.data)),
        properties=with_catalogs(inputs.properties, folder),
    )
    if not on_buffer:
        return inputs
    return replace(
        inputs,
        sites=with_values(inputs.sites, _local_scratch(inputs, folder)),
        workflow=inputs.workflow.with_data(_workflow(inputs.workflow.data)),
        replicas=inputs.replicas.with_data(replicas_by_path(inputs.replicas.data)),
        transformations=inputs.transformations.with_data(
            programs_on_site(inputs.transformations.data, site)
        ),
    )


def in_the_folder(sites: Document, site: str) -> Document:
    """``sites``, where each Kickstart of ``site`` changes to the run's folder.

    Else HTCondor would change to the planned prefix, which does not exist, before the
    launcher runs. Styles glite and ssh say the same by themselves.
    """
    index = site_index(sites, site)
    change: dict[Keys, str] = {
        ("sites", index, "profiles", "pegasus", "change.dir"): "true"
    }
    profiles = sites.data["sites"][index].get("profiles") or {}
    style = str((profiles.get("pegasus") or {}).get("style")).lower()
    if style in GRID and "periodic_release" not in (profiles.get("condor") or {}):
        at = ("sites", index, "profiles", "condor", "periodic_release")
        change[at] = GUARDED_RELEASE
    return with_values(sites, change)


def with_catalogs(properties: Properties, folder: Path) -> Properties:
    """``properties``, naming the catalogs of ``folder``."""
    added = {
        f"pegasus.catalog.{kind}.file": str(folder / name)
        for kind, (name, _) in SOURCES.items()
    }
    added |= {f"pegasus.catalog.{kind}": "YAML" for kind in SOURCES}
    return properties.with_values(added, "pegasus-bb")


def _local_scratch(inputs: Inputs, folder: Path) -> dict[Keys, list[Any]]:
    """bb_setup and bb_delete run on site local, and pegasus-plan wants a folder for
    them there, which many catalogs do not have."""
    for index, site in enumerate(inputs.sites.data["sites"]):
        known = site.get("directories") or []
        if site["name"] != "local" or any(d.get("type") in SCRATCH for d in known):
            continue
        path = str(folder.parent / "local")
        server = {"url": f"file://{path}", "operation": "all"}
        added = {"type": "sharedScratch", "path": path, "fileServers": [server]}
        return {("sites", index, "directories"): [*known, added]}
    return {}


def _workflow(data: Data) -> Data:
    """Registering only what stays, and staging out only what has to be made."""
    return {**data, "jobs": [_job(job) for job in data["jobs"]]}


def without(data: Data) -> Data:
    """The workflow without catalogs, which are files now."""
    inline = {key for _, key in SOURCES.values()}
    return {key: value for key, value in data.items() if key not in inline}


def _job(job: Data) -> Data:
    """An intermediate file is gone with the buffer: no catalog should point there. A
    checkpoint need not be written: its stage-out could fail, and keep the buffer."""
    uses = job.get("uses")
    if not uses or not any(map(_is_changed, uses)):
        return job
    return {**job, "uses": [_use(use) for use in uses]}


def _is_changed(use: Any) -> bool:
    return use["type"] == "checkpoint" or _is_registered_only(use)


def _use(use: Any) -> Any:
    if use["type"] == "checkpoint":
        return {**use, "stageOut": False, "registerReplica": False}
    return {**use, "registerReplica": False} if _is_registered_only(use) else use


def _is_registered_only(use: Any) -> bool:
    return (
        use["type"] == "output"
        and not use.get("stageOut", True)
        and use.get("registerReplica", True) is True
    )


def files_for_pegasus(inputs: Inputs) -> Iterator[tuple[str, bytes]]:
    """Name -> contents of what pegasus-plan reads, the workflow last."""
    for document, (name, _) in zip(
        (inputs.sites, inputs.replicas, inputs.transformations),
        SOURCES.values(),
        strict=True,
    ):
        yield name, _text(document.data)
    yield PROPERTIES, properties_file(inputs.properties)
    yield WORKFLOW, _text(inputs.workflow.data)


def properties_file(properties: Properties) -> bytes:
    """What stands in the file ``PROPERTIES``."""
    return properties.to_text().encode()


def _text(data: Data) -> bytes:
    r"""JSON, with ``${X}`` as ``\${X}``: what was expanded is not expanded again.

    A line for every entry of a list: pegasus-plan's parser takes half as long again
    where every value has a line of its own.
    """
    pairs = (_json(key) + b": " + _lines(value) for key, value in data.items())
    return (b"{\n" + b",\n".join(pairs) + b"\n}\n").replace(b"${", rb"\${")


def _lines(value: object) -> bytes:
    if not isinstance(value, list) or not value:
        return _json(value)
    return b"[\n" + b",\n".join(map(_json, value)) + b"\n]"


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
