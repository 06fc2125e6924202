"""What launch and record add to a job, and what a poll of the gate costs.

All programs take turns, so that a busy machine is busy for all of them; what is added
is the median of the differences between neighbours. `make bench` runs this.

python benchmarks/launch.py [rounds]
"""

from __future__ import annotations

import os
import re
import sys
import time
from shutil import which

# what the launcher may add to a job
MS = 60.0
MIB = 25.0
POLL_MS = 100.0  # processor time of one poll
ANSWER = "tests/recorded/slurm-24.11/show-burst.persistent-and-jobs.txt"


def prepare(root: str) -> None:
    """Two runs whose reservation is up: in a folder, and as Slurm says in a recorded
    answer that a script gives."""
    for name, backend in (("here", "directory"), ("slurm", "datawarp")):
        prepare_run(f"{root}/{name}", backend)
    write(
        f"{root}/bin/scontrol",
        f'#!/bin/sh\ncase "$*" in *burst*) exec cat {root}/answer;; esac\n',
    )
    write(f"{root}/bin/squeue", "#!/bin/sh\n")  # the job is forgotten by now
    with open(f"{sys.path[0]}/../{ANSWER}", encoding="utf-8") as source:  # noqa: PTH123
        row = re.sub(
            r"CreateTime=\S+", time.strftime("CreateTime=%FT%T"), source.read()
        )
    row = row.replace("Name=csb2", "Name=pbbbench")
    write(f"{root}/answer", row.replace("wfuser(1000)", f"me({os.getuid()})"))


def prepare_run(bb: str, backend: str) -> None:
    from pegasus_bb.core.files import write_json
    from pegasus_bb.model.reservation import Request, Reservation
    from pegasus_bb.runtime.backends.backend_table import open_backend
    from pegasus_bb.runtime.install import install_runtime

    install_runtime(bb)
    request = Request(
        name="pbbbench",
        backend=backend,
        capacity=4 << 20,
        prefix="/bb/pbbbench",
        uuid="bench",
        tier="bb",
        site="here",
        settings={"path": f"{bb}/fast"},
    )
    write_json(f"{bb}/request.json", request.to_json())
    noted = Reservation("pbbbench", backend, "bench", time.time(), request.capacity)
    if backend == "directory":
        os.mkdir(f"{bb}/fast")  # noqa: PTH102 - see main
        noted = open_backend(backend, request.settings).create(request)
    write_json(f"{bb}/reservation.json", noted.to_json())


def write(path: str, text: str) -> None:
    from pathlib import Path

    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)
    Path(path).chmod(0o755)


def start(argv: list[str]) -> tuple[float, float, float]:
    """Run ``argv``: ms until its end, ms of processor, most MiB."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    begun = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
    _, raw, usage = os.wait4(pid, 0)
    took = time.perf_counter() - begun
    if raw != 0:
        sys.exit(f"{argv[0]} ended with {os.waitstatus_to_exitcode(raw)}")
    busy = usage.ru_utime + usage.ru_stime
    return 1000 * took, 1000 * busy, usage.ru_maxrss / 1024


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> int:
    """Imports little: a child's peak memory begins with what its parent had."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    root = f"{os.environ.get('TMPDIR', '/tmp')}/bench-launch.{os.getpid()}"
    child = os.fork()
    if child == 0:
        prepare(root)
        os._exit(0)
    os.waitpid(child, 0)
    os.environ["PATH"] = f"{root}/bin:{os.environ['PATH']}"
    task = which("true") or "/bin/true"
    bin_ = f"{root}/here/bin"
    record = [f"{bin_}/record", "-n", "true", task]
    programs = {
        "the task alone": [task],
        "record": record,
        "launch and record": [f"{bin_}/launch", *record],
        "gate, directory": [f"{bin_}/gate"],
        "gate, Slurm": [f"{root}/slurm/bin/gate"],
    }
    runs = [
        {name: start(argv) for name, argv in programs.items()} for _ in range(rounds)
    ]
    from shutil import rmtree

    rmtree(root)
    return told(runs)


def told(runs: list[dict[str, tuple[float, float, float]]]) -> int:
    """Print what each program costs, and whether it is within what is promised."""
    print(f"{'':18} {'best ms':>8} {'median':>8} {'CPU ms':>8} {'peak MiB':>9}")
    for name in runs[0]:
        took, busy, size = zip(*(run[name] for run in runs), strict=True)
        print(
            f"{name:18} {min(took):>8.1f} {median(took):>8.1f} {median(busy):>8.1f} "
            f"{max(size):>9.1f}"
        )
    whole = [run["launch and record"] for run in runs]
    alone = [run["the task alone"] for run in runs]
    added = median([w[0] - a[0] for w, a in zip(whole, alone, strict=True)])
    memory = max(w[2] for w in whole)
    poll = max(
        median([run[f"gate, {k}"][1] for run in runs]) for k in ("directory", "Slurm")
    )
    met = added <= MS and memory <= MIB and poll <= POLL_MS
    print(
        f"{'met' if met else 'MISSED'}: the launcher adds {added:.0f} ms (at most "
        f"{MS:.0f}) and {memory:.0f} MiB (at most {MIB:.0f}); a poll takes {poll:.0f} "
        f"ms of processor (at most {POLL_MS:.0f})"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
