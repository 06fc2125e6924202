"""pegasus-bb stage: copy a file or a folder as the workflow's transfers do."""

from __future__ import annotations

import gc
import json
import os
import sys
import time

import click

from pegasus_bb.core.errors import DONE, INTERRUPTED, NOT_COPIED, UsageError
from pegasus_bb.core.units import format_duration, format_files, format_size
from pegasus_bb.runtime.staging.digests import SHA256, Digest
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.stage_journal import StageJournal, journal_path
from pegasus_bb.runtime.staging.stage_tree import Stage, check_places


@click.command("stage")
@click.option(
    "--verify",
    type=click.Choice(["none", "size", "digest"]),
    default="digest",
    show_default=True,
    help="digest: the journal gets the digest of each file. Sizes are always compared.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@click.argument("source", type=click.Path())
@click.argument("dest", type=click.Path())
def command(
    verify: str,
    *,
    as_json: bool,
    quiet: bool,
    source: str,
    dest: str,
) -> None:
    """Copy SOURCE, a file or a folder, to DEST.

    The contents of a folder go into DEST; a file becomes DEST, or goes into it if DEST
    is a folder or ends in a slash. Each file appears under its name whole and durable,
    or not at all. After a failure or a crash run it again: files that arrived, and did
    not change on either side, are not copied again.

    Exit status: 0 if all files are there; 81 if some did not arrive (each is named).
    """
    begun = time.monotonic()
    come, go = _places(source, dest)
    check_places(come, go)
    where = journal_path(come, go)
    stage = Stage(
        come,
        go,
        StageJournal(where, come, go),
        digest=_digest() if verify == "digest" else None,
        fail=_say,
    )
    _collect_rarely()
    status = _run(stage, shown=not (quiet or as_json))
    seconds = time.monotonic() - begun
    if as_json:
        click.echo(json.dumps(_document(stage, status, seconds, where)))
    elif not quiet:
        click.echo(_summary(stage, seconds), err=True)
    sys.exit(status)


def _places(source: str, dest: str) -> tuple[str, str]:
    for what, path in (("SOURCE", source), ("DEST", dest)):
        if not path:
            raise UsageError(f"{what} is empty; the folder that you are in is .")
    come = os.path.abspath(source)
    go = os.path.abspath(dest)
    into = os.path.isdir(go) or dest.endswith(("/", "/."))
    if into and not os.path.isdir(come):
        go = os.path.join(go, os.path.basename(come))
    return come, go


def _run(stage: Stage, *, shown: bool) -> int:
    try:
        if shown and sys.stderr.isatty():
            done = _run_with_progress(stage)
        else:
            done = stage.run()
    except KeyboardInterrupt:
        click.echo("pegasus-bb: interrupted; run it again to continue", err=True)
        return INTERRUPTED
    return DONE if done else NOT_COPIED


def _run_with_progress(stage: Stage) -> bool:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.fields[files]} files"),
        progress.FileSizeColumn(),
        progress.TransferSpeedColumn(),
    )
    on_terminal = Console(stderr=True)
    with progress.Progress(*columns, console=on_terminal, transient=True) as bar:
        task = bar.add_task("", total=None, files=0)

        def tell(size: int) -> None:
            bar.update(task, advance=size, files=stage.files + stage.kept)

        return stage.run(tell)


def _collect_rarely() -> None:
    """What is made for each file makes no cycles, and would be looked through often."""
    gc.freeze()
    gc.set_threshold(50_000)


def _digest() -> Digest:
    """SHA-256 hashes a gigabyte in half a second; BLAKE3 in a quarter of that."""
    try:
        from blake3 import blake3
    except ImportError:  # no build of it for this machine
        return SHA256
    return Digest("blake3", blake3)


def _say(failure: CopyFailed) -> None:
    click.echo(f"pegasus-bb: {failure}", err=True)


def _summary(stage: Stage, seconds: float) -> str:
    line = format_files(stage.files)
    line += f", {format_size(stage.bytes)} in {format_duration(seconds)}"
    if stage.bytes:
        line += f" ({format_size(int(stage.bytes / max(seconds, 1e-3)))}/s)"
    if stage.kept:
        line += f"; {stage.kept} {'was' if stage.kept == 1 else 'were'} there already"
    if stage.failed:
        line += f"; {stage.failed} FAILED, run it again once that is mended"
    return line


def _document(
    stage: Stage, status: int, seconds: float, journal: str
) -> dict[str, object]:
    return {
        "source": stage.source,
        "dest": stage.dest,
        "status": status,
        "files": stage.files,
        "bytes": stage.bytes,
        "kept": stage.kept,
        "failed": stage.failed,
        "folders": stage.folders,
        "links": stage.links,
        "seconds": round(seconds, 3),
        "journal": journal,
    }
