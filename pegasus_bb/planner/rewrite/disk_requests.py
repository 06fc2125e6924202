"""Each job asks its batch system for the disk of its node, by the size of its files.

The tier's key ``request`` says how. A job's profile overrides all others, so it repeats
what they ask for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import WOULD_DO, is_plain
from pegasus_bb.model.disk_request import ARGUMENTS, DISK, DiskRequest
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.planner.rewrite.job_profiles import JobProfiles
from pegasus_bb.planner.rewrite.pass_input import Inputs, Keys

_GRES = "--gres"  # one option with a list; a second would take the first one's place
# An option that is no part of another word; Pegasus has quotes around arguments.
ALONE = r"(?<![\w=,-]){}(?![\w.:/=+@-])"
_REPEATED = ("-l",)  # of qsub: each adds to those before
_ALIASES = {"-C": "--constraint", "-p": "--partition", "-t": "--time"}


def requests(inputs: Inputs, placement: Placement) -> dict[Keys, str]:
    """The profile of every job with files on its node's disk, if the tier has a
    request. Raises CatalogError if a job has that option already."""
    tier = placement.job_tier
    request = tier.request
    if request is None or not placement.job_reservations:
        return {}
    settled = JobProfiles(inputs, tier.site, request.key)
    changes: dict[Keys, str] = {}
    for index, job in enumerate(inputs.workflow.data["jobs"]):
        own = placement.job_reservations.get(str(job["id"]))
        if own is None:
            continue
        keys: Keys = ("jobs", index, "profiles", request.namespace, request.key)
        changes[keys] = _value(settled, index, job, request.of(own.capacity))
    return changes


def _value(settled: JobProfiles, index: int, job: Any, asked: str) -> str:
    """The profile of the job: its batch arguments and ``asked``; or a number, to which
    what it asks for already is added (memory), or which is no less (the disk)."""
    if settled.key == ARGUMENTS:
        return settled.joined(index, job, asked, with_request)
    if settled.key == DISK:
        own = str(((job.get("profiles") or {}).get("condor") or {}).get(DISK, ""))
        return str(max(int(own), int(asked))) if own.isdigit() else own or asked
    setting = settled.setting(index, job)
    before = setting.value if setting else settled.of_all or ""
    return str(int(before) + int(asked)) if before.isdigit() else asked


def with_request(arguments: str, option: str) -> str:
    """``arguments`` and ``option``. Raises UsageError if that would take the place of
    an option of the user's."""
    if not is_plain(arguments):
        raise UsageError(f"a batch system's own scripts read this: {WOULD_DO}")
    name = re.split("[= ]", option, maxsplit=1)[0]
    words = arguments.split()
    same = [word for word in words if _is_same(word, name)]
    if not same or name in _REPEATED:
        return f"{arguments} {option}".strip()
    if name == _GRES and len(same) == 1 and same[0].startswith(f"{_GRES}="):
        both = f"{option},{same[0].partition('=')[2]}"
        return " ".join(both if word == same[0] else word for word in words)
    raise UsageError(
        f"{same[0]} and the tier's request {option} are one option, which the batch "
        "system takes once: write both into the tier's request, or leave one out"
    )


def _is_same(word: str, name: str) -> bool:
    if word.partition("=")[0] in (name, _ALIASES.get(name)):
        return True
    return not name.startswith("--") and word.startswith(name)


def request_cluster(
    placement: Placement, profiles: Any, tasks: Sequence[JobReservation], name: str
) -> None:
    """Put the request of the cluster ``name`` in the place of its tasks'."""
    request = placement.job_tier.request
    own = placement.job_reservations.get(name)
    if request is None or own is None:
        return
    of_space = profiles.setdefault(request.namespace, {})
    asked = request.of(own.capacity)
    if request.key == ARGUMENTS:
        arguments = of_space.get(ARGUMENTS, "")
        of_space[ARGUMENTS] = _of_cluster(arguments, asked, request, tasks)
    elif request.key == DISK:
        of_space[DISK] = asked
    else:  # the most that a task asks for has at least the least of their files in it
        least = min(int(request.of(task.capacity)) for task in tasks)
        of_space[request.key] = str(int(of_space[request.key]) + int(asked) - least)


def _of_cluster(
    arguments: str, asked: str, request: DiskRequest, tasks: Sequence[JobReservation]
) -> str:
    for filled in {request.of(task.capacity) for task in tasks}:
        changed, count = re.subn(ALONE.format(re.escape(filled)), asked, arguments)
        if count:
            return changed
    return with_request(arguments, asked)


def check_submit_file(placement: Placement, job: str, text: str) -> None:
    """Raises UsageError if the submit file of ``job``, ``text``, lacks the request: a
    real Pegasus may write other batch arguments than the job's."""
    request = placement.job_tier.request
    own = placement.job_reservations.get(job)
    if request is None or own is None or request.key != ARGUMENTS:
        return
    wanted = request.of(own.capacity)
    if re.search(ALONE.format(re.escape(wanted)), text) is None:
        raise UsageError(
            f"pegasus-plan has not given {job} the request {wanted} of tier "
            f"{placement.job_tier.name}: it writes the arguments of the site or a "
            "program in place of a job's, and a cluster has those of a task. Take "
            f"{ARGUMENTS} out of the catalogs, plan without clusters, or with "
            "--bb-planner builtin"
        )
