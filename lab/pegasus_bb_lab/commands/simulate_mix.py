"""Simulate a mix of jobs on variations of a machine, and print what differs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines, terminal_width, write_page, write_trace
from pegasus_bb.cli.progress_bar import progress
from pegasus_bb.core.errors import UsageError
from pegasus_bb_lab.commands.mix_options import (
    SEEDS,
    MixOptions,
    architectures_of,
    check_variations,
    variations_of,
)
from pegasus_bb_lab.model.machine import read_machine
from pegasus_bb_lab.model.mix import read_mix

if TYPE_CHECKING:  # NumPy is slow to load
    from pegasus_bb_lab.mix.cases import Case
    from pegasus_bb_lab.mix.events import Event


def simulate_mix(options: MixOptions, *, as_json: bool) -> None:
    if options.machine is None:
        raise UsageError("--mix needs a machine: --machine FILE")
    machine = read_machine(options.machine, os.environ)
    mix = read_mix(options.mix, machine, os.environ)
    architectures = architectures_of(options, machine)
    variations = variations_of(options)
    check_variations(machine, architectures, variations)
    if options.html is not None:
        import pegasus_bb.report.page  # noqa: F401 - fails at once if it is not installed
    from pegasus_bb_lab.commands.mix_tables import study_lines
    from pegasus_bb_lab.mix.cases import cases
    from pegasus_bb_lab.mix.study import study, to_document

    compared = cases(machine, architectures, variations)
    events: list[dict[str, Any]] = []

    def watch(case: Case, event: Event) -> None:
        events.append({"case": case.name, **event.to_json()})

    seeds = range(options.seeds or SEEDS)
    with progress("campaigns") as done:
        results = study(mix, compared, seeds, done, watch if options.trace else None)
    if as_json:
        document = to_document(mix, results)
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    else:
        echo_lines(study_lines(results, terminal_width(sys.stdout)))
    if options.html is not None:
        from pegasus_bb_lab.commands.campaign_page import campaigns_page

        write_page(options.html, campaigns_page(mix.source.name, results))
    if options.trace is not None:
        write_trace(options.trace, events)
