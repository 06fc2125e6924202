"""pegasus-bb simulate --mix FILE, whose members are workflows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

import click
import orjson

from pegasus_bb.cli.output import echo_lines
from pegasus_bb.cli.plan_options import options_of
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.decide.declared_speeds import without_speeds
from pegasus_bb.decide.place_files import place
from pegasus_bb.model.modes import PLANNED
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.planned_by import PlanningCommand
from pegasus_bb.planner.predicting import mode_predictions
from pegasus_bb.planner.reading import read
from pegasus_bb_lab.commands.mix_options import MixOptions
from pegasus_bb_lab.mix.shared_buffer import MixOutcome, PlannedMember, simulate_members
from pegasus_bb_lab.model.workflow_mix import Member, WorkflowMix

_HEAD = ("simulated", "mode", "start", "reserved", "waited", "makespan", "alone")


def show_workflows(mix: WorkflowMix, options: MixOptions, *, as_json: bool) -> None:
    """Simulate ``mix`` and print it. Raises UsageError and CatalogError."""
    given = [f.name for f in fields(options) if getattr(options, f.name) is not None]
    others = [name for name in given if name != "mix"]
    if others:
        raise UsageError(
            f"--mix {options.mix} with members takes no --{others[0]}: its keys say it"
        )
    planned: dict[Member, PlannedMember] = {}  # copies are planned once
    for member in mix.members:
        if member not in planned:
            planned[member] = _planned(mix, member)
    found = simulate_members([planned[each] for each in mix.members], mix.capacity)
    if as_json:
        document = {"version": 1, "simulated": True, **asdict(found)}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    else:
        echo_lines(_lines(found))


def _planned(mix: WorkflowMix, member: Member) -> PlannedMember:
    given = read(_options(mix, member))
    predictions = mode_predictions(given, place(given))
    if predictions is None:
        raise without_speeds(given, "simulate --mix")
    mode = PLANNED[member.mode]
    why = predictions.refusal(mode)
    name = member.workflow or member.planned
    if why:
        raise UsageError(f"{name}: mode {member.mode} cannot be simulated: {why}")
    return PlannedMember(
        name, member.start, predictions.simulator, predictions.mode(mode)
    )


def _options(mix: WorkflowMix, member: Member) -> PlanOptions:
    """Those of the planning of ``member``."""
    history = mix.folder / member.history if member.history else None
    if member.planned:
        folder = mix.folder / member.planned
        command = PlanningCommand.of_run(folder / "bb")
        if command.argv[:1] != ("plan",):
            raise UsageError(
                f"{folder}: it does not say how it was planned; name its workflow"
            )
        argv = list(command.argv[1:])
        cwd = Path(command.cwd)
        history = history or folder
    else:
        workflow = mix.folder / member.workflow
        argv, cwd = [workflow.name], workflow.parent
    argv += ["--bb-mode", member.mode]
    if history is not None:
        argv += ["--bb-history", str(history)]
    if mix.speeds:
        argv += ["--bb-speeds", str(mix.folder / mix.speeds)]
    return options_of(argv, cwd)


def _lines(found: MixOutcome) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [_HEAD]
    for each in found.members:
        reserved = format_size(each.reserved) if each.reserved else "-"
        seconds = (each.waited, each.makespan, each.alone)
        start = format_duration(each.start)
        times = map(format_duration, seconds)
        rows.append((each.name, each.mode, start, reserved, *times))
    yield from columns(rows, range(2, len(_HEAD)))
    of = f" of {format_size(found.capacity)}" if found.capacity else ""
    yield (
        f"at most {format_size(found.peak)}{of} reserved at a time; all have ended "
        f"after {format_duration(found.ended)}"
    )
