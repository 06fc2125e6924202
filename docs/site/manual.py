"""Manual pages, from the commands themselves: python docs/site/manual.py FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click_man.core import generate_man_page

from pegasus_bb.cli import cli


def commands(ctx: click.Context) -> Iterator[click.Context]:
    """``ctx``, then every command below it."""
    yield ctx
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            below = ctx.command.get_command(ctx, name)
            if below is not None:
                yield from commands(click.Context(below, parent=ctx, info_name=name))


def main(folder: Path) -> None:
    """Write a page for each command into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for ctx in commands(click.Context(cli, info_name="pegasus-bb")):
        page = folder / f"{ctx.command_path.replace(' ', '-')}.1"
        page.write_text(generate_man_page(ctx))
        print(page)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
