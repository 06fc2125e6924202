"""pegasus-bb completion: what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_PEGASUS_BB_COMPLETE"  # click reads it


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what SHELL has to read.

    \b
    bash: eval "$(pegasus-bb completion bash)"       in ~/.bashrc
    zsh:  eval "$(pegasus-bb completion zsh)"        in ~/.zshrc
    fish: pegasus-bb completion fish | source        in config.fish
    """
    made_by = get_completion_class(shell)
    assert made_by is not None  # noqa: S101 - click has all of SHELLS
    root = ctx.find_root()
    click.echo(made_by(root.command, {}, "pegasus-bb", _VARIABLE).source())
