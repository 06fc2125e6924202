"""pegasus-bb gc: give back what dead runs have left."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.core.errors import DONE, ReservationFailed
from pegasus_bb.core.text import one_line
from pegasus_bb.core.units import format_size
from pegasus_bb.run.inventory.leftovers import Leftover, give_back, leftovers
from pegasus_bb.run.inventory.node_leftovers import (
    LeftOnNode,
    left_on_this_node,
    other_nodes,
    remove_left,
)


@click.command("gc")
@click.option("--yes", is_flag=True, help="Give them back; without it nothing changes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option(
    "--nodes",
    "submit_dir",
    metavar="SUBMIT_DIR",
    type=Path,
    help="List what jobs have left on this node's own disk, the tier of that run, and "
    "name the other nodes where its jobs were.",
)
def command(*, yes: bool, as_json: bool, submit_dir: Path | None) -> None:
    """List the reservations that ended runs left behind, and with --yes give back those
    that hold nothing to lose. The others are kept, each with the reason.

    A reservation is given back only if it is on your ledger, its run has ended, and
    one of these holds: all promised results are safe, no job ever had it, or its run
    failed before any task was done. For others: `pegasus-bb release NAME --discard`.

    With --nodes: the folders of killed jobs and the cached inputs on the disk of the
    machine where this runs. The next job on that node removes the folders, too.

    Exit status: that of the first release that failed, else 0.
    """
    if submit_dir is not None:
        _on_this_node(submit_dir, yes=yes, as_json=as_json)
        return
    found = leftovers()
    judged = (give_back(one) if yes and one.goes else one for one in found)
    if as_json:
        done = list(judged)
        click.echo(json.dumps([_json(d) for d in done], indent=2))
    else:
        done = list(_shown(judged, yes=yes))
    sys.exit(next((one.exit_code for one in done if one.exit_code), DONE))


def _shown(judged: Iterator[Leftover], *, yes: bool) -> Iterator[Leftover]:
    given = kept = 0
    for one in judged:
        given = given + one.goes
        kept = kept + (not one.goes)
        echo_lines(_lines(one, yes=yes))
        yield one
    if given or kept:
        click.echo(_total(given, kept, "given back", yes=yes))
    else:
        click.echo("no run has left a reservation behind")


def _total(given: int, kept: int, gone: str, *, yes: bool) -> str:
    if yes:
        return f"{given} {gone}, {kept} kept"
    more = "; --yes does it" if given else ""
    return f"{given} would be {gone}, {kept} would be kept{more}"


def _lines(one: Leftover, *, yes: bool) -> Iterator[str]:
    what = "KEPT      "
    if one.goes:
        what = "GIVEN BACK" if yes else "WOULD GO  "
    size = format_size(one.record.size)
    about = f"{one_line(one.record.name)} ({size}, {one.record.backend}): "
    first, *more = [one_line(line) for line in one.why.splitlines()] or [""]
    first = first.removeprefix(f"kept reservation {about}")  # bb_delete's message
    yield f"{what}  {about}{first}"
    yield from (f"            {each}" for each in more)


def _on_this_node(submit_dir: Path, *, yes: bool, as_json: bool) -> None:
    why = ""
    try:
        left = left_on_this_node(submit_dir)
    except ReservationFailed as error:  # a login node has no such disk
        left, why = [], str(error)
    done = [remove_left(one) if yes and one.goes else one for one in left]
    others = other_nodes(submit_dir)
    if as_json:
        shown = {"left": [asdict(one) for one in done], "other_nodes": others}
        click.echo(json.dumps({**shown, "why": why}, indent=2))
        return
    echo_lines([why] if why else _node_lines(done, yes=yes))
    if others:
        there = _command_there(submit_dir, others)
        click.echo(f"its jobs were also on {', '.join(others)}; there: {there}")


def _node_lines(done: Iterable[LeftOnNode], *, yes: bool) -> Iterator[str]:
    given = kept = 0
    for one in done:
        given = given + one.goes
        kept = kept + (not one.goes)
        what = ("REMOVED   " if yes else "WOULD GO  ") if one.goes else "KEPT      "
        yield f"{what}  {one_line(one.path)} ({format_size(one.size)}): {one.why}"
    if given or kept:
        yield _total(given, kept, "removed", yes=yes)
    else:
        yield "no job has left anything on the disk of this node"


def _command_there(submit_dir: Path, nodes: Iterable[str]) -> str:
    program = Path(sys.argv[0]).absolute()
    is_module = program.name == "__main__.py"
    start = [sys.executable, "-m", "pegasus_bb"] if is_module else [str(program)]
    words = [*start, "gc", "--nodes", str(submit_dir.absolute())]
    if shutil.which("srun"):
        words = ["srun", f"--nodelist={','.join(nodes)}", *words]
    return shlex.join(words)


def _json(one: Leftover) -> dict[str, Any]:
    return {
        "name": one.record.name,
        "goes": one.goes,
        "why": one.why,
        "exit_code": one.exit_code,
        "reservation": asdict(one.record),
    }
