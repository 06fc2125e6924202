"""pegasus-bb stager: the staging service, and what a user says to it."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import click

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.core.errors import DONE, NOT_COPIED, UsageError
from pegasus_bb.core.text import columns, printable
from pegasus_bb.core.units import (
    format_count,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)
from pegasus_bb.model.placement import HINTS
from pegasus_bb.runtime.stager_client.client import Client, connect_or_start
from pegasus_bb.runtime.stager_client.dataspace import place_of
from pegasus_bb.runtime.stager_client.protocol import (
    CONTROL_SOCKET,
    USER_SOCKET,
    Refused,
    in_requests,
)
from pegasus_bb.runtime.stager_client.task import DONE as TASK_DONE
from pegasus_bb.runtime.stager_client.task import ENDS
from pegasus_bb.stager.site_config import Config, node_config, site_config, user_config

_HEAD = ("task", "uid", "state", "kind", "bytes", "left", "source", "dest")
_RIGHT = (0, 1, 4, 5)
_OFTEN = 0.3  # seconds between two looks for the progress line
_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs."
)
_numbers = click.argument("tasks", nargs=-1, type=int, required=True, metavar="TASK...")


@click.group("stager")
@click.option("--sockets", type=click.Path(), help="Folder of the service's sockets.")
@click.pass_context
def command(ctx: click.Context, sockets: str | None) -> None:
    """The staging service. It copies, moves and removes files in the background; what
    it has accepted survives a crash. Without --sockets (or PEGASUS_BB_STAGER) this is
    your own service, which starts when it is needed and ends when it is idle.
    """
    ctx.obj = sockets


@command.command("serve", short_help="Run the service itself.")
@click.option("--site", type=click.Path(), help="The site's configuration.")
@click.option("--node", type=click.Path(), help="A compute node's configuration.")
@click.pass_obj
def serve(sockets: str | None, site: str | None, node: str | None) -> None:
    """Run the service until it is told to end, or is idle for a minute."""
    from pegasus_bb.stager.socket_server import run

    if site and node:
        raise UsageError("serve takes --site CONF or --node CONF, not both")
    if node:
        run(node_config(node))
    else:
        run(site_config(site) if site else _own(sockets))


@command.command("submit")
@click.option("--deadline", help="Be done within this time: 90s, 15m, 2h.")
@click.option(
    "--priority",
    type=click.IntRange(-100, 100),
    default=0,
    help="Higher goes first, at equal deadlines.",
)
@click.option("--rate", help="At most so many bytes per second, such as 100MB.")
@click.option("--hint", type=click.Choice(list(HINTS)), help="How long it will live.")
@click.option("--move", is_flag=True, help="Remove SOURCE when the copy is durable.")
@click.option("--remove", is_flag=True, help="Remove SOURCE; there is no DEST.")
@click.option(
    "--list",
    "listed",
    type=click.File("r"),
    metavar="FILE",
    help="Read SOURCE DEST from each line of FILE, - for stdin; quote blanks.",
)
@_json
@click.argument("places", nargs=-1, metavar="[SOURCE [DEST]]")
@click.pass_obj
def submit(
    sockets: str | None,
    *,
    deadline: str | None,
    priority: int,
    rate: str | None,
    hint: str | None,
    move: bool,
    remove: bool,
    listed: TextIO | None,
    as_json: bool,
    places: tuple[str, ...],
) -> None:
    """Have SOURCE copied to DEST. Each is a path, or NAME://path in a dataspace. Prints
    the number of the task, which is durable then; with --list, of each on a line.
    """
    wanted = ("source",) if remove else ("source", "dest")
    if listed is None and len(places) != len(wanted):
        takes = " ".join(wanted).upper()
        raise UsageError(f"submit takes {takes}; found {len(places)} of them")
    if listed is not None and places:
        raise UsageError("submit takes SOURCE DEST or --list FILE, not both")
    rows = [places] if listed is None else list(_rows(listed, len(wanted)))
    task: dict[str, Any] = {"kind": "remove" if remove else "move" if move else "copy"}
    if deadline:
        task["deadline"] = time.time() + parse_duration(deadline)
    if rate:
        task["rate"] = parse_size(rate)
    if hint:
        task["hint"] = HINTS[hint]
    task["priority"] = priority
    with _connected(sockets) as client:
        tasks = [
            {**task, **dict(zip(wanted, named, strict=True)), **_size(row[0])}
            for row, named in zip(rows, _places(client, rows), strict=True)
        ]
        numbers = _submitted(client, tasks)
    if as_json:
        found = {"task": numbers[0]} if listed is None else {"tasks": numbers}
        click.echo(json.dumps(found))
    else:
        click.echo("".join(f"{number}\n" for number in numbers), nl=False)


@command.command("status")
@click.option("--all", "everything", is_flag=True, help="Also tasks that have ended.")
@_json
@click.argument("tasks", nargs=-1, type=int, metavar="[TASK]...")
@click.pass_obj
def status(
    sockets: str | None, *, everything: bool, as_json: bool, tasks: tuple[int, ...]
) -> None:
    """Show TASKs, or all of yours that have not ended."""
    with _connected(sockets) as client:
        found = client.status(tasks or None, eta=True)
        trouble = client.ask("ping").get("trouble")
    if trouble:
        click.echo(f"pegasus-bb: {printable(trouble)}", err=True)
    if not tasks and not everything:
        found = [task for task in found if task["state"] not in ENDS]
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        _show(found)


@command.command("wait")
@_json
@_numbers
@click.pass_obj
def wait(sockets: str | None, *, as_json: bool, tasks: tuple[int, ...]) -> None:
    """Wait until all TASKs have ended. Exit status: 0 all are done; 81 some are not."""
    with _connected(sockets) as client:
        if sys.stderr.isatty() and not as_json:
            _show_progress(client, tasks)
        found = client.wait(tasks)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    bad = [task for task in found if task["state"] != TASK_DONE]
    for task in bad:
        message = f"task {task['id']} {task['state']}: {printable(task['message'])}"
        click.echo(f"pegasus-bb: {message}", err=True)
    sys.exit(NOT_COPIED if bad else DONE)


@command.command("cancel")
@_json
@_numbers
@click.pass_obj
def cancel(sockets: str | None, *, as_json: bool, tasks: tuple[int, ...]) -> None:
    """Stop TASKs. What is half copied is removed; what is copied stays."""
    with _connected(sockets) as client:
        found = client.ask("cancel", tasks=list(tasks))
    if as_json:
        click.echo(json.dumps(found))
        return
    late = f"; {found['ending']} have not ended yet" if found["ending"] else ""
    click.echo(
        f"cancelled: {found['cancelled']} of {format_count(len(tasks), 'task')}{late}"
    )


@command.command("top", short_help="Show tasks and bytes by user and by target.")
@_json
@click.pass_obj
def top(sockets: str | None, *, as_json: bool) -> None:
    """Show tasks and bytes by user and by target, on a terminal again and again until
    Ctrl-C. For those who may use the control socket.
    """
    from pegasus_bb.cli.stager_top import show, table

    with Client(_socket(sockets, CONTROL_SOCKET)) as client:
        if as_json:
            click.echo(json.dumps(client.ask("users"), indent=2))
        elif sys.stdout.isatty():
            show(lambda: client.ask("users"))
        else:
            click.echo(table(client.ask("users")))


@command.command("control", short_help="Pause, resume, drain or shut down.")
@click.argument("what", type=click.Choice(["pause", "resume", "drain", "shutdown"]))
@click.pass_obj
def control(sockets: str | None, what: str) -> None:
    """Pause or resume all work; drain: take no new task and end when all is done;
    shutdown: end now, and go on at the next start.
    """
    with Client(_socket(sockets, CONTROL_SOCKET)) as client:
        client.ask(what)


def _show_progress(client: Client, tasks: tuple[int, ...]) -> None:
    """One line on the terminal until all ``tasks`` have ended."""
    while True:
        found = client.status(tasks, eta=True)
        ended = sum(task["state"] in ENDS for task in found)
        moved = format_size(sum(task["moved"] for task in found))
        line = f"{_left(found)}; {ended} of {len(found)} tasks, {moved}"
        if ended == len(found):
            click.echo("\r\x1b[K", nl=False, err=True)
            return
        width = os.get_terminal_size(sys.stderr.fileno()).columns or len(line) + 1
        click.echo(f"\r\x1b[K{line[: width - 1]}", nl=False, err=True)
        time.sleep(_OFTEN)


def _left(found: list[dict[str, Any]]) -> str:
    known = [task["seconds_left"] for task in found]
    if None in known:
        return "sizes not known"
    return f"about {format_duration(max(known))} left"


def _own(sockets: str | None) -> Config:
    config = user_config()
    return config._replace(sockets=sockets) if sockets else config


def _connected(sockets: str | None) -> Client:
    if sockets or os.environ.get("PEGASUS_BB_STAGER"):
        return Client(_socket(sockets, USER_SOCKET))
    return connect_or_start(user_config().sockets)


def _socket(sockets: str | None, name: str) -> str:
    return f"{_own(sockets).sockets}/{name}"


def _rows(listed: TextIO, wanted: int) -> Iterator[tuple[str, ...]]:
    """The places of each line. Raises UsageError."""
    say = "SOURCE DEST" if wanted == 2 else "SOURCE"
    for number, line in enumerate(listed, start=1):
        where = f"{listed.name}: line {number}"
        try:
            is_quoted = any(mark in line for mark in "'\"\\")
            words = shlex.split(line) if is_quoted else line.split()  # shlex is slow
        except ValueError as error:
            raise UsageError(f"{where}: {error}; quote a name with blanks") from error
        if words and len(words) != wanted:
            found = printable(line.strip())
            raise UsageError(
                f"{where}: {say}, with quotes around blanks; found {found}"
            )
        if words:
            yield tuple(words)


def _places(
    client: Client, rows: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """``rows`` as places of the service, which says what dataspaces it has. Raises
    UsageError."""
    roots: dict[str, str] = {}
    for row in rows:
        if not roots and not all("://" in word for word in row):
            roots = client.ask("ping")["roots"]
        try:
            yield tuple(
                word if "://" in word else place_of(os.path.abspath(word), roots)
                for word in row
            )
        except Refused as refused:
            raise UsageError(str(refused)) from refused


def _size(source: str) -> dict[str, int]:
    """What the ETA needs, where ``source`` is the path of a file."""
    try:
        found = os.stat(source)
    except (OSError, ValueError):
        return {}
    return {"size": found.st_size} if stat.S_ISREG(found.st_mode) else {}


def _submitted(client: Client, tasks: list[dict[str, Any]]) -> list[int]:
    """The numbers of ``tasks``, which go in as few requests as they fit in. Raises
    Refused, with those that were accepted before."""
    numbers: list[int] = []
    for request in in_requests(tasks):
        try:
            numbers += client.submit(request)
        except Refused as refused:
            if not numbers:
                raise
            known = f"tasks {numbers[0]} to {numbers[-1]} were accepted before that"
            raise Refused(refused.code, f"{refused}; {known}") from refused
    return numbers


def _show(found: list[dict[str, Any]]) -> None:
    if not found:
        click.echo("no tasks; those that have ended: --all")
        return
    echo_lines(columns([_HEAD, *map(_row, found)], _RIGHT))
    for task in found:
        if task["message"]:
            click.echo(f"task {task['id']}: {printable(task['message'])}")


def _row(task: dict[str, Any]) -> tuple[str, ...]:
    left = task.get("seconds_left")
    return (
        str(task["id"]),
        str(task["uid"]),
        task["state"],
        task["kind"],
        format_size(task["moved"]),
        format_duration(left) if left else "-",
        task["source"],
        task["dest"],
    )
