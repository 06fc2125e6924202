"""pegasus-bb run: run a planned workflow, or go on where it stopped."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import click

from pegasus_bb.core.errors import RunFailed, UsageError, advice_on
from pegasus_bb.core.units import format_duration
from pegasus_bb.run.engine.dagman.find import Found, check_no_dagman, find, log_of
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.node_progress import Lines, Quiet
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.run.engine.terminal import mute_if_gone, unbreakable
from pegasus_bb.runtime.backends.identity import user_name

if TYPE_CHECKING:
    from pegasus_bb.run.engine.local import RunOutcome
    from pegasus_bb.run.engine.lost_inputs import Ask

LOCAL = "local"
DAGMAN = "dagman"
AUTO = "auto"
_IN_JOBS = "only jobs of Slurm see its buffer, so run it where HTCondor takes jobs"
_SQUASHED = 65534  # the owner of root's files on a network file system
ENGINES = (AUTO, LOCAL, DAGMAN)


class EngineChoice(NamedTuple):
    engine: str
    why: str


def choose_engine(
    place: SubmitDir, wish: str, *, restart: bool = False
) -> EngineChoice:
    """Choose ``wish``, or for ``auto`` DAGMan where a schedd takes jobs, else local.

    ``auto`` keeps an unfinished run with the engine that began it. Raises UsageError
    and SchedulerUnreachable where that engine cannot continue it.
    """
    _check_user(place)
    if wish != AUTO:
        elsewhere = f"; {_IN_JOBS}" if wish == LOCAL and _is_in_jobs(place) else ""
        return EngineChoice(wish, f"--engine{elsewhere}")
    found = find(place)
    if found is not None and found.alive:
        return EngineChoice(
            DAGMAN, f"it works on it already, as job {found.life.cluster}"
        )
    if found is not None:
        check_no_dagman(place)
    begun = "" if restart else _unfinished_engine(place, found)
    from pegasus_bb.run.engine.dagman import queue

    if begun == LOCAL:
        has_dagman = shutil.which(queue.SUBMIT) is not None
        more = "; --engine dagman hands it over" if has_dagman else ""
        return EngineChoice(LOCAL, f"it began this run{more}")
    from pegasus_bb.run.engine.dagman.submit_dag import follow_problem

    problem = queue.submit_problem() or follow_problem(place, place.read_dag())
    if not problem:
        return EngineChoice(
            DAGMAN, "it began this run" if begun else "a schedd takes jobs here"
        )
    if _is_in_jobs(place):
        raise UsageError(f"{place.path}: {_IN_JOBS}, and here {problem}")
    if begun:
        raise UsageError(
            f"{place.path}: begun under DAGMan, and here {problem}; --engine local "
            "takes it over from what DAGMan has noted"
        )
    return EngineChoice(LOCAL, problem)


def _is_in_jobs(place: SubmitDir) -> bool:
    """Whether its buffer is mounted in jobs, and not on this machine."""
    bb = place.bb_dir
    return bb.has_request and bb.request().kind.is_mounted


def _check_user(place: SubmitDir) -> None:
    """Raises UsageError for root where the run is another user's."""
    owner = place.path.stat().st_uid
    if os.geteuid() == 0 and owner not in (0, _SQUASHED):
        raise UsageError(
            f"{place.path}: is a run of user {user_name(owner)}, and root's tasks "
            "would have the rights of root, and leave files that its user cannot "
            f"change; as that user: pegasus-bb run {quote(str(place.path))}"
        )


def _unfinished_engine(place: SubmitDir, found: Found | None) -> str:
    """The engine of an unfinished run; empty where the run has ended or not begun."""
    if read_history(place.journal).finished == 0:
        return ""
    local = _age(place.processes)
    if found is not None and _age(log_of(place)) >= local:
        return DAGMAN
    return LOCAL if local else ""


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


