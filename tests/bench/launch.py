"""What launch and record add to a job: milliseconds and MiB, over starting it alone.

python tests/bench/launch.py [python3 of the compute nodes] [how often]
"""

from __future__ import annotations

import os
import sys
import time
from shutil import which


def prepare(root: str, python: str) -> None:
    """A run with a reservation of the directory backend."""
    from pegasus_bb.model.reservation import Request
    from pegasus_bb.reservation.registry import open_backend
    from pegasus_bb.runtime.files import write_json
    from pegasus_bb.runtime.install import install_runtime

    os.makedirs(f"{root}/fast")  # noqa: PTH103 - see main
    request = Request(
        name="pbbbench",
        backend="directory",
        capacity=4 << 20,
        prefix="/bb/pbbbench",
        uuid="bench",
        tier="bb",
        site="here",
        settings={"path": f"{root}/fast"},
    )
    open_backend("directory", request.settings).create(request)
    install_runtime(f"{root}/bb", python)
    write_json(f"{root}/bb/request.json", request.to_json())


def start(argv: list[str]) -> tuple[float, float, float]:
    """Seconds until ``argv`` has ended, seconds of processor, most MiB."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    begun = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
    _, raw, usage = os.wait4(pid, 0)
    if raw:
        sys.exit(f"{argv[0]} failed with {raw}")
    took = time.perf_counter() - begun
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name: str, argv: list[str], rounds: int) -> None:
    runs = [start(argv) for _ in range(rounds)]
    took = sorted(run[0] * 1000 for run in runs)
    busy = sorted(run[1] * 1000 for run in runs)[rounds // 2]
    size = max(run[2] for run in runs)
    print(
        f"{name:18} best {took[0]:5.1f} ms, median {took[rounds // 2]:5.1f} ms, ",
        end="",
    )
    print(f"processor {busy:5.1f} ms, {size:4.1f} MiB")


def main() -> None:
    """Imports little: a child's peak memory begins with what its parent had."""
    python = sys.argv[1] if len(sys.argv) > 1 else which("python3") or ""
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    root = f"{os.environ.get('TMPDIR', '/tmp')}/bench-launch.{os.getpid()}"
    child = os.fork()
    if child == 0:
        prepare(root, python)
        os._exit(0)
    os.waitpid(child, 0)
    task = which("true") or "/bin/true"
    record = [f"{root}/bb/bin/record", "-n", "true", task]
    print(f"{python}, {rounds} starts each")
    measure("the task alone", [task], rounds)
    measure("python3 -IS alone", [python, "-IS", "-c", ""], rounds)
    measure("record", record, rounds)
    measure("launch and record", [f"{root}/bb/bin/launch", *record], rounds)
    from shutil import rmtree

    rmtree(root)


if __name__ == "__main__":
    main()
