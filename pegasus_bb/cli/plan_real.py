"""`pegasus-bb plan` where a real pegasus-plan does the planning."""

from __future__ import annotations

import sys

import click
from click.core import ParameterSource

from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.plan_options import only_of_pegasus
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.model.catalogs import declared_tiers
from pegasus_bb.model.properties import Properties, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.call import become, plain_argv, run, run_argv
from pegasus_bb.planner.pegasus.planner import PegasusPlanner
from pegasus_bb.planner.pegasus.user_database import make_user_database
from pegasus_bb.planner.pegasus_home import PegasusHome, planner_line
from pegasus_bb.planner.plan_summary import unused_tier_notes
from pegasus_bb.planner.planning import plan

# Not --input-dir: its files are in the replica catalog that is given to pegasus-plan.
_VALUES = ("sites", "output_sites", "output_dir", "cleanup")
_FLAGS = ("force", "as_json", "verbose", "quiet")
_NAMES = {"as_json": "--json"}


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
        from pegasus_bb.planner.pegasus.recording import counting_options

        make_user_database(home, properties)
        first, *rest = plain_argv(home, argv)
        become(
            [first, *counting_options(options, settings, declared=bool(tiers)), *rest]
        )
    as_json = bool(ctx.params["as_json"])
    submit = bool(ctx.params["submit"])
    with cleanly_ended():
        planned = plan(options, PegasusPlanner(home, passed(ctx)))
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
        declared = declared_tiers(properties, options.cwd)
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
