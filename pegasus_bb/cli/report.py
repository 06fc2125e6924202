"""pegasus-bb report: what the burst buffer bought."""

from __future__ import annotations

import gc
import shlex
import shutil
import sys
from pathlib import Path

import click

from pegasus_bb.api.comparing import compare
from pegasus_bb.cli.larger_data import with_larger_data
from pegasus_bb.cli.output import write_page
from pegasus_bb.core.errors import UsageError
from pegasus_bb.report.encoding import as_text
from pegasus_bb.report.render import WIDTH

_PATH = click.Path(path_type=Path)


@click.command(
    name="report",
    context_settings={"allow_extra_args": True},  # their error is ours
)
@click.option(
    "--pfs",
    multiple=True,
    type=_PATH,
    help="A run on the parallel file system",
)
@click.option("--bb", multiple=True, type=_PATH, help="A run on the burst buffer")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Also write every number to this file (docs/report.md); - prints them alone",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page with figures and tables to this file",
)
@click.option(
    "--bench",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output of `pegasus-bb bench --json`, for page and JSON",
)
@click.option(
    "--probe",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Log of a program that read the PFS meanwhile (docs/report.md)",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    pfs: tuple[Path, ...],
    bb: tuple[Path, ...],
    json_file: Path | None,
    html: Path | None,
    bench: Path | None,
    probe: Path | None,
) -> None:
    """Compare runs on the parallel file system with runs on a burst buffer.

    With --pfs alone, or --bb alone, the report is of these runs, without a comparison.
    PATH is a submit directory, another folder of records, one Kickstart record or one
    Darshan log. Give an option several times for repetitions: the report then shows
    means and standard errors.
    """
    if ctx.args:
        run = shlex.quote(ctx.args[0])
        raise UsageError(
            f"{ctx.args[0]}: say on which storage it ran: --pfs {run} or --bb {run}"
        )
    if html is not None:
        import pegasus_bb.report.page  # noqa: F401 - says now whether it is installed
    gc.disable()  # of many records, a third of the time went into looking for garbage
    found = with_larger_data(compare(pfs, bb, bench=bench, probe=probe))
    width = shutil.get_terminal_size((WIDTH, 24)).columns  # $COLUMNS comes first
    only_json = json_file == Path("-")
    if only_json:
        click.echo(as_text(found.to_json()), nl=False)
    else:
        click.echo(found.to_text(width, color=sys.stdout.isatty()), nl=False)
    if json_file is not None and not only_json:
        write_page(json_file, as_text(found.to_json()))
        click.echo(f"every number: {json_file}")
    if html is not None:
        write_page(html, found.to_page())
        click.echo(f"drawn: {html}", err=only_json)
