"""A request in the place of another: of a cluster, or of what Pegasus writes."""

from __future__ import annotations

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.disk_request import DiskRequest
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.rewrite.disk_requests import (
    check_submit_file,
    request_cluster,
    with_request,
)

GB = 10**9
ARGUMENTS = "glite.arguments"
GRES = DiskRequest(ARGUMENTS, "pegasus", "--gres=nvme:{gb}")
MEMORY = DiskRequest("memory", "pegasus", "{mib}")


def reserved(request: DiskRequest, **sizes: int) -> Placement:
    tier = Tier("cluster", "nvme", "node-local", request=request)
    own = {
        name: JobReservation(("x",), (), (), (), size, size)
        for name, size in sizes.items()
    }
    return Placement(tier, {}, job_reservations=own)


def asked_by_cluster(request: DiskRequest, own: str) -> str:
    """What a cluster of 12 GB asks for in place of its first task, of 1 GB."""
    placement = reserved(request, A=GB, B=11 * GB, cluster=12 * GB)
    tasks = [placement.job_reservations[name] for name in "AB"]
    profiles = {"pegasus": {request.key: own}}
    request_cluster(placement, profiles, tasks, "cluster")
    return profiles["pegasus"][request.key]


@pytest.mark.parametrize(
    ("own", "asked"),
    [
        ("--gres=nvme:1,gpu:1 -p x", "--gres=nvme:12,gpu:1 -p x"),
        ("--gres=nvme:11", "--gres=nvme:12"),  # and no 121
    ],
)
def test_a_cluster_asks_once_for_all_its_tasks(own: str, asked: str) -> None:
    assert asked_by_cluster(GRES, own) == asked


def test_the_memory_of_a_cluster_has_room_for_all_its_files() -> None:
    base = 2048
    largest = base + int(MEMORY.of(11 * GB))
    assert int(asked_by_cluster(MEMORY, str(largest))) >= base + int(MEMORY.of(12 * GB))


@pytest.mark.parametrize("own", ["-Chaswell", "-C haswell", "--constraint haswell"])
def test_a_short_option_is_known_in_each_spelling(own: str) -> None:
    with pytest.raises(UsageError, match="one option"):
        with_request(own, "-C nvme")
    assert with_request("-l walltime=1", "-l ssd=2g") == "-l walltime=1 -l ssd=2g"


def test_a_submit_file_without_its_request_is_refused() -> None:
    """A real Pegasus may write the site's arguments in place of the job's."""
    placement = reserved(GRES, A=2 * GB)
    check_submit_file(placement, "A", "pegasus_glite_arguments = '--gres=nvme:2'\n")
    with pytest.raises(UsageError, match="has not given A the request --gres=nvme:2"):
        check_submit_file(placement, "A", "pegasus_glite_arguments = '--gres=nvme:20'")
