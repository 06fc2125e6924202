"""pegasus-bb check: would this workflow run on this site?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.cli.plan_options import PlanCommand, options_of_a_look, plan_options
from pegasus_bb.core.errors import USAGE, PegasusBBError
from pegasus_bb.core.text import printable
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.place_files import place
from pegasus_bb.decide.tier_choice import choose_tier
from pegasus_bb.model.catalogs import Site
from pegasus_bb.model.finding import Finding, Level, ok, wrong
from pegasus_bb.model.modes import TRANSIENT
from pegasus_bb.model.settings import property_of
from pegasus_bb.planner.local_files import of_output, of_scratch
from pegasus_bb.planner.node_programs import check_python, python_of_nodes
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import PegasusHome, resolve_home
from pegasus_bb.planner.predicting import choose_mode
from pegasus_bb.planner.reading import (
    UserInput,
    execution_site,
    note_on_mode,
    read_planning,
    read_user_input,
)
from pegasus_bb.planner.run_plan import output_sites
from pegasus_bb.run.check.plan_check import of_files, of_planning, of_refusal, of_size
from pegasus_bb.run.check.software import of_htcondor, of_pegasus
from pegasus_bb.run.check.stager_service import of_service
from pegasus_bb.run.check.tier_storage import of_tier


@click.command("check", cls=PlanCommand)
@options_of_a_look
@click.pass_context
def command(
    ctx: click.Context, /, *, as_json: bool, quiet: int, **options: Any
) -> None:
    """Check whether WORKFLOW would run on its site.

    Looks at the workflow, catalogs, programs, planner, HTCondor, Slurm and the free
    space on the tier. Prints a line for each, with the fix if something is wrong.

    Takes the options of plan. Writes nothing and reserves nothing. Exit status 2 if
    something is wrong.
    """
    found = []
    for finding in findings(plan_options(options, mode="persistent")):
        found.append(finding)
        if not as_json and not (quiet and finding.level is Level.OK):
            echo_lines(_lines(finding))
    if as_json:
        rows = [{**asdict(f), "level": f.level.value} for f in found]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    if any(f.level is Level.WRONG for f in found):
        ctx.exit(USAGE)


def _lines(finding: Finding) -> list[str]:
    what, *more = [" ".join(line.split()) for line in finding.what.splitlines()] or [""]
    lines = [f"{finding.level.value:<5} {finding.about:<9} {printable(what)}"]
    lines += [f"{'':15} {printable(line)}" for line in more]
    if finding.would_do:
        lines.append(f"{'':15} fix: {printable(finding.would_do)}")
    return lines


def findings(options: PlanOptions) -> Iterator[Finding]:
    """Looks at ``options``' workflow, catalogs and site. Writes nothing and asks for
    nothing but answers; what cannot be read is a finding as well."""
    seen: set[Level] = set()
    for finding in _findings(options, seen):
        seen.add(finding.level)
        yield finding


def _findings(options: PlanOptions, seen: set[Level]) -> Iterator[Finding]:
    """``seen``: how bad it is so far. A planning is tried where nothing is wrong yet:
    it would refuse the same once more."""
    try:
        user = read_user_input(options)
    except PegasusBBError as error:
        yield from of_refusal("files", error, options)
        return
    yield ok("files", f"{user.workflow.path} and its catalogs can be read")
    note = note_on_mode(user.catalogs.properties)
    if note:
        yield ok("mode", note)
    if user.settings.mode.is_chosen:
        try:
            options, compared = choose_mode(options)
            user = read_user_input(options)
        except PegasusBBError as error:
            yield wrong("mode", str(error))
        else:
            choice = compared.choice
            yield ok("mode", f"auto takes {choice.mode}: {choice.reason}")
    given: PlanningInput | None = None
    decision: PlacementDecision | None = None
    try:
        read = read_planning(options, user)
        placed = place(read)
        output_sites(options, read.catalogs)
    except PegasusBBError as error:
        yield from of_refusal("workflow", error, options)
    else:
        yield from of_files(read, placed)
        yield from of_output(options, read)
        given = read
        if placed is not None:
            size, decision = of_size(read, placed)
            yield size
            given = None if decision is None else read
    yield from _of_python(user)
    with suppress(PegasusBBError):  # the workflow's finding has it
        site = execution_site(options, user.catalogs)
        mode = user.settings.mode
        try:
            home = resolve_home(user.settings.planner)
        except PegasusBBError as error:
            yield wrong("pegasus", str(error))
        else:
            yield from _of_planner(home, user, site)
            if given is not None and Level.WRONG not in seen:
                yield from of_planning(options, given, decision, home)
        yield from of_htcondor(site.style)
        yield from of_scratch(user.catalogs, site, is_watched=mode.has_job_reservations)
        if mode.uses_tier:
            tier = choose_tier(user.catalogs, user.settings, site.name)
            placement = decision.placement if decision else None
            yield from of_tier(user.catalogs, tier, mode, placement)
            yield from of_service(tier, site)
            other = placement.other_tier if placement else None
            if placement and other and placement.job_reservations:
                known = None if other.is_reserved else placement
                yield from of_tier(user.catalogs, other, TRANSIENT, known)


def _of_planner(
    home: PegasusHome | None, user: UserInput, site: Site
) -> Iterator[Finding]:
    if home is None:
        yield ok("pegasus", "none; the built-in planner plans")
    else:
        yield from of_pegasus(home, user, site)


def _of_python(user: UserInput) -> Iterator[Finding]:
    python = user.settings.python
    try:
        check_python(user.catalogs.properties, python)
    except PegasusBBError as error:
        yield wrong("python", str(error))
        return
    another = f"another by the property {property_of('python')}"
    yield ok("python", f"{python_of_nodes(python)}; {another}")
