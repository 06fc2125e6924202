"""What the paper prints, computed: tables, provisioning, the shape of Fig. 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

from pegasus_bb_lab.commands.simulate_provision import to_document
from pegasus_bb_lab.model.applications import (
    AGGRESSIVE,
    DrainingInput,
    read_draining,
    read_targets,
)
from pegasus_bb_lab.provision import equations
from pegasus_bb_lab.provision.comparison import compare_policies, figures
from pegasus_bb_lab.provision.drain_outcome import Outcome, bandwidths
from pegasus_bb_lab.provision.equations import GB
from pegasus_bb_lab.provision.provision import provision, provision_load

from pegasus_bb.model.document import load

HERE = Path(__file__).parent
UNCOUNTED = "CHIMERA analysis"  # the paper's ideal leaves it out
OSTS = (4, 2)  # Fig. 8 a and b, c and d
HOUR = 3600.0
WINDOW = 10.0  # seconds: a monitor's poll; the paper does not give its own
_SHADES = " .:-=+*#%@"


def table2() -> dict[str, Any]:
    """Eq. 4 at the upper bound of each column, without the plateau."""
    document = load(HERE / "table2.yml", {})
    found = {}
    for name in document.data:
        target = read_targets(document.entry(name))[AGGRESSIVE]
        fitted = replace(target, plateau=float("inf"))
        found[name] = {
            "upper": target.upper,
            "bandwidth": equations.segment_bandwidth(fitted, target.upper) / GB,
        }
    return found


def provisioning() -> dict[str, Any]:
    """Of Table III: as the paper counts it, and all of it. GB/s."""
    everything = read_draining(HERE / "table3.yml")
    all_of_it = to_document(provision(everything))
    of_paper = to_document(provision(as_the_paper_counts(everything)))
    aggressive, conservative = of_paper["strategies"].values()
    return {
        "reactive": max(all_of_it["reactive"].values()),
        "ideal": of_paper["ideal"],
        "provisioned": aggressive["provisioned"],
        "provisioned_conservative": conservative["provisioned"],
        "ideal_all": all_of_it["ideal"],
        "provisioned_all": all_of_it["strategies"][AGGRESSIVE]["provisioned"],
        "fig12": all_of_it["reactive"],
    }


def as_the_paper_counts(table3: DrainingInput) -> DrainingInput:
    kept = tuple(each for each in table3.applications if each.name != UNCOUNTED)
    return replace(table3, applications=kept)


def eq8() -> dict[str, Any]:
    """Table III, drained proactively on the fewest targets that eq. 8 allows."""
    wanted = as_the_paper_counts(read_draining(HERE / "table3.yml"))
    target, load_in_all = (
        wanted.targets[AGGRESSIVE],
        equations.load(wanted.applications),
    )
    groups = ceil(provision(wanted).strategies[AGGRESSIVE].groups)
    used = provision_load(target, load_in_all, groups)
    parts = [replace(each, size=each.size // groups) for each in wanted.applications]
    run = compare_policies(target, parts, 4 * HOUR, seed=0).proactive
    late = figures([run], WINDOW)
    return {
        "groups": groups,
        "n_io": used.n_io,
        "used": load_in_all / groups / used.shared,
        "late": late.late,
        "dumps": late.dumps,
        "latest": late.latest,
    }


def fig8(seeds: int) -> tuple[dict[str, Any], list[str]]:
    """Peaks in GB/s over ``seeds`` runs of an hour, and the first run as a chart."""
    wanted = read_draining(HERE / "fig8.yml")
    found: dict[str, Any] = {"load": equations.load(wanted.applications) / GB}
    chart = []
    for osts in OSTS:
        target = equations.on_osts(wanted.targets[AGGRESSIVE], osts)
        runs = [
            compare_policies(target, wanted.applications, HOUR, seed)
            for seed in range(seeds)
        ]
        found[f"osts_{osts}"] = {
            "reactive": _peaks([run.reactive for run in runs]),
            "proactive": _peaks([run.proactive for run in runs]),
        }
        found["optimum"] = fmean(run.optimum for run in runs) / GB
        chart += [
            f"{osts} OSTs, reactive   |{_shaded(runs[0].reactive)}|",
            f"{osts} OSTs, proactive  |{_shaded(runs[0].proactive)}|",
        ]
    return found, chart


def _peaks(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    found = figures(outcomes, WINDOW)
    return {
        "peak": fmean(found.peaks) / GB,
        "peak_min": min(found.peaks) / GB,
        "peak_max": max(found.peaks) / GB,
        "late": found.late,
        "dumps": found.dumps,
    }


def _shaded(outcome: Outcome) -> str:
    """A character for each minute of the hour, the darker the more GB/s."""
    minutes = bandwidths(outcome.spans, 60.0)[:60]
    return "".join(_SHADES[min(9, int(rate / GB * 5 + 0.5))] for rate in minutes)
