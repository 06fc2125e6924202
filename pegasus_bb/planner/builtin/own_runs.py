"""Sub-workflows (pegasusWorkflow), each planned at its turn as a run of its own.

Its node runs bin/sub_workflow on the submit host, with what is written here: the
options of its planning, its inputs, and the files that other jobs want of it. Files go
both ways through bb/exchange of the outer run, on the PFS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalog_files import SOURCES
from pegasus_bb.model.catalogs import Catalogs, Replica
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import as_json
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.settings import PREFIX, Properties
from pegasus_bb.model.workflow import OWN_RUN, Job, Workflow
from pegasus_bb.planner.builtin.argument_words import task_words
from pegasus_bb.planner.builtin.auxiliary import replicas_of
from pegasus_bb.planner.builtin.executable import (
    COMPUTE,
    BuiltInExecutable,
    Draft,
    PlannedJob,
    Program,
)
from pegasus_bb.planner.builtin.planner_limits import unsupported
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.runfiles import File

DEEPEST = 20  # workflows inside workflows
_FOLDER = "sub"  # below the submit directory and below bb/
_TRANSFORMATION = "pegasus::pegasus-plan"
_PROPERTIES = "pegasus.properties"
_CATALOG_PROPERTIES = tuple(f"pegasus.catalog.{kind}" for kind in SOURCES)
# They are about this run's own files and jobs, or come with the site catalog.
_OF_THIS_RUN = (f"{PREFIX}placement", f"{PREFIX}history", f"{PREFIX}tiers")
# pegasus-plan's options in the arguments of a sub-workflow.
_LONG = {
    "-s": "--sites",
    "--output-site": "--output-sites",
    "-o": "--output-sites",
    "-O": "--output-dir",
    "-I": "--input-dir",
    "-C": "--cluster",
    "-t": "--transformations-dir",
    "-d": "--dir",
    "-b": "--basename",
}
_VALUES = {
    "--conf",
    "--sites",
    "--output-sites",
    "--output-dir",
    "--input-dir",
    "--cleanup",
    "--cluster",
    "--staging-site",
    "--transformations-dir",
    "-D",
}
# These name files and folders of the planning, which are below the outer ones here.
_DROPPED_VALUES = {"--dir", "--relative-dir", "--relative-submit-dir", "--basename"}
_DROPPED = {"--force", "-f", "--submit", "-S", "--json", "--quiet", "--verbose"}
Options = dict[str, list[str]]


def run_node(draft: Draft, name: str, job: Job, priority: int) -> PlannedJob:
    """The node of the sub-workflow ``job``. Raises CatalogError."""
    if str(draft.run.submit_dir).count(f"/{_FOLDER}/pegasus-plan_") >= DEEPEST:
        raise draft.workflow.job_error(
            job,
            f"more than {DEEPEST} workflows inside each other",
            job.name,
            "a workflow that does not name itself",
        )
    program = Program(_TRANSFORMATION, f"{draft.run.bin}/sub_workflow")
    node = PlannedJob(name, COMPUTE, LOCAL, program, priority, job)
    node.profiles = job.profiles
    node.arguments = (name,)
    node.on_submit_host = node.detached = True
    return node


def run_notes(draft: Draft) -> list[str]:
    number = len(draft.runs)
    inner = "1 sub-workflow is" if number == 1 else f"{number} sub-workflows are"
    return [
        f"{inner} planned when the turn comes, as a run of its own below "
        f"{draft.run.submit_dir / _FOLDER}"
    ]


def planned_runs(draft: Draft) -> dict[str, dict[str, Any]]:
    """What bin/sub_workflow has to know, by node. Raises CatalogError."""
    wanted = {
        use.lfn
        for job in draft.workflow
        for use in (*job.inputs(), *job.passed)
        if use.kind == "input"
    }
    return {
        name: _planned(draft, name, job, wanted) for name, job in draft.runs.items()
    }


def _planned(draft: Draft, name: str, job: Job, wanted: set[str]) -> dict[str, Any]:
    inputs = dict(_inputs(draft, job))
    made = [use.lfn for use in job.passed if use.kind == "output"]
    options = _options(draft, job)
    for option in ("--conf", "--input-dir"):
        words = options.get(option, [])
        words[:] = [_place(draft.run, inputs, word) for word in words]
    folders = options.get("--output-dir", [])
    folders[:] = [str(draft.run.cwd / word) for word in folders]
    conf = options.pop("--conf", [""])[-1]
    _inherit(draft, options, has_outputs=bool(made))
    folder = draft.run.submit_dir / _FOLDER / name
    words = ["--dir", str(folder), "--relative-submit-dir", "run"]
    for option, values in options.items():
        for value in values:
            words += [option, value]
    return {
        "version": 1,
        "command": [sys.executable, "-m", "pegasus_bb"],
        "workflow": str(job.data.get("file", job.name)),
        "folder": str(folder),
        "conf": conf,
        "options": words,
        "catalogs": [kind for kind in SOURCES if f"{kind}s.yml" not in inputs],
        "inputs": inputs,
        "outputs": [lfn for lfn in made if lfn in wanted],
    }


def _inputs(draft: Draft, job: Job) -> Iterator[tuple[str, str]]:
    """Each file that the planning or the jobs of ``job`` read, and its path here."""
    for lfn in _lfns(job):
        if lfn in draft.outputs:
            yield lfn, draft.outputs[lfn]
        elif lfn in draft.from_runs:
            yield lfn, draft.exchanged(lfn)
        else:
            yield lfn, _replica(draft, job, lfn)


def _lfns(job: Job) -> Iterable[str]:
    file = str(job.data.get("file", job.name))
    passed = (use.lfn for use in job.passed if use.kind == "input")
    return dict.fromkeys([file, *passed])


def check_inputs(workflow: Workflow, catalogs: Catalogs, graph: Graph) -> None:
    """Raises CatalogError for a file of a sub-workflow that no job makes and that has
    no replica."""
    made = graph.producer.keys() | workflow.made_by_own_runs
    for job in workflow:
        for lfn in _lfns(job) if job.kind == OWN_RUN else ():
            if lfn not in made:
                _replicas(workflow, catalogs, job, lfn)


def _replicas(
    workflow: Workflow, catalogs: Catalogs, job: Job, lfn: str
) -> Sequence[Replica]:
    needs = f"the sub-workflow {job.id} needs a file"
    return replicas_of(workflow, catalogs.replicas, lfn, needs, ["jobs", job.index])


def _replica(draft: Draft, job: Job, lfn: str) -> str:
    found = _replicas(draft.workflow, draft.catalogs, job, lfn)
    paths = [path for path in (local_path(one.pfn) for one in found) if path]
    if not paths:
        raise draft.catalogs.replicas.error(
            lfn,
            f"the sub-workflow {job.id} reads {lfn!r} on this machine, and none of its "
            "replicas is a file",
            found[0].pfn,
            "a path of it",
        )
    return paths[0]


def _options(draft: Draft, job: Job) -> Options:
    """The options in the arguments of ``job``. Raises CatalogError for those that the
    built-in planner does not have."""
    words = list(task_words(job.arguments, job.id))
    options: Options = {}
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        if word.startswith("-D"):
            option, equals, value = "-D", word[2:], word[2:]
        option = _LONG.get(option, option)
        if option in _DROPPED or option.strip("v") == "-" or option.strip("q") == "-":
            continue
        is_known = option.startswith("--bb-") or option in _VALUES | _DROPPED_VALUES
        if not is_known:
            why = "its arguments have an option that the built-in planner does not have"
            raise unsupported(draft.workflow, job, why, word)
        if not equals:
            if not words:
                why = "an option in its arguments has no value"
                raise unsupported(draft.workflow, job, why, word)
            value = words.pop(0)
        if option not in _DROPPED_VALUES:
            options.setdefault(option, []).append(value)
    return options


def _place(run: RunPlan, inputs: Mapping[str, str], word: str) -> str:
    """The path ``word``: among the inputs of the sub-workflow, else the user's."""
    folder = word.rstrip("/") + "/"
    if word in inputs or any(lfn.startswith(folder) for lfn in inputs):
        return word
    return str(run.cwd / word)


