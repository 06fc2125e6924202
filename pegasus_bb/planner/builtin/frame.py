"""The text of a submit file, with slots for the values that differ between jobs."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from pegasus_bb.model.dag.blahp import GRID
from pegasus_bb.model.dag.quoting import quote_environment
from pegasus_bb.planner.builtin.executable import VERSION, PlannedJob, compact
from pegasus_bb.planner.builtin.profiles import (
    Profiles,
    classad_string,
    requirements,
    whole_number,
)
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.runtime.bbdir import SUBMIT_DIR

_RULE = "#" * 70
_BRINGS = "transfer_input_files"
_RETURNS = "transfer_output_files"
# A job that is held for four hours is removed from the queue, and fails.
_HELD_TOO_LONG = "(JobStatus == 5) && ((CurrentTime - EnteredCurrentStatus) > 14400)"


def frame(
    planned: PlannedJob,
    profiles: Profiles,
    run: RunPlan,
    *,
    keys: Mapping[str, str],
    executable: str,
    directory: str,
    style: str,
) -> str:
    """A submit file with the slots ``%(name)s``, ``files``, ``arguments``,
    ``priority``, ``id``, ``tasks``, ``batch`` (the short name for batch systems),
    ``brought`` and ``returned`` (what comes and goes with a job). Other per cent signs
    are doubled."""
    environment = _environment(planned, profiles, directory, style, run)
    submit_dir = _literal(str(run.submit_dir))
    entries = {
        "error": f"{submit_dir}/%(files)s.err",
        "executable": _literal(executable),
        "log": f"{submit_dir}/{_literal(run.label)}-0.log",
        "notification": "NEVER",
        "output": f"{submit_dir}/%(files)s.out",
        "periodic_release": "False",
        "periodic_remove": _HELD_TOO_LONG,
        "priority": "%(priority)s",
        "submit_event_user_notes": f"pool:{planned.site}",
        "transfer_executable": "false",
        "wf_submit_dir": submit_dir,
        **{key: _literal(value) for key, value in keys.items()},
    }
    if planned.entries is not None or planned.tasks:
        entries["input"] = f"{submit_dir}/%(files)s.in"
    own = {key.lower(): value for key, value in profiles.get("condor", {}).items()}
    own = {key: _literal(value) for key, value in own.items()}
    if run.jobs_travel and not planned.on_submit_host:
        entries[_RETURNS] = "%(returned)s"
        if run.files_travel and own.get(_RETURNS):
            own[_RETURNS] = f"%(returned)s, {own[_RETURNS]}"
        more = _from_submit_dir(own.get(_BRINGS, ""), submit_dir)
        own[_BRINGS] = f"%(brought)s, {more}" if more else "%(brought)s"
    if style == "local":  # universe and files are the submit host's own
        own = {key: own[key] for key in own if key.startswith("periodic_")}
    lines = [
        *_head(run),
        *environment,
        "arguments = %(arguments)s",
        *(f"{key} = {value}" for key, value in sorted({**entries, **own}.items())),
        *_attributes(planned, profiles, run),
        "queue",
        _RULE,
        "# END OF SUBMIT FILE",
        _RULE,
        "",
    ]
    return "\n".join(lines)


def _from_submit_dir(names: str, submit_dir: str) -> str:
    """A user's list of files with full paths: the others count from scratch."""
    listed = filter(None, map(str.strip, names.split(",")))
    return ", ".join(posixpath.join(submit_dir, name) for name in listed)


def _head(run: RunPlan) -> list[str]:
    return [
        _RULE,
        "# PEGASUS-BB GENERATED SUBMIT FILE",
        f"# DAG : {_literal(run.label)}, Index = 0, Count = null",
        "# SUBMIT FILE NAME : %(name)s.sub",
        _RULE,
        "stream_error  = false",
        "stream_output = false",
    ]


def _environment(
    planned: PlannedJob,
    profiles: Profiles,
    directory: str,
    style: str,
    run: RunPlan,
) -> list[str]:
    """The variables that Pegasus sets; batch systems get them in
    +remote_environment."""
    variables = {
        "PEGASUS_WF_UUID": run.uuid,
        "PEGASUS_WF_LABEL": run.label,
        "PEGASUS_SITE": planned.site,
    }
    if planned.detached:
        variables["_PEGASUS_WF_SUBMIT_DIR"] = str(run.submit_dir)
    else:
        variables["PEGASUS_SCRATCH_DIR"] = directory
    if run.jobs_travel and not planned.on_submit_host:
        variables[SUBMIT_DIR] = str(run.submit_dir)
    queue = profiles.get("pegasus", {}).get("queue")
    if style in GRID and queue:
        variables["PEGASUS_QUEUE"] = queue
    user = dict(sorted(profiles.get("env", {}).items()))
    fixed = _literal(quote_environment({**user, **variables})[1:-1])
    text = f"{fixed} PEGASUS_DAG_JOB_ID=%(name)s CONDOR_JOBID=$(cluster).$(process)"
    if style not in GRID:
        return [f'environment = "{text}"']
    remote = classad_string(text.replace('""', '"'))
    needs = _literal(requirements(profiles))
    return [
        'environment = ""',
        '+remote_cerequirements = JOBNAME=="%(batch)s" && PASSENV==1 && '
        f"PRIORITY==%(priority)s{needs}",
        f"+remote_environment = {remote}",
    ]


def _attributes(planned: PlannedJob, profiles: Profiles, run: RunPlan) -> list[str]:
    pegasus = profiles.get("pegasus", {})
    uuid = classad_string(run.uuid)
    texts = {
        "generator": '"pegasus-bb"',
        "root_wf_uuid": uuid,
        "wf_uuid": uuid,
        "version": classad_string(VERSION),
        "wf_name": classad_string(f"{run.label}-0"),
        "wf_time": classad_string(compact(run.timestamp)),
        "wf_xformation": classad_string(planned.program.transformation),
    }
    numbers = {
        "job_class": str(planned.role.job_class),
        "site": classad_string(planned.site),
        "job_runtime": str(whole_number(pegasus.get("runtime", "0"), "runtime")),
        "cores": str(whole_number(pegasus.get("cores", "1"), "cores")),
        "gpus": str(whole_number(pegasus.get("gpus", "1"), "gpus")),
    }
    return [
        *(f"+pegasus_{key} = {_literal(value)}" for key, value in texts.items()),
        '+pegasus_wf_dax_job_id = "%(id)s"',
        '+pegasus_wf_dag_job_id = "%(name)s"',
        *(f"+pegasus_{key} = {_literal(value)}" for key, value in numbers.items()),
        "+pegasus_cluster_size = %(tasks)s",
    ]


def _literal(text: str) -> str:
    return text.replace("%", "%%")
