"""What the demo says before its runs and after them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from demo_folders import Storage
from demo_shell import Shell, columns, folded, say, tell

from pegasus_bb.core.text import columns as columns_of

SIDES = {"pfs": "off", "bb": "persistent"}  # in this order; folder -> --bb-mode
Row = tuple[str, ...]
_REAL_SITE = (
    "For a real site install Pegasus, HTCondor and a Slurm with burst_buffer/datawarp; "
    "docs/tutorials/your-site.md."
)
_ORDER = (
    "Order: PFS first, then burst buffer. Before each run its inputs and programs are "
    "read once and the disks synced, so that both find the same in the page cache. "
    "Nothing is throttled."
)
_LINKED = (
    "Inputs of 1000genome lie on the site already, and its properties ask for links "
    "(pegasus.transfer.links): on the PFS side its stage_in copies nothing."
)
_PREDICTED = (
    "A line predicts one side by a simulation, from the runs of the sides in column "
    "from. One run gives a range, since it does not tell computing from calls to the "
    "storage (docs/demands.md).",
    "error: 0% is in the range; else how much more (+) or less (-) than the run the "
    "nearer end of the range is.",
    "auto takes: what --bb-mode auto chooses with these runs as its history: "
    "persistent (the burst buffer), off (the PFS), transient (a reservation for each "
    "job) or hybrid (both).",
    "loses: how much longer that choice took than the faster side; -: it was not run.",
)
_HEAD = ("workflow", "side", "from", "predicted", "was", "error", "auto takes", "loses")
_SINGLE = (
    "These are single runs: differences of this size may be noise. To repeat them, and "
    "see the errors:"
)


def introduce(folder: Path, storage: Storage) -> None:
    """What the two tiers really are, and what is done alike for both."""
    say("pegasus-bb demo: built-in planner, local engine, directory backend")
    tell(_REAL_SITE)
    tell(
        f"PFS: {folder}, a folder on this disk, through the page cache; it stands for "
        "a parallel file system and is none."
    )
    tell(f"Burst buffer: {storage.path}, {storage.what}.")
    if storage.same_disk:
        say("Both tiers are the same disk here: expect ratios near 1.")
    tell(_ORDER)
    tell(_LINKED)


def conclude(report: dict[str, Any], path: str, page: str) -> None:
    """Both sides of every example in a table, and where the rest is."""
    say(f"\n{'seconds':32}     PFS      BB  PFS/BB")
    for name, example in report["examples"].items():
        workflow = example["comparison"]["workflow"]
        pair = workflow["makespan"]
        values = [_mean(pair["pfs"]), _mean(pair["bb"]), _shown(pair["ratio"])]
        say(f"{name:12} {'makespan':19}" + "".join(f"{value:>8}" for value in values))
    _predicted(report)
    say(f"\nevery number: {path}\ndrawn, for a browser: {page}")


def _predicted(report: dict[str, Any]) -> None:
    """The makespan of each side as runs predict it, beside what it was; and the mode
    that --bb-mode auto would take."""
    rows = [_HEAD]
    for name, example in report["examples"].items():
        pair = example["comparison"]["workflow"]["makespan"]
        took = {side: pair[side] and pair[side]["mean"] for side in SIDES}
        rows += [_row(name, found, took) for found in example["predicted"]]
    say("\nMakespans in seconds, as predicted and as they were:")
    say("\n".join(columns_of(rows, right=(3, 4, 5, 7))))
    for paragraph in _PREDICTED:
        tell(paragraph)


def _row(name: str, found: dict[str, Any], took: dict[str, float | None]) -> Row:
    """One prediction, beside what was measured: seconds by side."""
    low, high, seconds = found["low"], found["high"], took[found["side"]]
    said = f"{low:.1f} to {high:.1f}" if high - low > 0.1 else f"{high:.1f}"
    error = min(max(seconds, low), high) / seconds - 1 if seconds else None
    chosen = {mode: took[side] for side, mode in SIDES.items()}.get(found["preferred"])
    best = min((each for each in took.values() if each), default=None)
    loses = chosen / best - 1 if chosen and best else None
    return (
        name,
        found["side"],
        " and ".join(found["histories"]),
        said,
        _shown(seconds),
        "-" if error is None else f"{error:+.0%}",
        found["preferred"],
        "-" if loses is None else f"{loses:.0%}",
    )


def how_to_repeat(shell: Shell, folder: Path, example: str, sides: list[str]) -> None:
    """What single runs are worth, and the commands that tell more."""
    again, python = folder / "again", Path(sys.executable)
    options = [
        word
        for side in sides
        for demo in (folder, again)
        for word in (f"--{side}", shell.short(demo / example / side))
    ]
    tell(_SINGLE)
    _show(shell, [python, "examples/demo.py", "--demo-dir", shell.short(again)])
    _show(shell, [shell.bin / "pegasus-bb", "report", *options])


def _show(shell: Shell, argv: Iterable[Path | str]) -> None:
    program, *arguments = (shell.short(Path(word)) for word in argv)
    say(folded(f"  {program}", arguments, columns()))


def _mean(stat: dict[str, float] | None) -> str:
    return _shown(stat["mean"] if stat else None)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
