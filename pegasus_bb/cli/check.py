"""pegasus-bb check: would this workflow run on this site?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.cli.plan_options import PlanCommand, options_of_a_look, plan_options
from pegasus_bb.core.errors import USAGE
from pegasus_bb.core.text import printable
from pegasus_bb.model.finding import Finding, Level
from pegasus_bb.run.check.everything import findings


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
