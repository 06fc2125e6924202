"""What the lifecycle programs (setup, gate, delete) have in common as programs."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Callable

from pegasus_bb import ledger
from pegasus_bb.errors import BUG, PegasusBBError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir


def parser(name: str, what: str) -> argparse.ArgumentParser:
    """A command line that knows where the bb folder is."""
    made = argparse.ArgumentParser(prog=name, description=what, allow_abbrev=False)
    made.add_argument(
        "--bb",
        metavar="DIR",
        help="the folder <submit>/bb of the run (default: where this program lies)",
    )
    return made


def bb_dir(options: argparse.Namespace) -> BBDir:
    """The folder that the command line names, else the program's own."""
    return BBDir(options.bb) if options.bb else BBDir.of_this_program()


def answer(name: str, work: Callable[[], str]) -> int:
    """Do ``work``, say on stderr what came of it, and give back the exit code."""
    try:
        words, code = work(), 0
    except PegasusBBError as error:
        words, code = str(error), error.exit_code
    except OSError as error:  # a full disk, a submit directory that went away
        words, code = f"{error.filename}: {error.strerror}", BUG
    _say(f"{name}: {words}")
    return code


def _say(words: str) -> None:
    """What was done was done, also where it cannot be said: Python would end with 120
    for what it still holds."""
    try:
        print(words, file=sys.stderr, flush=True)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)


def submit_dir(bb: BBDir) -> str:
    """The submit directory that the bb folder belongs to."""
    return os.path.dirname(bb.path)


def list_event(event: str, of: Request, submit_dir: str, **more: Any) -> None:
    """A line of the ledger about the reservation of that request."""
    ledger.note(
        event,
        name=of.name,
        backend=of.backend,
        size=of.capacity,
        uuid=of.uuid,
        submit_dir=submit_dir,
        **more,
    )
