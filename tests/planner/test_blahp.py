"""Which held jobs HTCondor releases; classad2 evaluates the expressions."""

from __future__ import annotations

import classad2
import pytest

from pegasus_bb.model.dag.blahp import (
    GUARDED_RELEASE,
    JOB_NOT_FOUND,
    PERIODIC_RELEASE,
    is_released,
)

# As blahp words it, in the testbed.
REFUSED = "submission command failed (exit code = 1) (stderr:sbatch: error: {})"
AWAY = "Batch job submission failed: Unable to contact slurm controller (connect fail"
LATE = "Batch job submission failed: Socket timed out on send/recv operation"
SLOW = (
    "no jobId in submission script's output (stdout:) (stderr:<blah> execute_cmd: "
    "30 seconds timeout expired, killing child process.\n)"
)
ENDED = "submission command failed (exit code = -15) (stdout:) (stderr:)"
CUT_OFF = (
    "status command failed: /usr/libexec/blahp/slurm_status.py:429: SyntaxWarning: "
    "invalid escape sequence 's'-  exec_host_re = re.compile(\"s*BatchHost=([w-.]+)\")"
)
REASONS = {
    JOB_NOT_FOUND: True,
    REFUSED.format(AWAY): True,
    CUT_OFF: True,
    SLOW: True,
    ENDED: True,
    REFUSED.format(LATE): False,  # slurmctld may have taken it
    "via condor_hold (by user wfuser)": False,
}


@pytest.mark.parametrize(("reason", "released"), REASONS.items())
def test_a_passing_error_releases_the_job(reason: str, released: bool) -> None:
    ad = classad2.ClassAd({"HoldReason": reason, "NumHolds": 1})
    guarded = classad2.ExprTree(GUARDED_RELEASE)
    assert guarded.eval(ad) is released
    assert is_released(reason) is released
    unguarded = released and reason not in (SLOW, ENDED)
    assert classad2.ExprTree(PERIODIC_RELEASE).eval(ad) is unguarded
    ad["NumHolds"] = 100
    assert guarded.eval(ad) is False
