"""`pegasus-bb plan` where a real pegasus-plan does the planning."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import click
from click.core import ParameterSource

from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.plan_options import only_of_pegasus
from pegasus_bb.core.errors import NothingToRun, PegasusBBError, UsageError
from pegasus_bb.model.catalogs import declared_tiers
from pegasus_bb.model.settings import Properties, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.node_programs import check_python
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.call import become, plain, plain_argv, run, run_argv
from pegasus_bb.planner.pegasus.planner import PegasusPlanner
from pegasus_bb.planner.pegasus_home import PegasusHome, planner_line
from pegasus_bb.planner.plan_summary import unused_tier_notes
from pegasus_bb.planner.planning import plan
from pegasus_bb.planner.reading import properties_of
from pegasus_bb.runtime.install import install_runtime

# Not --input-dir: its files are in the replica catalog that is given to pegasus-plan.
_VALUES = ("sites", "output_sites", "output_dir", "cleanup", "clusters")
_FLAGS = ("force", "as_json", "verbose", "quiet")
_NAMES = {"as_json": "--json", "clusters": "--cluster"}
LAUNCHER = "pegasus.gridstart.launcher"
FOLDER = ".pegasus-bb"  # below --dir: one launcher for all its runs


def plan_real(
    ctx: click.Context,
    options: PlanOptions,
    properties: Properties,
    settings: Settings,
    home: PegasusHome,
) -> None:
    """Plan, print what pegasus-plan prints, and submit where that was asked for."""
    argv: tuple[str, ...] = ctx.meta["pegasus_bb.argv"]
    if not settings.mode.uses_tier:
        tiers = _tiers(options, properties)
        if not (ctx.params["as_json"] or ctx.params["quiet"]):
            click.echo(planner_line(properties, home), err=True)
            for declared in tiers.values():
                for note in unused_tier_notes(declared, settings):
                    click.echo(note, err=True)
        first, *rest = plain_argv(home, argv)
        become(
            [first, *counting_options(options, settings, declared=bool(tiers)), *rest]
        )
    as_json = bool(ctx.params["as_json"])
    submit = bool(ctx.params["submit"])
    try:
        with cleanly_ended():
            planned = plan(options, PegasusPlanner(home, passed(ctx)))
    except NothingToRun as error:
        click.echo(f"{error}; planned as in mode off", err=True)
        become(plain_argv(home, argv))
    quiet = as_json or ctx.params["quiet"]
    who = planner_line(properties, home, planned.executable.planner)
    lines = () if quiet else (who, *planned.summary)
    for note in (*planned.notes, *lines):
        click.echo(note, err=True)
    if not (submit and as_json):  # then pegasus-run's answer is the only JSON
        click.echo(planned.executable.printed, nl=False)
    if submit:
        sys.stdout.flush()
        only = only_of_pegasus(ctx)
        forward = [given[1] for given in only if given[0] == "--forward"]
        submitting = run_argv(
            home, planned.submit_dir, as_json=as_json, forward=forward
        )
        ctx.exit(run(submitting, options.cwd))
    if not quiet:
        click.echo(f"or: pegasus-bb run {planned.submit_dir}, to follow it", err=True)
    if ctx.obj is not None:
        ctx.obj()  # as the built-in planner does


def _tiers(options: PlanOptions, properties: Properties) -> dict[str, list[Tier]]:
    """Those that the sites of the plan declare. A catalog that we cannot read is
    pegasus-plan's to judge."""
    try:
        workflow = options.absolute(options.workflow)
        declared = declared_tiers(workflow, properties, options.cwd)
    except PegasusBBError:
        return {}
    sites = options.sites or declared
    return {site: declared[site] for site in sites if declared.get(site)}


def passed(ctx: click.Context) -> tuple[str, ...]:
    """What pegasus-plan is told beside what we wrote."""
    words: list[str] = []
    for name in _VALUES:
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            value = ctx.params[name]
            text = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
            words += [_option(name), text]
    for name in _FLAGS:
        words += [_option(name)] * int(ctx.params[name])
    return (*words, *(word for given in only_of_pegasus(ctx) for word in given))


def _option(name: str) -> str:
    return _NAMES.get(name, "--" + name.replace("_", "-"))


def counting_options(
    options: PlanOptions, settings: Settings, *, declared: bool
) -> list[str]:
    """The options of pegasus-plan that make Kickstart's jobs count; none if they could
    disturb a job. A site's own launcher takes precedence."""
    properties = properties_of(options)
    if settings.counters == "off" or not declared or not _can_count(properties):
        return []
    try:
        base = options.absolute(options.base_dir)
        plain(str(base), "the folder of submit directories")
        bb = counting_folder(base, check_python(properties, settings.python))
    except (UsageError, OSError):
        return []  # a plain plan never fails because of counters
    return [f"-D{LAUNCHER}={bb / 'bin' / 'launch'}"]


def _can_count(properties: Properties) -> bool:
    shared = properties.get("pegasus.data.configuration", "").lower() == "sharedfs"
    kickstart = properties.get("pegasus.gridstart", "kickstart").lower() == "kickstart"
    return shared and kickstart and LAUNCHER not in properties


def counting_folder(base: Path, python: str) -> Path:
    """A bb folder below ``base`` that belongs to no run, made once. Raises OSError."""
    home = base / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    try:
        install_runtime(str(part), python)
        folder = home / _digest(part)
        if not folder.exists():
            part.chmod(0o755)
            os.rename(part, folder)  # noqa: PTH104 - fails if the target exists
    except OSError:
        if not folder.exists():  # else another plan was faster
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _digest(folder: Path) -> str:
    """A digest of a program: its text has its Python, and the digest of the code."""
    program = (folder / "bin" / "launch").read_bytes()
    return hashlib.sha256(program).hexdigest()[:16]
