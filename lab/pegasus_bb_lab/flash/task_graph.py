"""A shape as a graph of tasks: who reads whose file, and who reads it last."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasus_bb_lab.model.flash_workflows import Shape, Stage


@dataclass(slots=True)
class Task:
    stage: Stage
    level: int  # tasks on the longest way to it
    parents: list[int]
    children: list[int] = field(default_factory=list)
    last: int = 0  # level of the last reader; of a result: beyond all levels


def to_graph(shape: Shape) -> list[Task]:
    tasks: list[Task] = []
    begins: list[int] = []  # the first task of each stage
    for stage in shape.stages:
        begins.append(len(tasks))
        for place in range(stage.tasks):
            parents = _parents(shape, stage, place, begins)
            level = 1 + max((tasks[each].level for each in parents), default=-1)
            for parent in parents:
                tasks[parent].children.append(len(tasks))
            tasks.append(Task(stage, level, parents))
    end = 1 + max(task.level for task in tasks)
    for task in tasks:
        levels = [tasks[child].level for child in task.children]
        task.last = end if task.stage.keep else max(levels, default=end)
    return tasks


def _parents(shape: Shape, stage: Stage, place: int, begins: list[int]) -> list[int]:
    """Tasks of a stage share the files that they read evenly."""
    found: set[int] = set()
    for source, many in stage.reads.items():
        count = shape.stages[source].tasks
        first = place * count // stage.tasks
        wanted = (
            range(count) if many is None else range(first, first + min(many, count))
        )
        found.update(begins[source] + each % count for each in wanted)
    return sorted(found)
