"""What a job may ask for: burst_buffer.lua and the service agree on every line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.directives import parse_directives
from tests.support.slurm_job import Job
from tests.support.slurm_stager import ERROR, SUCCESS, Hooks, SlurmSite
from tests.support.stager import ME

GOOD = [
    "jobbb capacity=10GiB pool=flash",
    "jobbb pool=flash capacity=10GB",
    "stage_in lustre://a/b job://a",
    "stage_in /lus/a job://a",
    "stage_out bb://name/a lustre://b",
    "stage_in lustre://a node://a/b",
    "stage_out node://a job://a",
    "persist store data size=1TiB",
    "persist store data size=1TiB pool=flash",
    "persist use data",
    "persist delete data",
    "persist share data ann",
    "persist unshare data ann",
    "jobbb\tcapacity=10GiB \tpool=flash # mine",
    "\tstage_in\tlustre://a\t \tjob://a\t#mine",
]
BAD = [
    ("", "write: #BB_LUA jobbb, stage_in"),
    ("steal lustre://a job://a", "write: #BB_LUA jobbb, stage_in"),
    ("jobbb capacity=10GiB", "pool=NAME"),
    ("jobbb capacity=3.5TB pool=flash", "capacity=100GiB"),
    ("jobbb capacity=0 pool=flash", "capacity=100GiB"),
    ("jobbb capacity=10GiB pool=x;id", "pool=NAME"),
    ("jobbb capacity=10GiB capacity=10GiB", "pool=NAME"),
    ("stage_in lustre://a", "SOURCE DEST"),
    ("stage_in lustre://a b c", "SOURCE DEST"),
    ("stage_in lustre://../a job://a", "without '..'"),
    ("stage_in /lus/../etc/shadow job://a", "without '..'"),
    ("stage_in lustre://a job://a/..", "without '..'"),
    ("stage_in lustre:// job://a", "SOURCE DEST"),
    ("stage_in bb://x;id/a job://a", "SOURCE DEST"),
    (f"stage_in lustre://a node://{'x/' * 2100}y", "4096 bytes at most"),
    (f"stage_in lustre://{'a' * 80 + 'ä' * 2010} node://a", "4096 bytes at most"),
    ("stage_in lustre://capacity=1TiB job://a", "Slurm would count"),
    ("stage_in lustre://a\x07 job://a", "control character 0x07"),
    ("stage_in lustre://a\tb job://a", "SOURCE DEST"),
    ("stage_in lustre://a job://a\r", "carriage return"),
    ("stage_in lustre://a\0 job://a", "control character 0x00"),
    ("jobbb capacity=10GiB\tpool=flash", "a tab behind capacity="),
    ("jobbb capacity=10GiB pool=flash\t", "a tab behind capacity= or pool="),
    ("jobbb # capacity=10GiB pool=flash", "pool=NAME"),
    ("persist use data # not capacity=1GiB", "Slurm would count"),
    ("stage_in node://a job://a", "DEST of a stage_in"),
    ("stage_in lustre://a node://./", "DEST of a stage_in"),
    ("stage_out lustre://a node://a", "SOURCE of a stage_out"),
    ("stage_out node://a node://b", "SOURCE of a stage_out"),
    ("persist", "persist store, use"),
    ("persist lend data", "persist store, use"),
    ("persist store x;id size=1GiB", "3 to 40"),
    ("persist store data", "size=100GiB"),
    ("persist store data size=much", "size=100GiB"),
    ("persist store data size=1GiB pool=flash more=1", "size=100GiB"),
    ("persist use ../x", "3 to 40"),
    ("persist use data more", "3 to 40"),
    ("persist share data", "NAME USER"),
    ("persist share data $(id)", "NAME USER"),
]


@pytest.fixture(scope="module", params=["lua51", "lua54"])
def hooks(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Hooks:
    return Hooks(tmp_path_factory.mktemp("spool"), request.param)


def submit(hooks: Hooks, *lines: str, **info: str) -> tuple[int, str]:
    text = "\n".join(f"#BB_LUA {line}" for line in lines)
    return hooks.call("job_process", "script", 1, 1, {"burst_buffer": text, **info})


@pytest.mark.parametrize("line", GOOD)
def test_it_is_taken(hooks: Hooks, line: str) -> None:
    own = [GOOD[0]] if "job://" in line else []
    assert submit(hooks, line, *own) == (SUCCESS, "")
    parse_directives([f"#BB_LUA {line}"])


@pytest.mark.parametrize(("line", "why"), BAD)
def test_it_is_refused_when_the_job_is_submitted(
    hooks: Hooks, line: str, why: str
) -> None:
    code, words = submit(hooks, "persist use data", line)
    assert code == ERROR and why in words and "directive 2" in words
    with pytest.raises(Refused, match="directive 2, "):
        parse_directives(["#BB_LUA persist use data", f"#BB_LUA {line}"])


def test_a_second_buffer_of_the_job_is_refused(hooks: Hooks) -> None:
    code, words = submit(hooks, GOOD[0], GOOD[0])
    assert code == ERROR and "one jobbb line" in words


@pytest.mark.parametrize("line", [line for line in GOOD if line[:4] == "pers"])
def test_a_job_has_at_most_a_hundred_lines_with_persist(
    hooks: Hooks, line: str
) -> None:
    """Twenty thousand that make buffers would keep the service from all others."""
    many = [line] * 100
    assert submit(hooks, *many) == (SUCCESS, "")
    parse_directives([f"#BB_LUA {each}" for each in many])
    code, words = submit(hooks, *many, line)
    assert code == ERROR and "directive 101" in words and "100 persist lines" in words
    with pytest.raises(Refused, match="directive 101, "):
        parse_directives([f"#BB_LUA {each}" for each in [*many, line]])


@pytest.mark.parametrize("line", [GOOD[2], "stage_out job://a lustre://a"])
def test_a_place_in_a_buffer_of_the_job_needs_the_buffer(
    hooks: Hooks, line: str
) -> None:
    code, words = submit(hooks, "persist use data", line)
    assert code == ERROR and "directive 2 has job://" in words
    assert "#BB_LUA jobbb capacity=" in words
    assert submit(hooks, line, GOOD[0]) == (SUCCESS, "")


@pytest.mark.parametrize(
    ("key", "kind"),
    [("array_job_id", "job array"), ("het_job_id", "heterogeneous job")],
)
def test_a_job_array_and_a_heterogeneous_job_are_refused(
    hooks: Hooks, key: str, kind: str
) -> None:
    """Slurm tells job_process of it only for the elements, when they could start."""
    info = {"burst_buffer": f"#BB_LUA {GOOD[0]}", key: "12"}
    array = {"burst_buffer": f"#BB_LUA {GOOD[0]}", key: 12}
    for given in (info, array):
        code, words = hooks.call("job_process", "script", 1, 1, given)
        assert code == ERROR and kind in words and "submit single jobs" in words
    assert hooks.call("setup", 7, 1, 1, None, 0, "script", array) == (SUCCESS, "")
    assert hooks.call("data_in", 7, "script", 1, 1, array) == (SUCCESS, "")
    code, words = hooks.call("test_data_in", 7, "script", 1, 1, array)
    assert code == ERROR and kind in words


@pytest.mark.parametrize("line", ["hetjob", "packjob"])
def test_a_script_with_components_is_refused_when_it_is_submitted(
    hooks: Hooks, tmp_path: Path, line: str
) -> None:
    script, info = tmp_path / "script", {"burst_buffer": f"#BB_LUA {GOOD[0]}"}
    script.write_text(f"#!/bin/sh\n#SBATCH -N1\n#SBATCH {line}\n#SBATCH -N2\n")
    code, words = hooks.call("job_process", str(script), 1, 1, info)
    assert code == ERROR and "heterogeneous job" in words
    script.write_text(f"#!/bin/sh\necho '#SBATCH {line}'\n")
    assert hooks.call("job_process", str(script), 1, 1, info) == (SUCCESS, "")


def test_more_than_a_pool_has_in_all_is_refused_at_once(site: SlurmSite) -> None:
    for size in ("11MiB", "12MB", "1T"):
        for line in ("jobbb capacity={}", "persist store data size={}"):
            code, words = submit(site.hooks, f"{line.format(size)} pool=flash")
            assert code == ERROR and "pool flash has 10 MiB in all" in words
    assert submit(site.hooks, "jobbb capacity=10MiB pool=flash") == (SUCCESS, "")
    assert submit(site.hooks, "jobbb capacity=10MB pool=flash") == (SUCCESS, "")


def test_a_line_that_follows_a_directive_says_nothing_to_the_service(
    site: SlurmSite,
) -> None:
    """Neither another user, nor another hook, nor a second answer of the spool."""
    site.file("in.txt")
    own = "jobbb capacity=1MiB pool=flash"
    line = "stage_in lustre://in.txt job://a\nuid=1\n\ndo=teardown\nstate=gone"
    job = Job(site, own, line)
    job.stage_in()
    folder = job.runs_in()
    assert (folder / "a").stat().st_uid == folder.stat().st_uid == ME
