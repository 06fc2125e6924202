"""The workflows of `make bench-chains`, and the task that all their jobs run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

MIB = 1 << 20
MOVED = 4096 * MIB  # read and written by all tasks of a trace, at most
# `mix TEMPORARY COUNT OUT SIZE ... IN ...`: makes so many temporary files of 1 KiB,
# reads and removes them; reads every input, writes so many bytes to each of COUNT
# outputs. They depend on the inputs, and on the output's name.
TASK = """{shebang}
import hashlib, os, sys
temporary, count, *words = sys.argv[1:]
end = 2 * int(count)
found = hashlib.sha256()
if int(temporary):
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(temporary)):
            with open(f"{{folder}}/{{number}}", "wb") as made:
                made.write(b"t" * 1024)
        for number in range(int(temporary)):
            with open(f"{{folder}}/{{number}}", "rb") as made:
                found.update(made.read())
for name in words[end:]:
    with open(name, "rb") as given:
        while piece := given.read(1 << 20):
            found.update(piece)
for out, size in zip(words[:end:2], words[1:end:2]):
    own = found.copy()
    own.update(os.path.basename(out).encode())
    piece = own.digest() * 32768
    with open(out, "wb") as result:
        for at in range(0, int(size), len(piece)):
            result.write(piece[: int(size) - at])
"""


class Step(NamedTuple):
    outputs: Mapping[str, int]  # name -> bytes
    inputs: tuple[str, ...] = ()
    temporary: int = 0  # files

    @property
    def name(self) -> str:
        return next(iter(self.outputs))

    @property
    def words(self) -> list[str]:
        """The arguments of its task."""
        pairs = [
            word for out, size in self.outputs.items() for word in (out, str(size))
        ]
        return [str(self.temporary), str(len(self.outputs)), *pairs, *self.inputs]


@dataclass(frozen=True)
class Shape:
    name: str
    goal: float  # how many times as fast with chains
    steps: tuple[Step, ...]  # each after those whose files it reads
    inputs: Mapping[str, int] = field(default_factory=dict)  # of no step: bytes

    @property
    def makers(self) -> dict[str, str]:
        """File -> the step that makes it."""
        return {out: step.name for step in self.steps for out in step.outputs}

    @property
    def results(self) -> set[str]:
        """What no step reads."""
        read = {lfn for step in self.steps for lfn in step.inputs}
        return self.makers.keys() - read


def producers(pairs: int = 6, size: int = 96 * MIB) -> Shape:
    """NORNS (Miranda et al., CLUSTER 2019): a producer, and a consumer of what it has
    made; 170 s through the PFS, 96 s on the node."""
    steps = []
    for n in range(pairs):
        steps += [Step({f"made{n}": size}), Step({f"result{n}": MIB}, (f"made{n}",))]
    return Shape("producer and consumer", 1.77, tuple(steps))


def map_reduce(tasks: int, size: int = 12 * MIB) -> Shape:
    """The shape of TaskVine's at SC24: tasks that make events, tasks that fill a
    histogram from them, and one that adds up."""
    steps = []
    for n in range(tasks // 2):
        steps += [
            Step({f"events{n}": size}),
            Step({f"part{n}": 16384}, (f"events{n}",)),
        ]
    steps.append(Step({"sum": MIB}, tuple(f"part{n}" for n in range(tasks // 2))))
    return Shape("map-reduce", 2.0, tuple(steps))


def temporary_files(tasks: int = 4, files: int = 8128) -> Shape:
    """Tasks that work with many small files, as legacy codes do."""
    steps = (Step({f"found{n}": MIB}, (), files) for n in range(tasks))
    return Shape("temporary files", 10.0, tuple(steps))


def of_trace(path: Path, most: int = MOVED) -> tuple[Shape, float]:
    """The workflow of a WfInstances trace (WfFormat 1.5, or 1.4), and the factor of its
    sizes. Its run times are not kept: a task takes what its files take."""
    workflow = json.loads(path.read_text())["workflow"]
    steps, sizes = _steps(workflow), _sizes(workflow)
    used = (lfn for step in steps for lfn in (*step.outputs, *step.inputs))
    factor = min(1.0, most / max(1, sum(sizes.get(lfn, 0) for lfn in used)))

    def scaled(lfn: str) -> int:
        return max(1, round(sizes.get(lfn, 0) * factor))

    made = {out for step in steps for out in step.outputs}
    read = {lfn for step in steps for lfn in step.inputs}
    every = (Step({o: scaled(o) for o in step.outputs}, step.inputs) for step in steps)
    inputs = {lfn: scaled(lfn) for lfn in sorted(read - made)}
    return Shape(f"trace {path.stem}", 2.0, tuple(_sorted(list(every))), inputs), factor


def _steps(workflow: Mapping[str, Any]) -> list[Step]:
    """Those tasks that make a file. One that two of them make is the first one's."""
    known = workflow.get("specification", workflow)
    made: set[str] = set()
    steps = []
    for task in known["tasks"]:
        files = {
            "input": task.get("inputFiles", []),
            "output": task.get("outputFiles", []),
        }
        for file in task.get("files", ()):
            files[file["link"]].append(file.get("id") or file["name"])
        lfns = {kind: [_flat(lfn) for lfn in listed] for kind, listed in files.items()}
        outputs = {lfn: 0 for lfn in lfns["output"] if lfn not in made}
        made |= outputs.keys()
        inputs = tuple(x for x in dict.fromkeys(lfns["input"]) if x not in outputs)
        steps += [Step(outputs, inputs)] if outputs else []
    return steps


def _sizes(workflow: Mapping[str, Any]) -> dict[str, int]:
    known = workflow.get("specification", workflow)
    files = [*known.get("files", ())]
    files += [file for task in known["tasks"] for file in task.get("files", ())]
    return {_flat(x.get("id") or x["name"]): int(x["sizeInBytes"]) for x in files}


def _flat(lfn: str) -> str:
    return lfn.replace("/", "_")


def _sorted(steps: list[Step]) -> Iterator[Step]:
    by_name = {step.name: step for step in steps}
    maker = {out: step.name for step in steps for out in step.outputs}
    above = {
        step.name: {maker[lfn] for lfn in step.inputs if lfn in maker} for step in steps
    }
    for name in TopologicalSorter(above).static_order():
        yield by_name[name]
