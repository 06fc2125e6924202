"""No room for temporary files: another folder is taken, or the reason is said."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.runtime.records import streams
from tests.support.run_programs import Run

SETUP = (
    "import sys; from pegasus_bb.runtime.programs.setup import main; sys.exit(main())"
)


def test_a_full_folder_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{handle}").readlink().parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(streams.os, "write", full)
    handle, name = streams.temporary("out", {"TMPDIR": str(tmp_path)})
    assert Path(name).parent != tmp_path
    assert os.fstat(handle).st_size == 0, "what was tried is not in it"
    assert list(tmp_path.iterdir()) == []
    os.close(handle)


RECORD = """
import resource, sys
from pegasus_bb.runtime.programs import record
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # as if every disk were full
sys.exit(record.main(["-n", "x", "/bin/echo", "hello"]))
"""


def test_if_no_folder_takes_a_byte_the_reason_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RECORD], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 127
    assert "Traceback" not in done.stderr
    assert "/var/tmp: File too large" in done.stderr
    assert "regular_exitcode: 127" in done.stdout


def test_a_message_that_cannot_be_printed_does_not_change_the_status(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path)
    program = [sys.executable, "-c", SETUP, "--bb", run.bb.path]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            program,
            stderr=full,
            env={**os.environ, "PEGASUS_BB_LEDGER": str(tmp_path / "ledger.jsonl")},
        )
    assert done.returncode == 0, "120 where Python cannot write what it holds"
    assert run.folder().is_dir()
