"""The small files of a submit directory: what tools and people read of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pegasus_bb.model.document import as_json, dump
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.executable import Executable
from pegasus_bb.planner.builtin.names import VERSION, compact, properties_file
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import Decided

_SPECIAL = re.compile(r"[\s\"'\\=]")


def top_files(
    executable: Executable, planning: Decided, context: PlanContext, host: str
) -> Iterator[tuple[str, bytes]]:
    """What stands beside the .dag, by path below the submit directory."""
    name = f"{context.label}-0"
    workflow, catalogs = planning.workflow, planning.catalogs
    yield "workflow.yml", dump(workflow.document.data)
    yield "catalogs/sites.yml", dump(catalogs.sites.document.data)
    yield "catalogs/replicas.yml", dump(catalogs.replicas.document.data)
    yield "catalogs/transformations.yml", dump(catalogs.transformations.document.data)
    yield properties_file(context.uuid), catalogs.properties.to_text().encode()
    yield "braindump.yml", _braindump(executable, workflow, context, host).encode()
    yield f"{name}.cache", "".join(_cache(executable, workflow, context)).encode()
    yield f"{name}.metadata", _metadata(executable, context)
    yield f"{name}.notify", b""


def _braindump(
    executable: Executable, workflow: Workflow, context: PlanContext, host: str
) -> str:
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
        "planner": executable.planner,
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
    return as_json(
        {
            "root_workflow_uuid": context.uuid,
            "workflow_uuid": context.uuid,
            "wf_metadata": {},
            "graph": {"jobs": {name: {} for name in executable.jobs}},
        }
    )