@click.command("run")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=AUTO,
    show_default=True,
    help="dagman: HTCondor runs the jobs; local: this machine does; auto: the engine "
    "that began the run, else dagman if a schedd takes jobs.",
)
@click.option(
    "--slots",
    "-s",
    type=click.IntRange(min=1),
    help="Local engine: jobs that run at the same time (default: one per processor). "
    "Jobs of universe local do not count.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="Start over; journal and rescue files of earlier runs are moved aside. "
    "Refused while the run still has its reservation.",
)
@click.option(
    "--remake",
    is_flag=True,
    help="If the tier lost an input of a failed node, run the node that makes it "
    "again, without asking.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@click.argument("submit_dir", type=click.Path(path_type=Path))
def command(
    *,
    engine: str,
    slots: int | None,
    restart: bool,
    remake: bool,
    quiet: bool,
    submit_dir: Path,
) -> None:
    """Run the DAG in SUBMIT_DIR, under HTCondor's DAGMan or on this machine.

    After a failure, Ctrl-C or a crash, run the same command again: it continues where
    it stopped and repeats no finished node. Under DAGMan, Ctrl-C only stops following
    the workflow; the same command follows it again.

    Exit status: 0 if all nodes are done, or ABORT-DAG-ON ends the DAG with 0; 80 if a
    node failed; 130 if interrupted.
    """
    progress = (Quiet if quiet else Lines)(sys.stderr, submit_dir)
    try:
        with _system_errors(submit_dir):
            chosen = choose_engine(find_submit_dir(submit_dir), engine, restart=restart)
            if not quiet:
                line = f"engine: {chosen.engine} ({chosen.why})"
                print(line, file=unbreakable(sys.stderr), flush=True)
            done = _engine(chosen.engine, slots or 0)(
                submit_dir, progress=progress, restart=restart, ask=_ask(remake=remake)
            )
    finally:  # how it ended is the exit status, also where standard error is closed
        mute_if_gone(sys.stderr)
    from pegasus_bb.cli.fallback import pfs_lines

    for line in pfs_lines(find_submit_dir(submit_dir).path):
        click.echo(line, err=True)
    for file in done.moved:
        click.echo(f"moved aside: {file}", err=True)
    if done.done_before == done.total:
        nodes = "the node was" if done.total == 1 else f"all {done.total} nodes were"
        click.echo(f"{nodes} done before; --restart runs them again", err=True)
    elif done.done < done.total:
        kept = f"\nrescue file: {done.rescue.name}" if done.rescue else ""
        click.echo(
            f"the DAG ended itself (ABORT-DAG-ON with status 0): {done.done} of "
            f"{done.total} nodes are done{kept}\n"
            f"to do the rest: pegasus-bb run {submit_dir}",
            err=True,
        )
    elif not quiet:
        nodes = "the node is" if done.total == 1 else f"all {done.total} nodes are"
        click.echo(f"{nodes} done ({format_duration(done.seconds)})", err=True)


def _engine(name: str, slots: int) -> Callable[..., RunOutcome]:
    if name == LOCAL:
        from pegasus_bb.run.engine import local

        return partial(local.run, slots=slots)
    from pegasus_bb.run.engine.dagman import running

    return running.run


@contextmanager
def _system_errors(submit_dir: Path) -> Iterator[None]:
    """Raises RunFailed in place of an OSError that is the system's to mend."""
    try:
        yield
    except OSError as error:
        would_do = advice_on(error)
        if not would_do or error.errno in (errno.EACCES, errno.EPERM):  # a bug
            raise
        raise RunFailed(
            f"{error.filename or submit_dir}: {error.strerror}; the run could not go "
            f"on, and what it had started was stopped. {would_do.capitalize()}, then: "
            f"pegasus-bb run {submit_dir}"
        ) from error


def _ask(*, remake: bool) -> Ask:

    def answer(question: str) -> bool:
        return remake or (sys.stdin.isatty() and click.confirm(question, err=True))

    return answer
