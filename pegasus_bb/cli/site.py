"""pegasus-bb site: what an administrator does to a site, once."""

from __future__ import annotations

import click

from pegasus_bb.service.slurm.config import SPOOL
from pegasus_bb.service.slurm.install import hooks_done


@click.group("site", short_help="Make a Slurm a burst-buffer site.")
def command() -> None:
    """For administrators; docs/slurm-lua.md has all steps."""


@command.command("install", short_help="Put our burst_buffer.lua beside slurm.conf.")
@click.option(
    "--slurm-conf",
    "folder",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    help="The folder of slurm.conf.",
)
@click.option(
    "--spool",
    default=SPOOL,
    show_default=True,
    help="The spool folder of the staging service.",
)
@click.option("--undo", is_flag=True, help="Take burst_buffer.lua out again.")
def install_hooks(folder: str, spool: str, undo: bool) -> None:
    """Put our burst_buffer.lua beside slurm.conf, after a dry call of each function;
    print the lines for slurm.conf and burst_buffer.conf. Changes neither.
    """
    click.echo(hooks_done(folder, spool, undo), nl=False)
