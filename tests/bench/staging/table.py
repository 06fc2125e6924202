"""Medians of all rounds, one table a scene; the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import median

from tests.bench.staging.goals import Goal, ratios
from tests.bench.staging.peers import OURS
from tests.bench.staging.scenes import Run, Scene
from tests.bench.staging.sets import MIB

_HEAD = (
    f"{'':26} {'s':>8} {'MiB/s':>8} {'files/s':>9} {'CPU s':>7} {'peak MiB':>9} "
    f"{'times ours':>11} {'rounds':>7}"
)


def table(scene: Scene, runs: Sequence[Run], missing: Mapping[str, str]) -> str:
    """All rows of ``scene``: ours, the others by speed, then the missing ones."""
    title = f"{scene.title}: {len(scene.files.files)} files, "
    lines = [f"{title}{scene.files.size / MIB:.0f} MiB", _HEAD]
    names = dict.fromkeys(run.name for run in runs)
    rows = {name: [run for run in runs if run.name == name] for name in names}
    lines += [_row(runs, name) for name in sorted(rows, key=lambda n: _rank(rows[n]))]
    lines += [f"{name:26} {why}" for name, why in missing.items() if why]
    return "\n".join(lines)


def _rank(runs: Sequence[Run]) -> tuple[bool, float]:
    done = [run.cost.wall for run in runs if not run.failed]
    return runs[0].name != OURS, median(done) if done else float("inf")


def _row(runs: Sequence[Run], name: str) -> str:
    own = [run for run in runs if run.name == name]
    if failed := [run.failed for run in own if run.failed]:
        return f"{name:26} FAILED {len(failed)} of {len(own)} times: {failed[0]}"
    wall = median(run.cost.wall for run in own)
    files = own[0].scene.files
    values = ratios(runs, name)
    times = f"{median(values):.2f}" if values else "-"
    return (
        f"{name:26} {wall:>8.2f} {files.size / MIB / wall:>8.0f} "
        f"{len(files.files) / wall:>9.0f} {median(run.cost.cpu for run in own):>7.2f} "
        f"{max(run.cost.mib for run in own):>9.0f} {times:>11} {len(own):>7}"
    )


def as_json(
    runs: Sequence[Run], goals: Sequence[Goal], missing: Mapping[str, str]
) -> dict[str, object]:
    """Every single run, so that others can compute other figures."""
    return {
        "missing": dict(missing),
        "goals": [asdict(goal) for goal in goals],
        "runs": [
            {
                "set": run.scene.files.name,
                "files": len(run.scene.files.files),
                "bytes": run.scene.files.size,
                "source": run.scene.on,
                "cache": run.scene.cache,
                "round": run.round,
                "name": run.name,
                "failed": run.failed,
                **asdict(run.cost),
            }
            for run in runs
        ],
    }
