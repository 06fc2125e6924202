"""pegasus-bb learn: how fast the storage of a site was for tasks of earlier runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import click

from pegasus_bb.cli.progress_bar import progress
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import format_size
from pegasus_bb.forecast.demands.effective_rates import EffectiveRates
from pegasus_bb.forecast.learned_place import LearnedPlace
from pegasus_bb.forecast.site_profile import update_profile
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.model.speeds import BYTES, CALLS
from pegasus_bb.report.learn import history_of
from pegasus_bb.report.run_folder import read_run

_HEAD = ("place", "bytes/s of a job", "calls/s of a job", "error", "tasks", "runs")


@click.command("learn")
@click.argument("submit_dirs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--profile",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The site profile: it is written, or these runs are added to it.",
)
@click.option("--site", help="Whose storage it is, if the runs do not say it.")
def command(submit_dirs: tuple[Path, ...], profile: Path, site: str | None) -> None:
    """Learn the effective speed of a site's storage from runs of any workflows.

    Each of SUBMIT_DIRS is a run that was planned here, on the PFS or on a tier. The
    profile is a file that --bb-speeds takes, for plans of other workflows. A run that
    it has already is not counted again.
    """
    with progress("runs") as done:
        runs: list[Run] = []
        for number, folder in enumerate(submit_dirs, start=1):
            runs.append(read_run(folder))
            done(number, len(submit_dirs))
    name = site or _site_of(runs)
    histories: list[History] = [history_of(run) for run in runs]
    learned = update_profile(profile, name, histories, date.today())
    click.echo("\n".join(columns([_HEAD, *_rows(learned.places)], right=range(1, 6))))
    for run in learned.again:
        click.echo(f"{run.source}: in the profile already, and not counted again")
    if set(learned.places) == {PFS}:
        click.echo(f"{profile}: it knows pfs alone; next: learn from a run on a tier")
    else:
        click.echo(f"{profile}: plan with --bb-speeds {profile}")


def _site_of(runs: list[Run]) -> str:
    """The site of the tasks. Raises UsageError if there are several, or none."""
    sites = {t.site for run in runs for t in run.tasks if t.kind is Kind.COMPUTE}
    if len(sites) != 1:
        found = ", ".join(sorted(sites)) or "no tasks"
        raise UsageError(f"the runs are of {found}; name one site with --site")
    return sites.pop()


def _rows(learned: Mapping[str, LearnedPlace]) -> list[tuple[str, ...]]:
    return [
        (
            place,
            _at_least(of.rates, BYTES) + f"{format_size(int(of.rates.bytes))}/s",
            _calls(of.rates),
            f"{of.rates.error:.0%}",
            str(of.rates.tasks),
            str(of.runs),
        )
        for place, of in learned.items()
    ]


def _calls(rates: EffectiveRates) -> str:
    if not math.isfinite(rates.calls):
        return "-"
    return _at_least(rates, CALLS) + f"{rates.calls:,.0f}"


def _at_least(rates: EffectiveRates, what: str) -> str:
    return "at least " if rates.at_least == what else ""
