"""How runs come to fail, what their users mend, and which lines they follow: a story
for each cause of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.user_site import Site
from tests.support.waiting import until

from .test_unsafe_again import before

CONTINUE = "to continue"
AGAIN = "plan again"
OVER = "start over"
INPUT = b"ACGT\n"
RESULT = b"a of ACGT\n"
# One task makes a.txt of in.txt, the next makes the result of a.txt.
TASK = "#!/bin/sh\nset -e\n[ $1 = a ]\n{does}\nsed 's/^/a of /' $2 > $3\n"


def nothing(site: Site) -> None:
    """The way on needs no hand."""


@dataclass(frozen=True)
class Story:
    """How the run comes to fail, what the user mends, and which lines he follows."""

    said: str
    breaks: Callable[[Site], None]
    mends: Callable[[Site], None] = nothing
    follows: str = CONTINUE
    options: tuple[str, ...] = ()
    tier: dict[str, Any] | None = None
    mode: str = "persistent"
    capacity: tuple[str, ...] = ("--bb-capacity", "1MiB")
    after_planning: Callable[[Site], None] = nothing


def task(site: Site, does: str = "", name: str = "a") -> None:
    program = site.root / f"{name}.sh"
    program.write_text(TASK.format(does=does))
    program.chmod(0o755)


def second_task(does: str) -> Callable[[Site], None]:
    return lambda site: task(site, does, "b")


def mended(site: Site) -> None:
    task(site, name="a")
    task(site, name="b")


def mended_with_a_larger_quota(site: Site) -> None:
    mended(site)
    site.declare(quota="2MiB")


def in_submit_dir(name: str, happens: str) -> Callable[[Site], None]:
    """Puts ``happens`` before a program of the run, as long as the user has not
    mended it."""

    def put(site: Site) -> None:
        program = site.submit_dir("bb") / "bb" / "bin" / name
        site.trouble.touch()
        does = happens.replace("RESULTS", str(site.results("bb")))
        trouble = f"[ ! -e {site.trouble} ] || {{ {does}; }}"
        bb = ("--bb", str(program.parents[1])) if name == "delete" else ()
        before(program, trouble, *bb)

    return put


def made_room(site: Site) -> None:
    site.trouble.unlink()


def came_up(site: Site) -> None:
    until(lambda: ": ready" in site.bb("status", str(site.submit_dir("bb"))).stdout)


def wrong_arguments(site: Site) -> None:
    _edit_arguments(site, "--wrong")


def right_arguments(site: Site) -> None:
    _edit_arguments(site, "a")


def _edit_arguments(site: Site, first: str) -> None:
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["arguments"][0] = first


def failed_once_and_mended(site: Site) -> None:
    site.fails("bb")
    right_arguments(site)


def second_failed_and_first_mended(site: Site) -> None:
    task(site, "grep -q ACGT $2", "b")
    site.fails("bb")
    task(site, name="a")


def both_installed(site: Site) -> None:
    task(site, "echo bad > $3; exit 0")
    with site.edited("transformations.yml") as known:
        known["transformations"][0]["sites"][0].update(name="cluster", type="installed")


def with_a_property(site: Site) -> None:
    task(site, "exit 3")
    (site.work / "pegasus.properties").write_text("pegasus.bb.drain = now\n")


def failed_once_and_property_mended(site: Site) -> None:
    site.fails("bb")
    (site.work / "pegasus.properties").write_text("pegasus.bb.drain = off\n")


def stage_out_says(words: str) -> Callable[[Site], None]:
    """Instead of copying."""
    return in_submit_dir(
        "transfer",
        "cat > $0.$$; exec < $0.$$; ! grep -q RESULTS $0.$$ || "
        f"{{ echo {words} >&2; exit 1; }}",
    )


def without(path: str) -> Callable[[Site], None]:
    return lambda site: (site.root / path).rename(site.root / "away") and None


def failed_once_and_unmounted(site: Site) -> None:
    task(site, "exit 3", "b")
    site.fails("bb")
    mended(site)
    without("fast")(site)


def brought_back(path: str) -> Callable[[Site], None]:
    return lambda site: (site.root / "away").rename(site.root / path) and None


def failed_once_and_given_back(site: Site) -> None:
    site.fails("bb")
    mended(site)
    site.bb("release", site.request("bb")["name"], "--discard", check=True)


STORIES = {
    "reservation_given_back": Story(
        "was given back",
        second_task("exit 1"),
        nothing,
        OVER,
        after_planning=failed_once_and_given_back,
    ),
    "reservation_vanished": Story(
        "is not there any more",
        second_task("rm -rf ../../../../../pbb*; exit 1"),
        mended,
        OVER,
    ),
    "reservation_unseen": Story(
        "is it mounted?",
        nothing,
        brought_back("fast"),
        after_planning=failed_once_and_unmounted,
    ),
    "no_disk": Story(
        "the disk of the node could not be used, says a_A",
        lambda site: (
            site.has_disks(path=str(site.root / "nvme2"), mount="any") and None
        ),
        lambda site: (site.root / "nvme2").mkdir(),
        mode="transient",
    ),
    "reservation_refused": Story(
        "cannot be made",
        nothing,
        lambda site: (site.root / "mnt").mkdir(),
        tier={"path": "mnt/fast"},
    ),
    "no_answer": Story(
        "no answer about the reservation",
        nothing,
        options=("--bb-wait", "0s", "--bb-poll", "1s"),
        tier={"fail": "status*2: unreachable"},
    ),
    "deadline_passed": Story(
        "is late, and is still asked for",
        nothing,
        options=("--bb-wait", "0s", "--bb-poll", "1s"),
        mends=came_up,
        tier={"delay": "2s"},
    ),
    "never_made": Story(
        "has not made a.txt", lambda site: task(site, "exit 0"), mended
    ),
    "input_lost": Story("is not on the tier any more", second_task("rm $2"), mended),
    "destination_full": Story(
        "the place of the results is full",
        nothing,
        made_room,
        after_planning=stage_out_says("No space left on device"),
    ),
    "destination_closed": Story(
        "the place of the results takes no writes",
        nothing,
        made_room,
        after_planning=stage_out_says("r.txt: Read-only file system"),
    ),
    "scratch_full": Story(
        "/pfs/root/pegasus/two/bb-",
        second_task("cat $2 > /dev/full"),
        mended,
        mode="off",
    ),
    "tier_full": Story(
        "the tier is full", second_task("cat $2 > /dev/full"), mended, AGAIN
    ),
    "catalog_changed": Story(
        "workflow.yml, since the planning",
        wrong_arguments,
        nothing,
        AGAIN,
        after_planning=failed_once_and_mended,
    ),
    "program_missing": Story(
        "cannot be started",
        nothing,
        brought_back("b.sh"),
        after_planning=without("b.sh"),
    ),
    "mended_too_late": Story(
        "a.sh, after the tasks that use it have ended",
        lambda site: task(site, "echo bad > $3; exit 0"),
        nothing,
        AGAIN,
        after_planning=second_failed_and_first_mended,
    ),
    "results_not_safe": Story(
        "results are not safe",
        nothing,
        made_room,
        options=("--cleanup", "none"),
        after_planning=in_submit_dir("delete", "rm -f RESULTS/r.txt"),
    ),
    # Its program was brought to the tier: the mended one has to come, too.
    "task_failed": Story("exit status 3", lambda site: task(site, "exit 3"), mended),
    "anything_else": Story(
        "is not there",
        nothing,
        brought_back("inputs/in.txt"),
        after_planning=without("inputs/in.txt"),
    ),
}


# The same causes in modes where jobs share no reservation.
RELATIVES = {
    "never_made without a tier": Story(
        "has not made r.txt", second_task("exit 0"), mended, mode="off"
    ),
    "input_lost without a tier": Story(
        "is not in", second_task("rm $2"), mended, mode="off"
    ),
    "catalog_changed: a property": Story(
        "pegasus.properties, since the planning",
        with_a_property,
        mended,
        AGAIN,
        after_planning=failed_once_and_property_mended,
    ),
    "mended_too_late: installed": Story(
        "a.sh, after the tasks that use it have ended",
        both_installed,
        nothing,
        AGAIN,
        after_planning=second_failed_and_first_mended,
    ),
    "reservation_refused: of a job": Story(
        "cause:       the reservation was refused",
        nothing,
        lambda site: site.declare(fail=""),
        AGAIN,
        mode="transient",
        tier={"fail": "create:no such project"},
    ),
    "program_missing: an interpreter": Story(
        "/no/sh cannot be started; put it there",
        lambda site: (site.root / "b.sh").write_text("#!/no/sh\n") and None,
        mended,
        options=("--no-check",),
    ),
    "deadline_passed: of a job": Story(
        "cause:       the tier had no room in time, says a_A",
        nothing,
        lambda site: site.declare(delay="0s"),
        AGAIN,
        mode="transient",
        options=("--bb-wait", "0s", "--bb-poll", "1s"),
        tier={"delay": "2s"},
    ),
    "task_failed: a status of ours": Story(
        "b_B: its job ended with exit status 77",
        second_task("exit 77"),
        mended,
    ),
    "task_failed: and nothing could be saved": Story(
        "b_B: its job ended with exit status 3",
        second_task(
            "echo launch: checkpoint c is NOT SAVED: /p: No space left on device >&2; "
            "exit 3"
        ),
        mended,
    ),
    "scratch_full: results of a job": Story(
        "pfs/root/pegasus/two/bb-",
        second_task(
            "pfs=$(ls -d ${0%/*}/pfs/root/pegasus/two/bb-*); "
            'echo "launch: r.txt -> $pfs/r.txt: No space left on device" >&2; exit 1'
        ),
        mended,
        mode="transient",
    ),
    "tier_full for a job": Story(
        "the tier is full (21.0 KiB",
        second_task("cat $2 > /dev/full"),
        mended,
        AGAIN,
        mode="transient",
        capacity=("--bb-capacity", "21KiB"),
        tier={"granularity": "1KiB"},
    ),
    "tier_full up to its quota": Story(
        "raise it in the site catalog to 2.0 MiB",
        second_task("cat $2 > /dev/full"),
        mended_with_a_larger_quota,
        AGAIN,
        tier={"quota": "1MiB"},
    ),
}
