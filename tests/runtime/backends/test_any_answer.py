"""Whatever names, words and tears an answer of Slurm has, it is read for what it is."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.scontrol import BUFFER_STATES, parse_burst, parse_jobs

# What Slurm's own parser of #BB lines ends a word at; all else may be in a name.
BLANKS = " \t\n\v\f\r\0"
WORDS = st.text(
    st.characters(exclude_characters=BLANKS, exclude_categories=["Cs"]), min_size=1
)
ODD = st.sampled_from(
    [
        "a\x1cName=b",
        "a\x1cUserID=me(0)",
        "x\u2028Name=datawarp",
        "JobID=1",
        "Name=",
        "=",
    ]
)
NAMES = WORDS | ODD
SIZES = st.integers(0, 9999)
UIDS = st.integers(0, 2**32 - 1)
ROWS = st.tuples(NAMES, SIZES, st.sampled_from(sorted(BUFFER_STATES)), NAMES, UIDS)
# Free text that people or other programs wrote.
PROSE = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
HEADER = (
    "Name=datawarp DefaultPool=wlm_pool Granularity=1MiB TotalSpace=40GiB "
    "FreeSpace=39559MiB UsedSpace=1401MiB\n"
    "  Flags=EnablePersistent\n  PollInterval=15\n  Allocated Buffers:\n"
)


def row(name: str, size: int, state: str, user: str, uid: int) -> str:
    return (
        f"    Name={name} CreateTime=2026-11-20T18:52:20 Pool=wlm_pool "
        f"Size={size}MiB State={state} UserID={user}({uid})\n"
    )


@given(rows=st.lists(ROWS, max_size=4), jobs=st.lists(SIZES, max_size=2))
def test_every_row_is_one_buffer_and_nothing_else_is(
    rows: list[Any], jobs: list[int]
) -> None:
    others = [
        f"    JobID={n} CreateTime=2026-11-20T18:52:45 Pool=wlm_pool Size={n}MiB "
        "State=allocated UserID=user(1)\n"
        for n in jobs
    ]
    text = HEADER + "".join(others) + "".join(row(*each) for each in rows)
    [plugin] = parse_burst(text + "  Per User Buffer Use:\n    UserID=a(1) Used=1MiB\n")
    made = time.mktime((2026, 11, 20, 18, 52, 20, 0, 0, -1))
    assert [(b.name, b.size, b.native, b.user, b.uid) for b in plugin.buffers] == [
        (name, size << 20, state, user, uid) for name, size, state, user, uid in rows
    ]
    assert all(b.created == made and b.pool == "wlm_pool" for b in plugin.buffers)
    assert len(plugin.spaces) == len(rows) + len(jobs)
    assert plugin.pools[0].total == 40 << 30


@given(text=PROSE, cut=st.integers(0, 400))
def test_a_torn_answer_shows_nothing_that_was_not_there(text: str, cut: int) -> None:
    whole = (
        HEADER + row("pbbone", 1, "allocated", "u", 7) + row("pbbtwo", 2, "x", "u", 7)
    )
    plugins = parse_burst(whole[:cut])
    for buffer in [b for plugin in plugins for b in plugin.buffers]:
        name = buffer.name.split(" ")[0]
        assert "pbbone".startswith(name) or "pbbtwo".startswith(name)
        assert buffer.state is not State.READY or "State=allocated" in whole[:cut]
    assert all(p.name in ("", "datawarp"[: len(p.name)]) for p in parse_burst(text))


@given(comment=PROSE, words=PROSE, uid=UIDS)
def test_what_people_wrote_into_a_job_replaces_no_field(
    comment: str, words: str, uid: int
) -> None:
    """Slurm prints them last; a newline in them begins no other job."""
    comment = comment.replace("\nJobId=", "\nJob")
    text = (
        f"JobId=7 JobName=pbbone\n   UserId=u({uid}) GroupId=g(1) MCS_label=N/A\n"
        "   Priority=0 Nice=0\n   JobState=PENDING Reason=Held Dependency=(null)\n"
        f"   Comment={' '.join(comment.split())} \n"
        f"   SystemComment={words.replace('JobId=', 'Job')}\n"
    )
    [job] = parse_jobs(text)
    assert (job.id, job.name, job.uid, job.native) == ("7", "pbbone", uid, "PENDING")
    assert job.held and job.reason == "Held"
