"""pegasus-bb hook: put our pegasus-plan in front of the real one, in this shell."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from pegasus_bb.planner.pegasus.home import find_home
from pegasus_bb.planner.pegasus.hook_shell import (
    cache_folder,
    make_hook_home,
    shell_command,
)


@click.command("hook")
def command() -> None:
    """Print a line for the shell to evaluate: eval "$(pegasus-bb hook)".

    Then pegasus-plan takes --bb-X and pegasus.bb.X, and Workflow.plan() of Pegasus.api
    takes pegasus.bb.X. A call without them reaches the real pegasus-plan unchanged.
    """
    home = find_home(os.environ)
    if home is None:
        click.echo(
            "no Pegasus found: pegasus-plan will use the built-in planner", err=True
        )
    folder = make_hook_home(home, _this_program(), cache_folder(os.environ))
    click.echo(shell_command(folder))


def _this_program() -> Path:
    called = Path(sys.argv[0])
    if called.name == "pegasus-bb" and called.is_file():
        return called.absolute()
    found = shutil.which("pegasus-bb", path=str(Path(sys.executable).parent))
    return Path(found or shutil.which("pegasus-bb") or "pegasus-bb").absolute()
