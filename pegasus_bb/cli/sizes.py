"""pegasus-bb sizes: how large the files of an earlier run were."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson
import yaml

from pegasus_bb.cli.output import write_page
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.model.document import load
from pegasus_bb.report.learn import history_of
from pegasus_bb.report.run_folder import read_run

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("sizes")
@click.argument("submit_dir", type=click.Path(path_type=Path))
@click.option("--workflow", type=_FILE, help="A workflow that has no sizes yet.")
@click.option("--output", type=_FILE, help="Where to write WORKFLOW with the sizes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def command(
    submit_dir: Path, workflow: Path | None, output: Path | None, *, as_json: bool
) -> None:
    """Show the size of every file that the run of SUBMIT_DIR has read or written.

    With --workflow and --output, the sizes are written into a copy of the workflow, as
    metadata of its files: an automatic capacity then needs no earlier run. A size that
    the workflow declares already stays.
    """
    if (workflow is None) != (output is None):
        raise UsageError("--workflow FILE and --output FILE belong together")
    if workflow and output and output.absolute() == workflow.absolute():
        raise UsageError(f"--output {output} is the workflow itself; name another file")
    sizes = history_of(read_run(submit_dir)).sizes
    if not sizes:
        raise UsageError(
            f"{submit_dir}: its records tell no size of any file; is it a submit "
            "directory whose run has done some tasks?"
        )
    if as_json:
        click.echo(orjson.dumps(sizes, option=orjson.OPT_INDENT_2).decode())
    elif workflow is None:
        rows = ((lfn, format_size(size), f"{size} B") for lfn, size in sizes.items())
        click.echo("\n".join(columns([("LFN", "size", "bytes"), *rows], right=(1, 2))))
    if workflow is not None and output is not None:
        _write(workflow, output, sizes, quiet=as_json)


def _write(
    workflow: Path, output: Path, sizes: Mapping[str, int], *, quiet: bool
) -> None:
    data = load(workflow, os.environ).data
    uses = list(_uses_without_size(data))
    known = [use for use in uses if str(use["lfn"]) in sizes]
    for use in known:
        use.setdefault("metadata", {})["size"] = sizes[str(use["lfn"])]
    write_page(output, yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    if quiet:
        return
    files = {str(use["lfn"]) for use in known}
    left = {str(use["lfn"]) for use in uses} - files
    click.echo(f"{output}: sizes of {format_files(len(files))} added")
    inputs = left - _made(data)
    if inputs:
        click.echo(_of_inputs(sorted(inputs)))
    if left - inputs:
        click.echo(f"not in the records: {', '.join(sorted(left - inputs))}")


def _of_inputs(lfns: Sequence[str]) -> str:
    if len(lfns) == 1:
        return f"{lfns[0]} is an input; its size comes from its replica"
    return f"{', '.join(lfns)} are inputs; their sizes come from their replicas"


def _made(data: Mapping[str, Any]) -> set[str]:
    """The files that jobs make."""
    uses = (use for job in data.get("jobs") or () for use in job.get("uses") or ())
    return {str(use["lfn"]) for use in uses if use.get("type") != "input"}


def _uses_without_size(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for job in data.get("jobs") or ():
        for use in job.get("uses") or ():
            if "size" not in use and "size" not in (use.get("metadata") or {}):
                yield use
