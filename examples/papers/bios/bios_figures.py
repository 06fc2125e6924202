"""What the paper measures, simulated; and what a workflow system can do beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pegasus_bb_lab.flash.flash_outcome import Outcome
from pegasus_bb_lab.flash.flash_study import Study, record, simulate, study
from pegasus_bb_lab.flash.policies import LEGACY, USER, WITHOUT_TIMES
from pegasus_bb_lab.model.flash_device import FlashInput, read_flash

HERE = Path(__file__).parent
STRIPES = (1, 2, 4)  # devices that a file is striped over, with 8 users each
ERROR = 0.5  # sigma at which a policy is chosen


def synthetic(seeds: int) -> dict[str, Any]:
    """Sections 5.2 and 5.5: WAF and MB/s of one device. In 5.5 each device has as many
    users, and files are striped over more devices."""
    wanted = read_flash(HERE / "bios.yml")
    no_trim = replace(wanted, device=replace(wanted.device, trim=False))
    half = with_load(wanted, configuration=2)
    stripes = {str(n): measure([on_devices(half, n)] * 2, seeds) for n in STRIPES}
    best, *_ = measure([with_load(wanted, configuration=1)], seeds, [USER])
    config3, deaf = measure([wanted, no_trim], seeds, [USER, USER])
    return {
        "legacy": stripes["4"][0],  # the paper's, too, is configuration 2
        "best": best,
        "config2": stripes["4"][1],
        "config3": config3,
        "config3_no_trim": deaf,
        "job_per_stream": stripes["1"][1],
        "stripes": {n: {"legacy": a, "user": b} for n, (a, b) in stripes.items()},
    }


def policies(seeds: int) -> dict[str, Any]:
    """40 workflows of one user and of four."""
    wanted = read_flash(HERE / "workflows.yml")
    return {
        f"users_{users}": compare(with_load(wanted, users=users), seeds)
        for users in (1, 4)
    }


def shapes(seeds: int) -> dict[str, Any]:
    """40 workflows of one user, all of one shape; shorter and coarser, to be fast."""
    wanted = read_flash(HERE / "workflows.yml")
    load = replace(wanted.load, time=3600.0, after=1800.0, stripe=4 << 20)
    wanted = replace(wanted, load=load, errors=(ERROR,))
    return {
        shape.name: compare(with_load(wanted, shapes=(shape,)), seeds)
        for shape in load.kind.shapes
    }


def compare(wanted: FlashInput, seeds: int) -> dict[str, Any]:
    found = study(wanted, range(seeds), lambda done, of: None)
    auto = found.auto(ERROR)
    return {
        "waf": {name: found.waf(name) for name in found.outcomes},
        "auto": auto,
        "gain": found.waf(USER) / found.waf(auto),
        "least_gain": min(gains(found, auto)),
        "live": fmean(found.peaks),
    }


def gains(found: Study, policy: str) -> Sequence[float]:
    """BIOS's own rule to ``policy``, seed by seed."""
    pairs = zip(found.outcomes[USER], found.outcomes[policy], strict=True)
    return [own.waf / other.waf for own, other in pairs]


def measure(
    inputs: Sequence[FlashInput], seeds: int, names: Sequence[str] = (LEGACY, USER)
) -> list[dict[str, float]]:
    """Of each input with the policy beside it. Their loads are the same."""
    runs: list[list[Outcome]] = [[] for _ in inputs]
    for seed in range(seeds):
        trace = record(inputs[0], seed)
        for place, (wanted, name) in enumerate(zip(inputs, names, strict=True)):
            runs[place].append(simulate(wanted, trace, WITHOUT_TIMES[name]))
    return [_figures(each, inputs[0].device.devices) for each in runs]


def _figures(runs: Sequence[Outcome], devices: int) -> dict[str, float]:
    return {
        "waf": fmean(run.waf for run in runs),
        "mb_s": fmean(run.bandwidth for run in runs) / devices / 1e6,
        "drive_writes_per_day": fmean(run.flash_writes_per_day for run in runs),
    }


def on_devices(wanted: FlashInput, devices: int) -> FlashInput:
    """Files are striped over them; each device has 8 users."""
    found = replace(wanted, device=replace(wanted.device, devices=devices))
    return with_load(found, count=8 * devices)


def with_load(wanted: FlashInput, **changes: Any) -> FlashInput:
    """``changes`` of what writes: the users, or the workflows."""
    name = "users" if wanted.load.users else "workflows"
    load = replace(wanted.load, **{name: replace(wanted.load.kind, **changes)})
    return replace(wanted, load=load)
