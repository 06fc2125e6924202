"""What the seal says of phases that do not hold in a DAG: a run would fill the tier."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.placement import PlannedPhases
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.run_plan import plan_run
from pegasus_bb.planner.seal.live_bytes import check_phases, live_bytes
from tests.planner.test_any_capacity import (
    Data,
    Planned,
    Shared,
    options,
    planned,
    write_site,
)


def ladder(rungs: int, width: int, random: Random | None = None) -> list[Data]:
    """``width`` chains of ``rungs`` jobs, each with a file for the next: of 10 bytes,
    or of 5 to 9 at random."""

    def job(n: int, m: int) -> Data:
        size = random.randrange(5, 10) if random else 10
        how = {"stageOut": n == rungs - 1, "metadata": {"size": size}}
        made = {"lfn": f"f{n}-{m}", "type": "output", **how}
        uses = [{"lfn": f"f{n - 1}-{m}" if n else "in0", "type": "input"}, made]
        return {"type": "job", "name": "there", "id": f"J{n}-{m}", "uses": uses}

    return [job(n, m) for n in range(rungs) for m in range(width)]


def in_phases(folder: Path, jobs: list[Data], capacity: int) -> Planned:
    write_site(folder, jobs)
    return planned(options(folder, "persistent", "inplace", capacity))


def test_one_byte_too_many_is_refused_with_the_largest_files(tmp_path: Path) -> None:
    """Six rungs of three jobs, planned for 70 of their 190 bytes."""
    executable = in_phases(tmp_path, ladder(6, 3), 70).executable()
    phases = executable.phases
    assert phases is not None
    held = max(live_bytes(executable.dag, phases))
    check_phases(executable.dag, replace(phases, limit=held))
    with pytest.raises(NotSealed, match=rf"there could be {held} B .*files are f\d-"):
        check_phases(executable.dag, replace(phases, limit=held - 1))


def test_phases_that_the_executable_dag_does_not_allow_are_refused(
    tmp_path: Path,
) -> None:
    made = in_phases(tmp_path, ladder(4, 1), 30)
    phases = PlannedPhases(limit=19, ends=(1, 2), peak=19)
    placement = replace(made.decision.placement, phases=phases)
    decision = replace(made.decision, placement=placement)
    run = plan_run(made.options, made.given, decision)
    with pytest.raises(NotSealed, match="do not fit into 19 B") as told:
        BuiltInPlanner(made.options).in_memory(made.given, run)
    assert "--cleanup leaf" in str(told.value)


@given(seed=st.integers(0, 1 << 30))
def test_with_an_edge_taken_out_it_is_refused_or_still_never_full(seed: int) -> None:
    random = Random(seed)
    with TemporaryDirectory() as name:
        made = in_phases(Path(name).resolve(), ladder(5, 3, random), 60)
        executable = made.executable()
    assert executable.phases is not None
    dag = deepcopy(executable.dag)
    parent = random.choice([name for name, below in dag.children.items() if below])
    dag.children[parent].remove(random.choice(dag.children[parent]))
    try:
        check_phases(dag, executable.phases)
    except NotSealed:
        return
    Shared(made.decision.placement).run(replace(executable, dag=dag), random)
