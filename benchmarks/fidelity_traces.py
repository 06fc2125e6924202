"""Forecasts of runs that others recorded: workflows in WfFormat (WfCommons).

A trace has the tasks, their run times and processor time, the sizes of files, the
machines, and how long all of it took. It has no rates of storage, and neither the times
nor the bytes of what the workflow system did: transfers, and waiting in queues. These
are in the makespans of other runs. So a run is forecast from runs of about its size
whose names differ in one part: another size, or the number of a repetition.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from statistics import median

from benchmarks.fidelity_cases import Forecast
from benchmarks.one_site import (
    File,
    options_in,
    replica,
    site_documents,
    write_documents,
)
from pegasus_bb.decide.place_files import place
from pegasus_bb.model.history import History, Past, combine
from pegasus_bb.model.modes import OFF
from pegasus_bb.planner.predicting import mode_predictions
from pegasus_bb.planner.reading import read

WHERE = "PEGASUS_BB_TRACES"  # a folder, with folders below it
_ANY = {"read": "1PB/s", "write": "1PB/s"}  # unknown: all that a task took is computing
_ALIKE = 1.5  # as many times the tasks or the bytes


class Trace:
    def __init__(self, path: Path) -> None:
        whole = json.loads(path.read_bytes())["workflow"]
        done = whole["execution"]
        self.name = path.stem
        self.tasks = whole["specification"]["tasks"]
        self.sizes = {
            f["id"]: f["sizeInBytes"] for f in whole["specification"]["files"]
        }
        self.done = {task["id"]: task for task in done["tasks"]}
        self.makespan = float(done["makespanInSeconds"])
        self.slots = sum(each["cpu"]["coreCount"] for each in done["machines"])

    def is_learned_from(self, other: Trace) -> bool:
        """Whether ``other`` tells of this one."""
        pairs = list(zip(self.name.split("-"), other.name.split("-"), strict=False))
        more = (
            len(self.tasks) / len(other.tasks),
            sum(self.sizes.values()) / max(1, sum(other.sizes.values())),
        )
        differ = sum(mine != its for mine, its in pairs)
        return differ == 1 and all(1 / _ALIKE < each < _ALIKE for each in more)

    @cached_property
    def history(self) -> History:
        pasts = {}
        kinds: dict[str, list[Past]] = {}
        for ident, task in self.done.items():
            seconds = task["runtimeInSeconds"]
            user = seconds * task.get("avgCPU", 0.0) / 100
            pasts[ident] = Past(seconds, user=user)
            kinds.setdefault(self.program(ident), []).append(pasts[ident])
        return History(
            jobs=pasts,
            transformations={
                name: Past(median(past.duration for past in some))
                for name, some in kinds.items()
            },
            sizes=self.sizes,
            makespan=self.makespan,
            source=self.name,
        )

    def program(self, ident: str) -> str:
        return str(self.done[ident]["command"]["program"])

    def forecast(self, folder: Path, others: Sequence[Trace]) -> Forecast:
        self.write(folder)
        given = read(options_in(folder))
        given = replace(given, history=combine([other.history for other in others]))
        predictions = mode_predictions(given, place(given))
        assert predictions is not None
        found = predictions.of(OFF)
        return Forecast(self.name, found.low, found.high, [self.makespan])

    def write(self, folder: Path) -> None:
        made = {lfn for task in self.tasks for lfn in task.get("outputFiles", ())}
        jobs = [
            {
                "type": "job",
                "name": self.program(task["id"]),
                "id": task["id"],
                "arguments": [],
                "uses": [
                    File(lfn, kind, self.sizes[lfn]).use
                    for kind in ("input", "output")
                    for lfn in dict.fromkeys(task.get(f"{kind}Files", ()))
                ],
            }
            for task in self.tasks
        ]
        after = [
            {"id": task["id"], "children": task["children"]}
            for task in self.tasks
            if task.get("children")
        ]
        programs = {self.program(ident) for ident in self.done}
        tier = {"name": "bb", "backend": "directory", "path": "/bb", "capacity": "auto"}
        speeds = {"slots": self.slots, "pfs": _ANY, "bb": _ANY}
        write_documents(
            folder,
            workflow={"name": "trace", "jobs": jobs, "jobDependencies": after},
            replicas={"replicas": [replica(f) for f in self.sizes if f not in made]},
            **site_documents("site", "/scratch", tier, speeds, programs),
        )


def of_traces(folder: Path) -> Iterator[Forecast | str]:
    """Yield forecasts, and lines that say what is left out."""
    root = os.environ.get(WHERE)
    found = sorted(Path(root).rglob("*-chameleon-*.json")) if root else []
    traces = [Trace(path) for path in found]
    if not traces:
        yield f"public traces: left out; {WHERE} names a folder with them"
        return
    alone = []
    for number, trace in enumerate(traces):
        others = [each for each in traces if trace.is_learned_from(each)]
        if not others:
            alone.append(trace.name)
            continue
        place = folder / str(number)
        place.mkdir(parents=True)
        yield trace.forecast(place, others)
    yield (
        f"public traces: {len(alone)} of {len(traces)} left out: no other is of about "
        "their size, and a trace alone does not tell what transfers and queues took"
    )
