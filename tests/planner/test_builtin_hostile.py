"""Whatever a user wrote arrives as it was written, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .hands import site, submit_of

HOSTILE = [
    "blank here",
    "quote'single",
    'quote"double',
    "$(X)",
    "$$(X)",
    "$ENV(HOME)",
    "100%",
    "%(name)s",
    "a;b",
    "`id`",
    "back\\slash",
    "tab\tinside",
    "\u202etxt.exe",
    "a=b",
    "@list",
    "-rf",
    "'quoted'",
    "",
]


@pytest.mark.parametrize("style", ["condor", "glite"])
def test_arguments_arrive_as_they_were_written(
    runner: Any, style: str, tmp_path: Path
) -> None:
    site(runner)["profiles"]["pegasus"]["style"] = style
    site(runner)["profiles"]["condor"] = {"grid_resource": "batch slurm"}
    runner.jobs[0]["arguments"] = [
        f"'{text}'" if '"' in text else f'"{text}"' for text in HOSTILE
    ]
    runner.jobs[0]["profiles"] = {"env": {f"V{n}": t for n, t in enumerate(HOSTILE)}}
    read = submit_of(runner, "split_ID1", tmp_path)
    assert read.arguments[-len(HOSTILE) :] == HOSTILE
    assert [read.environment[f"V{n}"] for n in range(len(HOSTILE))] == HOSTILE


def test_lfns_arrive_as_they_were_written(runner: Any, tmp_path: Path) -> None:
    lfns = [text for text in HOSTILE if text and "\t" not in text]
    runner.jobs[0]["uses"] += [
        {"lfn": lfn, "type": "output", "stageOut": True} for lfn in lfns
    ]
    runner.jobs[0]["stdout"] = "'quoted'"
    planned = runner.plan()
    read = submit_of(runner, "split_ID1", tmp_path)
    looked_at = [
        read.arguments[n + 1] for n, word in enumerate(read.arguments) if word == "-s"
    ]
    assert looked_at[2:] == [f"{lfn}={lfn}" for lfn in lfns if lfn[0] != "@"]
    assert read.arguments[read.arguments.index("-o") + 1] == "./'quoted'"
    delivered = planned.jobs["stage_out_remote_cori_0_0"].entries
    assert [entry["lfn"] for entry in delivered] == lfns
    urls = [entry["dest_urls"][0]["url"] for entry in delivered]
    assert urls == [f"file:///home/wfuser/out/{lfn}" for lfn in lfns]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (["-i a.txt -o b"], ["-i", "a.txt", "-o", "b"]),
        (["--start", '"09-15 00:00"', "x"], ["--start", "09-15 00:00", "x"]),
        (["'a \"b\" c'"], ['a "b" c']),
        (['"it\'s me"'], ["it's me"]),
        (['say \\"hi\\"'], ["say", '"hi"']),
        (["it\\'s"], ["its"]),  # HTCondor reads the two quotes as an empty word
        (["back\\slash", "a\\\\b", "c\\ d"], ["backslash", "a\\b", "c", "d"]),
        (["'a\\n'", "x'y z'w"], ["a\\n", "xy zw"]),
        (["", "a", "''", ""], ["a", ""]),
        (["'one", "word'"], ["one word"]),
        (["$HOME $(X)", "caf\u00e9\u00a0x", "*.txt"], None),
    ],
)
def test_a_task_gets_the_words_that_pegasus_would_give_it(
    runner: Any, tmp_path: Path, items: list[str], words: list[str] | None
) -> None:
    runner.jobs[0]["arguments"] = items
    read = submit_of(runner, "split_ID1", tmp_path).arguments
    expected = " ".join(items).split(" ") if words is None else words
    assert read[read.index("/opt/bin/split") + 1 :] == expected
