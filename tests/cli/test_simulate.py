"""pegasus-bb simulate --mix, as it is typed, for a small machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from lab.tests.flash.loads import users_file
from pegasus_bb.core.errors import DONE, USAGE
from tests.support.forked import pegasus_bb

MACHINE = """\
nodes: 100
cores: 10
memory: 100GB
nic: 10GB/s
pfs: {read: 10GB/s, write: 10GB/s}
buffers:
  shared: {nodes: 10, read: 120GB/s, write: 100GB/s, stripes: 2}
  local: {read: 120GB/s, write: 100GB/s}
faults: {mtti: 6h, repair: 1m}
"""
MIX = """\
applications:
  - {name: wide, share: 60, walltime: 30h, pipelines: 4,
     cores: {routine: 400, hero: 800}}
  - {name: narrow, share: 30, walltime: 10h, pipelines: 2,
     cores: {routine: 50, hero: 99}}
checkpoint: 50
interval: daly
walltime: 8h
campaign: 2d
"""
MANY = (
    *("--nodes", ",".join(map(str, range(2, 101)))),
    *("--capacity", ",".join(f"{n}TB" for n in range(1, 100))),
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "machine.yml").write_text(MACHINE)
    (tmp_path / "mix.yml").write_text(MIX)
    return tmp_path


def simulate(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = ["simulate", "--mix", "mix.yml", "--machine", "machine.yml", *words]
    return pegasus_bb(given, work, os.environ)


def test_a_table_and_how_the_second_case_differs(work: Path) -> None:
    done = simulate(work, "--seeds", "3")
    assert done.returncode == DONE, done.stderr
    assert "3 seeds, mean and half of its 95 % confidence interval" in done.stdout
    assert "local, against shared:" in done.stdout
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["shared", "local"]
    assert "±" in lines[2]


def test_what_is_the_same_is_not_told_apart(work: Path) -> None:
    """A PFS that is a thousandth faster: the seeds make more difference."""
    done = simulate(
        work, "--arch", "shared", "--pfs", "1000GB/s,1001GB/s", "--seeds", "4"
    )
    rows = [line for line in done.stdout.splitlines() if "not told apart" in line]
    assert len(rows) == 4


def test_one_seed_says_nothing_of_chance(work: Path) -> None:
    done = simulate(work, "--seeds", "1")
    assert "1 seed, mean\n" in done.stdout
    assert "one seed says nothing of chance" in done.stdout
    assert "±" not in done.stdout


def test_the_same_words_print_the_same_bytes(work: Path) -> None:
    words = ("--seeds", "2", "--json")
    assert simulate(work, *words).stdout == simulate(work, *words).stdout


def test_json_has_every_seed_and_every_difference(work: Path) -> None:
    done = simulate(work, "--parity", "0,20", "--seeds", "2", "--json")
    found = json.loads(done.stdout)
    assert (found["seeds"], found["confidence"]) == (2, 0.95)
    names = [case["name"] for case in found["cases"]]
    assert names == [
        *("shared, parity 0 %", "shared, parity 20 %"),
        *("local, parity 0 %", "local, parity 20 %"),
    ]
    whole, rest = found["cases"][2:]
    for before, after in zip(whole["outcomes"], rest["outcomes"], strict=True):
        assert after["max"] == pytest.approx(0.8 * before["max"])
        assert after["min"] == pytest.approx(0.8 * before["min"])
    assert rest["against"] == "shared, parity 0 %"
    mean = rest["measures"]["productive"]["mean"]
    base = found["cases"][0]["measures"]["productive"]["mean"]
    apart = rest["differences"]["productive"]
    assert apart["mean"] == pytest.approx(mean - base)
    assert apart["told_apart"] is (abs(apart["mean"]) > apart["half"])


def test_local_buffers_have_no_buffer_nodes_to_vary(work: Path) -> None:
    done = simulate(work, "--nodes", "5,10", "--seeds", "1", "--json")
    names = [case["name"] for case in json.loads(done.stdout)["cases"]]
    assert names == ["shared, 5 nodes", "shared, 10 nodes", "local"]


def test_what_finds_no_room_is_said(work: Path) -> None:
    done = simulate(work, "--arch", "local", "--capacity", "1TB", "--seeds", "1")
    assert "found no room on the buffer and went to the PFS" in done.stdout


def test_a_page_with_a_figure_for_each_sweep(work: Path) -> None:
    words = ("--nodes", "5,10", "--capacity", "1TB,90TB", "--pfs", "5GB/s,50GB/s")
    done = simulate(work, *words, "--seeds", "1", "--html", "page.html")
    assert done.returncode == DONE, done.stderr
    page = (work / "page.html").read_text()
    for title in ("buffer nodes", "capacity of the buffers", "bandwidth of the PFS"):
        assert f"<h2>By {title} (simulated)</h2>" in page
    assert "By parity" not in page


def test_a_trace_has_every_event_of_the_first_seed(work: Path) -> None:
    words = ("--seeds", "2", "--json", "--trace", "trace.jsonl")
    found = json.loads(simulate(work, *words).stdout)
    text = (work / "trace.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    for case in found["cases"]:
        own = [each for each in events if each["case"] == case["name"]]
        assert [each["time"] for each in own] == sorted(each["time"] for each in own)
        told = Counter(each["event"] for each in own)
        first = case["outcomes"][0]
        assert told["checkpoint"] == first["dumps"]
        assert told["checkpoint lost"] == first["dumps_lost"]
        hit = [each for each in own if each["event"] == "fault" and each["nodes"]]
        assert len(hit) == first["interrupts"]
        assert told["start"] == told["end"] + told["complete"] + first["interrupts"]
    simulate(work, *words)
    assert (work / "trace.jsonl").read_text() == text


def test_figures_that_cannot_be_written_cost_no_results(work: Path) -> None:
    words = ("--arch", "local", "--seeds", "1", "--html", "none/page.html")
    done = simulate(work, *words)
    assert done.returncode == USAGE
    assert "none/page.html: cannot be written" in done.stderr
    assert "1 seed, mean" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arch", "shared,remote"), "--arch remote: machine.yml has no such buffer"),
        (("--nodes", "0"), "--nodes 0: not a number of nodes above zero"),
        (("--nodes", "9" * 20), "and not above 1000000"),
        (("--nodes", "1"), "--nodes 1: a file has 2 stripes"),
        (("--nodes", "5", "--arch", "local"), "add --arch shared"),
        (("--placement", "best"), "--placement best: not a placement"),
        (("--capacity", "-1"), "--capacity -1: '-1': not a size"),
        (("--pfs", "0GB/s"), "--pfs 0GB/s: not a bandwidth above zero"),
        (("--pfs", "500"), "such as 500GB/s"),
        (("--nodes", "٣"), "--nodes ٣: not a number of nodes above zero"),
        (("--parity", "100"), "--parity 100: not a per cent from 0 to 99"),
        (("--parity", "9" * 5000), "99: not a per cent from 0 to 99"),
        (("--repair", "soon"), "--repair soon: 'soon': not a duration"),
        (("--repair", "9" * 5000), "longer than anything lasts"),
        (("--seeds", "0"), "0 is not in the range"),
        (("--seeds", "9" * 20), "is not in the range"),
        (("--mix", "apex"), "is larger than the machine"),
        (MANY, "--nodes, --capacity make 19,602 cases, and a study has at most 10,000"),
        (("--mix", "none.yml"), "none.yml: there is no such file, and no such mix"),
    ],
)
def test_a_mistake_is_named(work: Path, words: tuple[str, ...], said: str) -> None:
    done = simulate(work, *words)
    assert done.returncode == USAGE
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("write: 100GB/s, stripes", "write: 0GB/s, stripes", "machine.yml:7: a speed"),
        ("memory: 100GB", "memory: -100GB", "key:      memory"),
        ("memory: 100GB", "memory: 1", "machine.yml:3: a checkpoint takes no time"),
        (
            "write: 100GB/s}",
            "write: 1MB/s}",
            "buffers\n  fix:      more bandwidth",
        ),
        ("mtti: 6h", "mtti: 1s", "or fewer faults (faults.mtti)"),
        ("nic: 10GB/s", "nic: 1B/s", "machine.yml:4: a checkpoint of 5 nodes takes"),
        ("{mtti: 6h, repair: 1m}", "none", "faults is a mapping"),
        ("{mtti: 6h, repair: 1m}", "{}", "faults without mtti"),
        ("{mtti: 6h, repair: 1m}", "0", "faults is a mapping"),
    ],
)
def test_a_machine_that_cannot_be(
    work: Path, there: str, instead: str, said: str
) -> None:
    assert there in MACHINE
    (work / "machine.yml").write_text(MACHINE.replace(there, instead))
    done = simulate(work)
    assert done.returncode == USAGE
    assert said in done.stderr


def test_an_interval_of_zero(work: Path) -> None:
    (work / "mix.yml").write_text(MIX.replace("daly", "0s"))
    done = simulate(work)
    assert done.returncode == USAGE
    assert "mix.yml:7: interval is a time above zero" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "workflow.yml: cannot be read"), (("--mix", "mix.yml"), "--machine FILE")],
)
def test_something_is_missing(work: Path, words: tuple[str, ...], said: str) -> None:
    done = pegasus_bb(["simulate", *words], work, os.environ)
    assert done.returncode == USAGE
    assert said in done.stderr


def test_repair_needs_faults(work: Path) -> None:
    text = MACHINE[: MACHINE.index("faults")]
    (work / "machine.yml").write_text(text)
    done = simulate(work, "--repair", "1h")
    assert done.returncode == USAGE
    assert "machine.yml has no faults to repair" in done.stderr
    assert simulate(work, "--seeds", "1").returncode == DONE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("workflow.yml",), "unexpected extra argument (workflow.yml)"),
        (("--mode", "off"), "No such option '--mode'"),
        (("--sites", "cluster"), "No such option '--sites'"),
    ],
)
def test_a_mix_has_no_workflow(work: Path, words: tuple[str, ...], said: str) -> None:
    done = simulate(work, *words)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert said in done.stderr


def test_provisioning(work: Path) -> None:
    tang = Path(__file__).parents[2] / "examples" / "papers" / "tang" / "table3.yml"
    words = ["simulate", "--provision", str(tang)]
    done = pegasus_bb([*words, "--json"], work, os.environ)
    assert done.returncode == DONE, done.stderr
    assert json.loads(done.stdout)["unit"] == "GB/s"
    mixed = pegasus_bb([*words, "--nodes", "5"], work, os.environ)
    assert mixed.returncode == USAGE
    assert "--provision takes no --nodes" in mixed.stderr
    planned = pegasus_bb([*words, "--mode", "off"], work, os.environ)
    assert planned.returncode == USAGE
    assert "No such option '--mode'" in planned.stderr


def test_flash(work: Path) -> None:
    """The same seeds print the same bytes; a mistake is refused with its line."""
    path = users_file(work)
    before = sorted(work.iterdir())
    words = ["simulate", "--flash", path.name, "--seeds", "2"]
    table, again = (pegasus_bb(words, work, os.environ) for _ in range(2))
    assert table.returncode == DONE, table.stderr
    assert table.stdout == again.stdout
    for word in ("legacy", "lifetime, sigma 0.5", "flash a day", "take: "):
        assert word in table.stdout
    found = json.loads(pegasus_bb([*words, "--json"], work, os.environ).stdout)
    assert f"{found['policies']['user']['waf']:.3f}" in table.stdout
    assert len(found["policies"]["pools"]["outcomes"]) == 2

    mixed = pegasus_bb([*words, "--provision", "x.yml"], work, os.environ)
    assert mixed.returncode == USAGE
    assert "--flash takes no --provision" in mixed.stderr
    path.write_text(path.read_text().replace("streams: 4", "streams: none"))
    wrong = pegasus_bb(words, work, os.environ)
    assert wrong.returncode == USAGE
    assert "users.yml:1: streams is a whole number from 1 to 256" in wrong.stderr
    assert sorted(work.iterdir()) == before
