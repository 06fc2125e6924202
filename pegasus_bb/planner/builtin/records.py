"""The small files of a submit directory: what tools and people read of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import dump
from pegasus_bb.model.propertyfile import format_properties
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.bbjson import placement_json
from pegasus_bb.planner.builtin.executable import Executable
from pegasus_bb.planner.builtin.names import VERSION, compact, properties_file
from pegasus_bb.planner.context import PlanContext, predicted_as_json
from pegasus_bb.planner.seal import PHASES, phases_json

PLANNER = "pegasus-bb built-in"
_SPECIAL = re.compile(r"[\s\"'\\=]")


def top_files(
    executable: Executable,
    workflow: Workflow,
    catalogs: Catalogs,
    context: PlanContext,
    host: str,
) -> Iterator[tuple[str, bytes]]:
    """What stands beside the .dag, by path below the submit directory."""
    name = f"{context.label}-0"
    yield "workflow.yml", dump(workflow.document.data)
    yield "catalogs/sites.yml", dump(catalogs.sites.document.data)
    yield "catalogs/replicas.yml", dump(catalogs.replicas.document.data)
    yield "catalogs/transformations.yml", dump(catalogs.transformations.document.data)
    properties = format_properties(catalogs.properties)
    yield properties_file(context.uuid), properties.encode()
    yield "braindump.yml", _braindump(workflow, context, host).encode()
    yield f"{name}.cache", "".join(_cache(executable, workflow, context)).encode()
    yield f"{name}.metadata", _metadata(executable, context)
    yield f"{name}.notify", b""


def bb_files(
    executable: Executable,
    context: PlanContext,
    pfs_scratch: str,
    links: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[str, bytes]]:
    """What the run's own programs read, by path below the submit directory."""
    plan = {
        "version": 1,
        "mode": context.mode,
        "planner": PLANNER,
        "site": context.site,
        "tier": context.tier,
        "label": context.label,
        "dag": f"{context.label}-0.dag",
        "scratch": executable.scratch,
        "uuid": context.uuid,
        **predicted_as_json(context),
    }
    yield "bb/plan.json", _json(plan)
    if context.request is None or context.placement is None:
        return
    yield "bb/request.json", _json(context.request.to_json())
    yield (
        "bb/placement.json",
        placement_json(
            context.placement,
            context.request.prefix,
            executable.scratch,
            pfs_scratch,
            executable.outputs,
        ),
    )
    if executable.phases is not None:
        yield f"bb/{PHASES}", _json(phases_json(executable.phases))
    if links:
        for planned in executable.jobs.values():
            if planned.job is not None and planned.job.id in links:
                text = _json(dict(links[planned.job.id]))
                yield f"bb/links/{planned.name}.json", text


def _json(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _braindump(workflow: Workflow, context: PlanContext, host: str) -> str:
    name = f"{context.label}-0"
    values = {
        "user": context.user,
        "grid_dn": None,
        "submit_hostname": host,
        "root_wf_uuid": context.uuid,
        "wf_uuid": context.uuid,
        "dax": str(workflow.document.path),
        "dax_label": context.label,
        "dax_index": "0",
        "dax_version": str(workflow.document.data.get("pegasus", "5.0")),
        "pegasus_wf_name": name,
        "timestamp": compact(context.timestamp),
        "basedir": str(context.base_dir),
        "submit_dir": str(context.submit_dir),
        "planner": PLANNER,
        "planner_version": VERSION,
        "pegasus_build": VERSION,
        "planner_arguments": " ".join(context.arguments),
        "jsd": "jobstate.log",
        "rundir": context.submit_dir.name,
        "bindir": str(context.bin),
        "vogroup": "pegasus",
        "uses_pmc": "false",
        "properties": properties_file(context.uuid),
        "condor_log": f"{name}.log",
        "dag": f"{name}.dag",
        "type": "dag",
        "notify": f"{name}.notify",
    }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def _cache(
    executable: Executable, workflow: Workflow, context: PlanContext
) -> Iterator[str]:
    """Where in scratch each file is while the workflow runs."""
    lfns = {use.lfn: None for job in workflow.jobs.values() for use in job.uses}
    scratch, rest = f"file://{executable.scratch}/", f'site="{context.site}"\n'
    for lfn in lfns:
        yield f"{_word(lfn)} {_word(scratch + lfn)} {rest}"


def _word(text: str) -> str:
    if _SPECIAL.search(text) is None:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _metadata(executable: Executable, context: PlanContext) -> bytes:
    return _json(
        {
            "root_workflow_uuid": context.uuid,
            "workflow_uuid": context.uuid,
            "wf_metadata": {},
            "graph": {"jobs": {name: {} for name in executable.jobs}},
        }
    )
