"""pegasus-bb testbed: a burst-buffer site on this machine."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import MIB, format_duration, parse_size
from pegasus_bb.planner.pegasus_home import find_home
from pegasus_bb_testbed import testbed
from pegasus_bb_testbed.home import DEFAULT, FLAVOURS, Home, flavour
from pegasus_bb_testbed.sharing import Installed, find_installed

_USER = click.option(
    "--user", show_default=True, default="wfuser", help="wfuser, other or root."
)
_PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.group("testbed", short_help="A burst-buffer site on this machine.")
@click.option(
    "--slurm",
    default=DEFAULT.slurm,
    metavar="|".join(FLAVOURS),
    help=f"Version. Only {DEFAULT.slurm} has HTCondor.  [{DEFAULT.slurm}]",
)
@click.option(
    "--bb",
    "plugin",
    type=click.Choice(["datawarp", "lua"]),
    default="datawarp",
    show_default=True,
    help="Slurm's plugin for burst buffers: an emulated DataWarp, or our staging "
    "service behind burst_buffer/lua.",
)
@click.option(
    "--number",
    type=click.IntRange(1, 9),
    default=1,
    show_default=True,
    help="Of sites of one kind that are up at the same time.",
)
@click.pass_context
def command(context: click.Context, slurm: str, plugin: str, number: int) -> None:
    """A whole site on one Linux machine: HTCondor, Slurm with a burst buffer, two
    users, and a work folder that both sides see.

    Needs root. All of it is in ~/.cache/pegasus-bb/testbed, or in $PEGASUS_BB_TESTBED.
    """
    context.obj = Home(flavour(slurm, plugin, number))


@command.command("up")
@click.option("--install", is_flag=True, help="Install debootstrap if it is missing.")
@click.option(
    "--pool", default="40GiB", show_default=True, help="Size of the burst buffer."
)
@click.option(
    "--nodes",
    "node_count",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Nodes of Slurm; several have a disk each, /nvme, and the gres nvme.",
)
@click.option(
    "--share",
    "shares",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="A further folder to show inside at the same path.",
)
@click.option(
    "--pegasus",
    "with_pegasus",
    is_flag=True,
    help="Show the Pegasus of PEGASUS_HOME or PATH inside, with its Java and Python.",
)
@click.pass_obj
def up(
    home: Home,
    *,
    install: bool,
    pool: str,
    node_count: int,
    shares: tuple[Path, ...],
    with_pegasus: bool,
) -> None:
    """Start the site: minutes the first time, then seconds. May be repeated."""
    begin = time.monotonic()
    size = parse_size(pool)
    if size < MIB:
        raise UsageError(f"--pool {pool}: at least 1MiB")
    pegasus = _pegasus() if with_pegasus else None
    fresh = testbed.up(
        home,
        _say,
        install=install,
        pool_size=size,
        node_count=node_count,
        shares=shares,
        pegasus=pegasus,
    )
    took = format_duration(time.monotonic() - begin)
    click.echo(f"up after {took}" if fresh else "was up already")
    click.echo(f"work folder, here and inside: {home.work}")


@command.command("run", context_settings=_PASSED_ON)
@_USER
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_obj
def run(home: Home, user: str, argv: tuple[str, ...]) -> None:
    """Run ARGV inside, in the work folder; exits with its status."""
    sys.exit(testbed.run(home, argv, user))


@command.command("shell")
@_USER
@click.pass_obj
def shell(home: Home, user: str) -> None:
    """Open a shell inside, in the work folder."""
    sys.exit(testbed.run(home, ["bash", "-i"], user))


@command.command("status")
@click.pass_obj
def status(home: Home) -> None:
    """Show what the daemons report, and which have ended. Exit status 1 if nothing is
    up.
    """
    found = testbed.status(home)
    built = "built" if found.built else "not built yet; `up` does it"
    click.echo(f"{found.folder}: {built}")
    if found.holder is None:
        click.echo("down")
        sys.exit(1)
    click.echo(f"up, {found.processes} processes below process {found.holder}")
    if found.dead:
        click.echo(f"ended: {', '.join(found.dead)}; `up` starts them again")
    for name, answer in found.answers.items():
        click.echo(f"{name}:")
        for line in answer.splitlines() or ["none"]:
            click.echo(f"  {line}")


@command.command("down")
@click.pass_obj
def down(home: Home) -> None:
    """End everything inside; the work folder stays. May be repeated."""
    click.echo("down" if testbed.down(home) else "was down already")


def _pegasus() -> Installed:
    found = find_home()
    if found is None:
        raise UsageError(
            "--pegasus: there is no pegasus-plan on this host; set PEGASUS_HOME, or "
            "put the bin folder of a Pegasus 5.1 on PATH"
        )
    return find_installed(found.bin, os.environ)


def _say(text: str) -> None:
    click.echo(text, err=True)
