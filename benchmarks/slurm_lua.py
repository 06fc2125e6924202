"""What burst_buffer/lua with our hooks costs Slurm. `make bench` runs this.

The hooks inside slurmctld are called in a Lua 5.1 here, in a new one for each call and
with the file read anew, as Slurm does it. Then jobs with and without a burst buffer
take turns on a testbed; that needs root. Jobs for which the hooks do nothing show how
much of the difference is Slurm's own: it starts a process for each call of nine hooks.

python -m benchmarks.slurm_lua
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from pegasus_bb_testbed import lua, testbed
from pegasus_bb_testbed.home import Home, flavour

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.stager.slurm.install_hooks import FUNCTIONS
from testbed.tests.lua_site import LuaSite
from testbed.tests.shared_testbed import turn, up, what_is_missing
from testbed.tests.slurm_site import until
from tests.support.slurm_stager import SUCCESS, Hooks

HOOK_MS = 2.0  # p95 of a hook inside slurmctld
RATIO = 1.4  # jobs with #BB_LUA, in times of plain ones
JOBS = 100
ROUNDS = 8
PLAIN = " plain"
OWN = "BB_LUA jobbb capacity=1MiB pool=flash"
IDLE = "".join(f"function slurm_bb_{name}() return 0 end\n" for name in FUNCTIONS)
CALLS = 1000
DIRECTIVES = (
    "#BB_LUA jobbb capacity=1MiB pool=flash\n"
    "#BB_LUA stage_in /lus/ann/mesh job://mesh\n"
    "#BB_LUA stage_out job://out /lus/ann/out\n"
)
KNOWN = "state=staged-in\nmessage=\nsize=1048576\nenv=BB_JOB=/bb/job.7\n"
POOLS = '{"pools": [{"id": "flash", "granularity": 1048576, "quantity": 99}]}'


def main() -> int:
    """1 where a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        is_met = hooks_are_quick(Path(folder))
    home = Home(flavour("24.11", "lua"))
    missing = what_is_missing(home)
    try:
        if missing:
            raise UsageError(missing)
        with turn(home):
            fresh = up(home)
            try:
                is_met &= jobs_are_quick(LuaSite(home))
            finally:
                if fresh:
                    testbed.down(home)
    except (PegasusBBError, UsageError) as error:
        print(f"jobs with #BB_LUA: not measured: {error}")
    return 0 if is_met else 1


def hooks_are_quick(spool: Path) -> bool:
    (spool / "jobs").mkdir()
    (spool / "jobs" / "7").write_text(KNOWN)
    (spool / "pools").write_text(POOLS)
    info = {"burst_buffer": DIRECTIVES}
    paths = str(spool / "path")
    calls = {
        "job_process": ("script", 1000, 1000, info),
        "paths": (7, "script", paths, 1000, 1000, info),
    }
    is_met = True
    for hook, words in calls.items():
        took = sorted(seconds(spool, hook, *words) for _ in range(CALLS))
        p95 = took[CALLS * 95 // 100] * 1000
        print(f"slurm_bb_{hook}: ", end="")
        is_met &= told(f"p95 {p95:.2f} ms", p95 <= HOOK_MS, f"{HOOK_MS:g} ms")
    return is_met


def seconds(spool: Path, hook: str, *words: Any) -> float:
    """Of a processor: others may be busy here, too."""
    began = time.thread_time()
    code, text = Hooks(spool).call(hook, *words)
    took = time.thread_time() - began
    assert code == SUCCESS, text
    return took


def jobs_are_quick(slurm: LuaSite) -> bool:
    """A processor's speed differs from minute to minute: each time of jobs with hooks
    is held against the plain ones before and after it."""
    run(slurm, OWN)  # what is slow once
    plain = [run(slurm, PLAIN)]
    ours = []
    idle = []
    for _ in range(ROUNDS):
        ours.append(run(slurm, OWN))
        plain.append(run(slurm, PLAIN))
        with idle_hooks(slurm):
            idle.append(run(slurm, OWN))
        plain.append(run(slurm, PLAIN))
    print(f"{JOBS} jobs: plain {median(plain):.1f} s; ", end="")
    print(f"hooks that do nothing {times(idle, plain[1:]):.2f} x; ours ", end="")
    ratio = times(ours, plain)
    return told(f"{ratio:.2f} x", ratio <= RATIO, f"at most {RATIO} x")


def times(beside: list[float], plain: list[float]) -> float:
    """The median of each of ``beside`` in times of the plain ones around it."""
    return median(
        2 * took / (before + after)
        for took, before, after in zip(beside, plain[::2], plain[1::2], strict=False)
    )


@contextmanager
def idle_hooks(slurm: LuaSite) -> Iterator[None]:
    """All hooks succeed at once. Slurm reads the file anew for each call."""
    path = slurm.home.root / lua.HOOKS
    ours = path.read_text()
    path.write_text(IDLE)
    yield
    path.write_text(ours)


def told(value: str, is_met: bool, goal: str) -> bool:
    print(f"{value} (goal: {goal}){'' if is_met else '  MISSED'}")
    return is_met


_names = count()


def run(slurm: LuaSite, directive: str) -> float:
    """Seconds from the first sbatch of JOBS jobs until all have completed."""
    until(lambda: not slurm.is_at_work())  # the last hooks of earlier jobs are called
    script = slurm.script(f"{next(_names)}.sh", f"#{directive}", "true")
    submit = f"for i in $(seq {JOBS}); do sbatch --parsable -o/dev/null {script}; done"
    began = time.monotonic()
    done = slurm.run("wfuser", "sh", "-c", submit)
    numbers = set(done.out.split())
    if len(numbers) != JOBS:
        raise PegasusBBError(f"sbatch: {done.err}")
    while numbers & set(slurm.run("root", "squeue", "-h", "-o%A").out.split()):
        time.sleep(0.2)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
