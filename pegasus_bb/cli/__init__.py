"""pegasus-bb: one file per command, an explicit list, errors become exit codes here."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from pegasus_bb.core.errors import BUG, INTERRUPTED, USAGE, PegasusBBError, advice_on

_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
_OWNER = "call it as the owner of that path, or have the path made writable for you"
# What a person wants -> the commands for it, in the order in which they are met. The
# words stand here, so that --help and completion load no command.
GROUPS = {
    "Run": {
        "init": "Write bb.yml, which declares the fast storage.",
        "plan": "Turn an abstract workflow into a submit directory.",
        "run": "Run a planned workflow, or continue it.",
        "status": "Show how far a run is.",
        "explain": "Show where each file would live, and why.",
        "check": "Check whether WORKFLOW would run on its site.",
        "sizes": "Show how large the files of an earlier run were.",
        "stage": "Copy a file or folder, verified; can be resumed.",
        "drain": "Drain the checkpoints of a running job.",
    },
    "Measure": {
        "report": "Compare runs on the PFS with runs on the buffer.",
        "simulate": "Simulate a workflow, or a machine.",
        "bench": "Measure how fast the storage is.",
        "learn": "Learn how fast it was for the tasks of runs.",
    },
    "Clean up": {
        "ls": "List your reservations.",
        "gc": "Give back what ended runs left behind.",
        "release": "Give a reservation back by hand.",
    },
    "Administer": {
        "site": "Make a Slurm a burst-buffer site.",
        "stager": "Move files in the background, for jobs and for Slurm.",
        "hook": "Let pegasus-plan take --bb-mode, in this shell.",
        "completion": "Let a shell complete commands and options.",
    },
}
# The group of a command that another distribution adds.
_ADDED = "Administer"
# Command -> module; a command's module is imported only when it is called.
COMMANDS = {
    name: f"pegasus_bb.cli.{name}" for names in GROUPS.values() for name in names
}
_ELSEWHERE = {
    "testbed": "pegasus_bb_testbed has it: in a checkout, make tools installs that"
}


def _added() -> list[str]:
    """Commands of other distributions; those that no person types have a hyphen."""
    from pegasus_bb.core import plugins

    return [name for name in plugins.plugins(plugins.COMMANDS) if "-" not in name]


class _Commands(click.Group):
    """The commands by what a person wants to do."""

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        for group, words in GROUPS.items():
            rows = list(words.items())
            if group == _ADDED:
                rows += self._words_of_added(ctx)
            with formatter.section(group):
                formatter.write_dl(rows)

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        rows = [row for words in GROUPS.values() for row in words.items()]
        rows += self._words_of_added(ctx)
        found = [CompletionItem(n, help=w) for n, w in rows if n.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def _words_of_added(self, ctx: click.Context) -> list[tuple[str, str]]:
        commands = ((name, self.get_command(ctx, name)) for name in _added())
        return [(name, one.get_short_help_str(60)) for name, one in commands if one]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command = importlib.import_module(COMMANDS[cmd_name]).command
        else:
            from pegasus_bb.core import plugins

            command = plugins.plugin(plugins.COMMANDS, cmd_name)
        if command is not None and not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} is {command!r}, which is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A name that is unknown gets the one that was meant."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if name in _ELSEWHERE:
                ctx.fail(f"there is no command {name!r}; {_ELSEWHERE[name]}")
            from difflib import get_close_matches  # seldom needed, takes time to load

            close = get_close_matches(name, self.list_commands(ctx), 1)
            hint = f"did you mean {close[0]}?" if close else "pegasus-bb -h lists them"
            ctx.fail(f"there is no command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C has one exit code, wherever it comes."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("pegasus-bb: interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pegasus_bb", prog_name="pegasus-bb")
def cli() -> None:
    """Burst buffers for Pegasus workflows, with no change to any task."""


def end_at_once() -> None:
    """End the process with success; return where its last words cannot be printed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return  # the interpreter's own end says so
    os._exit(0)


@contextmanager
def cleanly_ended() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block through its ``finally``, as Ctrl-C does, with
    128 and the signal's number. An ignored signal, as under nohup, stays ignored."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    both = (signal.SIGTERM, signal.SIGHUP)
    ours = [number for number in both if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def main() -> None:
    """The program. An error on purpose is its text on stderr and its exit code."""
    _have_standard_files()
    try:
        cli(prog_name="pegasus-bb", obj=end_at_once)
    except PegasusBBError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        advice = _OWNER if error.errno in _NOT_ALLOWED else advice_on(error)
        if error.filename is not None and advice:
            _say(f"{error.filename}: {error.strerror}\n  fix:      {advice}")
            sys.exit(USAGE)
        if isinstance(error, FileNotFoundError) and not _has_folder():
            _say("the folder that you are in was removed\n  fix:      cd elsewhere")
            sys.exit(USAGE)
        if _can_speak():
            raise
        _end_unheard(error)
    except SystemExit as end:
        try:
            sys.stdout.flush()
        except OSError as error:
            _end_unheard(error)
        sys.exit(end.code)


def _have_standard_files() -> None:
    """/dev/null in place of those that are closed: what is opened first would take
    their numbers, and what is said would go there."""
    for number, (name, mode) in enumerate(
        (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
    ):
        if getattr(sys, name) is not None:
            continue
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)
        os.set_inheritable(number, True)
        # Names and words may be in any alphabet, and are read by none.
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace"))


def _has_folder() -> bool:
    """Whether the working directory is still there."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib takes time to load
    except FileNotFoundError:
        return False
    return True


def _can_speak() -> bool:
    """Asked after an OSError that may be of standard output, or of anything else."""
    try:
        os.write(sys.stdout.fileno(), b"\n")
    except OSError:
        return False
    return True


def _end_unheard(error: OSError) -> NoReturn:
    """Standard output takes nothing: 1, and one line where that can still be said."""
    from pegasus_bb.run.engine.terminal import mute  # costs more than most commands

    mute(sys.stdout)
    _say(f"standard output: {error.strerror}")
    sys.exit(BUG)


def _say(message: str) -> None:
    """On standard error, if it takes anything; the exit code stays in any case."""
    from pegasus_bb.cli.output import echo_lines

    try:
        echo_lines(f"pegasus-bb: {message}".split("\n"), err=True)
    except OSError:
        from pegasus_bb.run.engine.terminal import mute

        mute(sys.stderr)
