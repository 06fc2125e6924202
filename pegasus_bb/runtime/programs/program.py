"""The command line, message and exit code of setup, gate and delete."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Callable, Sequence

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import BUG, PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir

if TYPE_CHECKING:
    from typing import Any


def main(
    name: str,
    about: str,
    work: Callable[[BBDir], str],
    argv: Sequence[str] | None,
) -> int:
    """``name [--bb DIR]``: the exit code of ``work`` on the bb folder of a run."""
    parser = new_parser(name, about)
    parser.add_argument(
        "--bb",
        metavar="DIR",
        help="the folder <submit>/bb of the run (default: where this program lies)",
    )
    folder = parser.parse_args(argv).bb
    bb = BBDir(folder) if folder else BBDir.of_this_program()
    return answer(name, lambda: work(bb))


def new_parser(name: str, about: str) -> argparse.ArgumentParser:
    """Its help has a fixed width: the terminal's would cost each start 5 ms."""
    return argparse.ArgumentParser(
        prog=name,
        description=about,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
    )


def answer(name: str, work: Callable[[], str]) -> int:
    """The exit code of ``work``, whose message goes to stderr."""
    try:
        message = work()
        code = 0
    except PegasusBBError as error:
        message = str(error)
        code = error.exit_code
    except OSError as error:  # a full disk, a submit directory that went away
        message = f"{error.filename}: {error.strerror}"
        code = BUG
    _print(f"{name}: {message}")
    return code


def _print(message: str) -> None:
    """Print ``message``. A failure does not change the exit code: Python would exit
    with 120 if its buffer cannot be flushed."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)


def list_request(bb: BBDir, request: Request) -> None:
    """Add to the ledger that the run of ``bb`` is about to make ``request``."""
    list_event(
        "requested",
        request,
        bb.submit_dir,
        host=socket.gethostname(),
        label=bb.label(),
        request=request.to_json(),
    )


def list_event(event: str, about: Request, submit_dir: str, **more: Any) -> None:
    ledger.note(
        event,
        name=about.name,
        backend=about.backend,
        size=about.capacity,
        uuid=about.uuid,
        submit_dir=submit_dir,
        **more,
    )
