"""pegasus-bb release: give a reservation back by hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from pegasus_bb import ledger
from pegasus_bb.engine.dagman.find import find
from pegasus_bb.engine.submitdir import find_submit_dir
from pegasus_bb.errors import UsageError
from pegasus_bb.files import ENGINE_LOCK, lock_holder
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.delete import give_up, release

_PID = re.compile(r"pid (\d+) ")  # of who holds the lock


@click.command("release", short_help="Give a reservation back by hand.")
@click.option("--discard", is_flag=True, help="Even where results were not saved.")
@click.option(
    "--gone",
    metavar="NAME",
    help="With --discard: its storage is gone for good. Says the name again.",
)
@click.argument("name")
def command(name: str, discard: bool, gone: str | None) -> None:
    """Give the reservation NAME back, or that of the submit directory NAME.

    Without --discard only where every promised result is at its destination. With it,
    data that lives only on the burst buffer is lost, so its name has to be said: as
    NAME, or once more on a terminal.

    Where the folder of a directory tier is not there any more, or is another one,
    nobody can tell whether it is only not mounted; --gone NAME says that it will not
    come back, and notes what was on the reservation as lost.
    """
    bb = _bb_dir(name)
    known = bb.request().name
    running = _running(Path(bb.path).parent)
    if running:
        raise UsageError(f"the run that uses {known} is going on: {running}")
    if discard:
        _confirm(name, known)
    if gone is not None and (gone != known or not discard):
        raise UsageError(
            f"--gone {gone!r}: say --discard with it, and the name of the reservation "
            f"once more, {known}; nothing was given up"
        )
    click.echo(give_up(bb) if gone else release(bb, discard))
    if discard:
        click.echo(f"`pegasus-bb run --restart {Path(bb.path).parent}` starts over")


def _running(submit_dir: Path) -> str:
    """Who works on the run, or may, and what stops it; empty where nobody does."""
    holder = lock_holder(str(submit_dir / ENGINE_LOCK))
    if holder:
        pid = _PID.match(holder)
        how = f"`kill {pid.group(1)}` on that host" if pid else "end it"
        return f"{holder}; stop it first: Ctrl-C where it runs, or {how}"
    if not any(submit_dir.glob("*.dag.dagman.log")):
        return ""
    found = find(find_submit_dir(submit_dir))
    if found is None or not found.words:
        return ""
    return f"{found.words}; stop it first: condor_rm {found.life.cluster}"


def _confirm(said: str, known: str) -> None:
    """Raises UsageError where nobody said the name of what will be lost."""
    if sys.stdin.isatty():
        said = click.prompt(f"Unsaved data on {known} will be lost. Type its name")
    if said != known:
        raise UsageError(
            f"{said!r} is not the name of the reservation; nothing was given back. To "
            f"drop what is on it: pegasus-bb release {known} --discard"
        )


def _bb_dir(name: str) -> BBDir:
    entries = ledger.find(name)
    if not entries:
        if (Path(name) / "bb" / "request.json").is_file():
            return BBDir(str(Path(name) / "bb"))
        raise UsageError(
            f"{name!r} is neither a submit directory with a reservation nor the name "
            f"of one that this user asked for; the ledger is {ledger.path()}"
        )
    for entry in entries:
        for folder in _places(str(entry.get("submit_dir", ""))):
            bb = BBDir(str(folder / "bb"))
            if bb.has_request and _is_of(bb, name, str(entry.get("uuid", ""))):
                return bb
    raise UsageError(
        f"reservation {name} was asked for by the run in {entries[0].get('submit_dir')}"
        ", which is not there any more; name the submit directory where it is now"
    )


def _places(submit_dir: str) -> Iterator[Path]:
    """Where the run was planned, and where --force may have moved it."""
    folder = Path(submit_dir)
    yield folder
    if folder.parent.is_dir():
        yield from sorted(folder.parent.glob(f"{folder.name}.[0-9][0-9][0-9]"))


def _is_of(bb: BBDir, name: str, uuid: str) -> bool:
    """Whether that folder is of the run meant, not of a later one in its place."""
    request = bb.request()
    return request.name == name and uuid in ("", request.uuid)
