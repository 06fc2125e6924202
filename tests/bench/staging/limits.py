"""What the machine itself can do: the rows that nobody can pass.

They take their turns between the programs that copy, in the same rounds.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from pegasus_bb.process import ask
from tests.bench.staging.peers import Peer, Task
from tests.bench.staging.sets import MIB

_CREATE_C = """\
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
/* create FOLDER COUNT: so many empty files, a thousand in a folder */
int main(int argc, char **argv) {
  char path[4096];
  if (argc != 3) return 2;
  for (int n = 0, count = atoi(argv[2]); n < count; n++) {
    if (n % 1000 == 0) {
      snprintf(path, sizeof path, "%s/%03d", argv[1], n / 1000);
      if (mkdir(path, 0777) != 0) { perror(path); return 1; }
    }
    snprintf(path, sizeof path, "%s/%03d/file-%06d", argv[1], n / 1000, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || close(fd) != 0) { perror(path); return 1; }
  }
  return 0;
}
"""
_CREATE_PYTHON = """\
import os, sys
root, count = sys.argv[1], int(sys.argv[2])
for n in range(count):
    if n % 1000 == 0:
        os.mkdir(f"{root}/{n // 1000:03d}")
    name = f"{root}/{n // 1000:03d}/file-{n:06d}"
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
"""


def all_limits(work: Path) -> list[Peer]:
    """Rows for the tables; ``work`` gets the program that creates files."""
    create, language = creator(work)
    return [
        Peer(
            "dd, write only",
            _dd_write,
            only=("large", "mixed"),
            makes_dest=False,
            is_limit=True,
        ),
        Peer(
            "dd, read only", _dd_read, only=("large",), makes_dest=False, is_limit=True
        ),
        Peer(
            f"create empty files ({language})",
            lambda task: [*create, str(task.dest), str(len(task.files.files))],
            only=("small", "many"),
            makes_dest=False,
            is_limit=True,
        ),
    ]


def creator(work: Path) -> tuple[list[str], str]:
    """The loop that creates files: in C where there is a compiler."""
    source, program = work / "create.c", work / "create"
    source.write_text(_CREATE_C)
    compiler = shutil.which("cc")
    if compiler and ask([compiler, "-O2", "-o", str(program), str(source)]).status == 0:
        return [str(program)], "C"
    script = work / "create.py"
    script.write_text(_CREATE_PYTHON)
    return [sys.executable, "-I", "-S", str(script)], "Python: no cc"


def _dd_write(task: Task) -> list[str]:
    count = f"count={max(1, task.files.size // MIB)}"
    target = f"of={task.dest}/zeros"
    return ["dd", "if=/dev/zero", target, "bs=1M", count, "conv=fsync"]


def _dd_read(task: Task) -> list[str]:
    script = 'for f in "$1"/*; do dd if="$f" of=/dev/null bs=1M || exit; done'
    return ["sh", "-c", script, "sh", str(task.source)]