def _inherit(draft: Draft, options: Options, *, has_outputs: bool) -> None:
    """Add what ``options`` do not say: the outer run's."""
    run = draft.run
    options.setdefault(
        "--sites", [f"{run.site},local" if run.may_run_here else run.site]
    )
    options.setdefault("--cleanup", [run.cleanup])
    if run.clusters:
        options.setdefault("--cluster", [",".join(run.clusters)])
    if "--output-sites" not in options and "--output-dir" not in options:
        if run.output_sites:
            options["--output-sites"] = [",".join(run.output_sites)]
        if run.output_dir is not None:
            options["--output-dir"] = [str(run.output_dir)]
        elif not run.output_sites and has_outputs:
            options["--output-dir"] = [draft.exchanged("").rstrip("/")]
    folders = [*options.pop("--input-dir", []), ".", *map(str, run.input_dirs)]
    options["--input-dir"] = [",".join(dict.fromkeys(folders))]
    options["--bb-planner"] = ["builtin"]


def run_specifications(
    executable: BuiltInExecutable, given: PlanningInput, run: RunPlan
) -> Iterator[File]:
    """The files in bb/ of all sub-workflows: what each is, and what they inherit."""
    catalogs = given.catalogs
    storage = {key: file.data[key] for key, file in catalogs.storage.items()}
    for kind, document in catalogs.documents.items():
        data = {**document.data, **storage} if kind == "site" else document.data
        yield f"{_FOLDER}/{kind}s.yml", as_json(data)
    if storage:
        yield f"{_FOLDER}/bb.yml", as_json(storage)
    properties = _inherited(given)
    yield f"{_FOLDER}/{_PROPERTIES}", properties.to_text().encode()
    ours = [f"-D{k}={v}" for k, v in properties.items() if k.startswith(PREFIX)]
    for name, planned in executable.runs.items():
        inherited = {
            "properties": str(run.submit_dir / "bb" / _FOLDER / _PROPERTIES),
            "defines": ours if planned["conf"] else [],
        }
        yield f"{_FOLDER}/{name}.json", as_json({**planned, **inherited})


def _inherited(given: PlanningInput) -> Properties:
    """The properties of the outer run without what names its own files."""
    kept = {
        key: value
        for key, value in given.catalogs.properties.items()
        if key not in _OF_THIS_RUN and not key.startswith(_CATALOG_PROPERTIES)
    }
    if given.settings.speeds is not None:
        kept[f"{PREFIX}speeds"] = str(Path(given.settings.speeds))
    return Properties({}).with_values(kept, "the outer run")
