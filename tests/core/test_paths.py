"""Paths of node disks, with variables of the job, read strictly; and file URLs."""

from __future__ import annotations

import pytest

from pegasus_bb.core.paths import local_path, node_path, node_path_fault

JOB = {"TMPDIR": "/tmp/job.7", "SLURM_JOB_ID": "7", "PBS_JOBID": "7[2].head"}


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("/nvme", "/nvme"),
        ("/nvme/", "/nvme"),
        ("$TMPDIR", "/tmp/job.7"),
        ("$TMPDIR/bb", "/tmp/job.7/bb"),
        ("/local/$SLURM_JOB_ID", "/local/7"),
        ("/local/job.$SLURM_JOB_ID/bb", "/local/job.7/bb"),
        ("/local/$PBS_JOBID", "/local/7[2].head"),
    ],
)
def test_the_job_s_own_values_stand_for_variables(path: str, there: str) -> None:
    assert node_path_fault(path) == ""
    assert node_path(path, JOB) == there


@pytest.mark.parametrize(
    ("pfn", "path"),
    [
        ("/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("File:/a/b", "/a/b"),
        ("file://host/a/b", "/a/b"),
        ("file:a/b", None),
        ("a/b", None),
        ("http://host/a", None),
    ],
)
def test_a_file_url_has_one_slash_or_three(pfn: str, path: str | None) -> None:
    assert local_path(pfn) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nvme",
        "$SLURM_JOB_ID/x",
        "$HOME",
        "$TMPDIRS",
        "/x/$TMPDIR",
        "/x$",
        "/x/${TMPDIR}",
        "/x/$(id)",
        "/x/..",
        "/x'y",
        "/x\ny",
    ],
)
def test_what_can_be_no_disk_is_refused_before_a_job_starts(path: str) -> None:
    fault = node_path_fault(path)
    assert fault
    with pytest.raises(ValueError, match="^" + fault[:1].replace("$", r"\$")):
        node_path(path, JOB)


@pytest.mark.parametrize("value", ["", "..", ".", "a/b", "a b", "a\nb", "$(id)"])
def test_a_value_that_is_no_single_name_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="SLURM_JOB_ID"):
        node_path("/local/$SLURM_JOB_ID", {"SLURM_JOB_ID": value})
