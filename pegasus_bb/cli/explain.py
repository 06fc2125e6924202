"""pegasus-bb explain: where every file would live, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson

from pegasus_bb.cli.options import (
    catalog_options,
    settings_as_properties,
    settings_options,
)
from pegasus_bb.errors import UsageError
from pegasus_bb.model.placement import Placed
from pegasus_bb.model.settings import PREFIX
from pegasus_bb.placement import Explanation, explain
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.planning import read_and_decide
from pegasus_bb.units import format_size


@click.command("explain", short_help="Say where each file would live, and why.")
@catalog_options
@settings_options
@click.option("-J", "--json", "as_json", is_flag=True, help="For programs.")
@click.argument("workflow", type=Path, default="workflow.yml")
def command(as_json: bool, **options: Any) -> None:
    """Show the tier of every file of WORKFLOW with the reason, and the room needed.

    Takes the options of plan, writes nothing, and asks no scheduler.
    """
    explanation = _explain(options)
    if as_json:
        click.echo(orjson.dumps(explanation.to_json(), option=orjson.OPT_INDENT_2))
    else:
        _print(explanation)


def _explain(options: dict[str, Any]) -> Explanation:
    said = {f"{PREFIX}mode": "persistent", **settings_as_properties(options)}
    sites = tuple(s.strip() for s in options.pop("sites").split(",") if s.strip())
    decided = read_and_decide(
        PlanOptions(cwd=Path.cwd(), said=said, sites=sites, **options)
    )
    if decided.placement is None:
        raise UsageError("with --bb-mode off every file lives on the PFS")
    return explain(decided.placement, decided.settings)


def _print(explanation: Explanation) -> None:
    rows = [("LFN", "size", "tier", "how", "reason"), *map(_row, explanation.files)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:4]
    form = "{{:{}}}  {{:>{}}}  {{:{}}}  {{:{}}}  {{}}".format(*widths)
    click.echo("\n".join(form.format(*row) for row in rows))
    click.echo("\n".join(_totals(explanation)))


def _row(file: Placed) -> tuple[str, str, str, str, str]:
    size = "unknown" if file.size is None else format_size(file.size)
    return file.lfn, size, file.tier, file.how, file.reason


def _totals(explanation: Explanation) -> list[str]:
    lines = [""]
    for group in explanation.groups:
        unknown = f", {group.unknown} of unknown size" if group.unknown else ""
        lines.append(
            f"{group.tier} ({group.how}): {group.files} files, "
            f"{format_size(group.size)}{unknown}"
        )
    lines.append(f"needed on tier {explanation.tier}: {format_size(explanation.need)}")
    if explanation.unknown:
        shown = ", ".join(explanation.unknown[:10])
        more = ", ..." if len(explanation.unknown) > 10 else ""
        lines.append(f"size unknown, not counted: {shown}{more}")
    how = (
        "as given"
        if explanation.headroom is None
        else f"{explanation.headroom} % headroom"
    )
    lines.append(
        f"capacity: {format_size(explanation.capacity)} ({how}, in steps of "
        f"{format_size(explanation.granularity)}) on {explanation.site}, "
        f"{explanation.backend}"
    )
    return lines
