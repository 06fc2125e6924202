"""Programs are asked in one language, without a shell, and not for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pegasus_bb.core.process import ask


def test_whatever_the_user_s_language_and_time_format_answers_look_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    script = 'echo "$LC_ALL $SLURM_TIME_FORMAT $HOME"'
    said = ask(["sh", "-c", script]).out
    assert said == f"C standard {os.environ['HOME']}\n"
    assert ask(["sh", "-c", script], env={"HOME": "/h"}).out == "C standard /h\n"


@pytest.mark.parametrize("program", ["squeue", "scontrol", "sbatch", "scancel"])
def test_no_variable_of_the_user_changes_what_slurm_is_asked(
    program: str, tmp_path: Path
) -> None:
    """SLURM_MEM_PER_CPU is there inside a job of Slurm."""
    filters = ("SQUEUE_PARTITION", "SQUEUE_USERS", "SQUEUE_FORMAT2", "SQUEUE_SORT")
    options = ("SBATCH_GPUS", "SBATCH_ARRAY_INX", "SBATCH_BURST_BUFFER")
    others = ("SLURM_MEM_PER_CPU", "SLURM_BITSTR_LEN", "SLURM_JSON", "SCANCEL_STATE")
    kept = ("SLURM_CONF", "SLURM_CLUSTERS", "SBATCH_ACCOUNT", "SBATCH_QOS", "HOME")
    (tmp_path / program).write_text("#!/bin/sh\nenv\n")
    (tmp_path / program).chmod(0o755)
    environ = dict.fromkeys((*filters, *options, *others, *kept), "given")
    lines = ask([str(tmp_path / program)], env=environ).out.splitlines()
    assert {line.partition("=")[0] for line in lines if line.endswith("=given")} == {
        *kept
    }


def test_an_argument_is_one_argument() -> None:
    odd = "$(touch PWNED); `id` 'x' \n \udcff"
    assert ask(["printf", "%s", odd]).out == odd.replace("\udcff", "\ufffd")


def test_a_program_that_gives_no_answer_is_ended() -> None:
    began = time.monotonic()
    done = ask(["sleep", "60"], timeout=0.2)
    assert (done.status, done.err) == (124, "sleep gave no answer within 0.2 s")
    assert time.monotonic() - began < 30
