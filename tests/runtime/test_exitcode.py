"""The POST script: done only where the job and its record both say so."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.errors import USAGE
from pegasus_bb.runtime.exitcode import main

RECORDED = Path(__file__).parent.parent / "recorded" / "kickstart"
GOOD = "kickstart-5.1.2-t-procs.yml"
BAD = "kickstart-5.1.2-failed.yml"
Site = Any  # tests/runtime/conftest.py


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node's output as Pegasus's own Kickstart left it."""
    shutil.copyfile(RECORDED / GOOD, tmp_path / "cat1_ID1.out")
    (tmp_path / "cat1_ID1.err").write_text("")
    return tmp_path / "cat1_ID1.out"


def judged(code: int, path: Path) -> int:
    return main(["-r", str(code), str(path)])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_job_that_did_it_is_kept_under_a_number(node: Path) -> None:
    assert judged(0, node) == 0
    assert names(node.parent) == ["cat1_ID1.err.000", "cat1_ID1.out.000"]


def test_every_attempt_is_kept(node: Path) -> None:
    shutil.copyfile(RECORDED / BAD, node)
    assert judged(0, node) == 1
    shutil.copyfile(RECORDED / GOOD, node)
    assert judged(0, node) == 0
    assert (node.parent / "cat1_ID1.out.000").read_bytes() == (
        RECORDED / BAD
    ).read_bytes()
    assert (node.parent / "cat1_ID1.out.001").exists()


def test_asked_again_it_answers_the_same(node: Path) -> None:
    for _ in range(2):
        assert judged(0, node) == 0
    assert names(node.parent) == ["cat1_ID1.err.000", "cat1_ID1.out.000"]
    assert judged(0, node.parent / "cat1_ID1.out.000") == 0


@pytest.mark.parametrize("code", [1, -9, 75])
def test_a_job_that_failed_failed_whatever_its_record_says(
    node: Path, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(code, node) == 1
    assert f"ended with {code}" in capsys.readouterr().err
    assert "cat1_ID1.out.000" in names(node.parent)


def test_one_failed_record_among_several_is_enough(
    node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = (RECORDED / GOOD).read_text(), (RECORDED / BAD).read_text()
    node.write_text(good + bad + good)
    assert judged(0, node) == 1
    assert "record 2 says that its task failed (exit code 1)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no record in it"),
        ("Segmentation fault\n", "no record in it"),
        ("- invocation: True\n  version: 3.0\n  main", "breaks off"),
        ("- invocation: True\n" * 2, "breaks off"),
        ((RECORDED / GOOD).read_text() + "- invocation: True\n  vers", "breaks off"),
    ],
)
def test_no_whole_record_is_no_success(
    node: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node.write_text(text)
    assert judged(0, node) == 1
    assert words in capsys.readouterr().err


def test_no_output_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(0, tmp_path / "never.out") == 1
    assert "is not there" in capsys.readouterr().err


@pytest.mark.parametrize("lie", ["      raw: 0", "- invocation: True\\n      raw: 0"])
def test_a_task_cannot_talk_its_way_out(site: Site, tmp_path: Path, lie: str) -> None:
    done = site.start("record", "sh", "-c", f"printf '{lie}\\n'; exit 4")
    (tmp_path / "liar.out").write_bytes(done.stdout)
    assert judged(0, tmp_path / "liar.out") == 1


def test_nor_into_failure(site: Site, tmp_path: Path) -> None:
    lie = r"- invocation: True\n    status:\n      raw: 256\n"
    done = site.start("record", "printf", lie)
    (tmp_path / "honest.out").write_bytes(done.stdout)
    assert judged(0, tmp_path / "honest.out") == 0


def test_a_killed_task_s_signal_is_named(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = site.start("record", "sh", "-c", "kill -9 $$")
    (tmp_path / "killed.out").write_bytes(done.stdout)
    assert judged(0, tmp_path / "killed.out") == 1
    assert "signal 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [[], ["x.out"], ["-r", "x", "x.out"], ["-r", "0", "x.txt"]]
)
def test_mistakes_are_words(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == USAGE
    assert "say: exitcode -r RETURN FILE.out" in capsys.readouterr().err


def test_a_thousand_attempts_are_too_many(node: Path) -> None:
    for number in range(1000):
        (node.parent / f"{node.name}.{number:03d}").write_text("")
    assert judged(0, node) == 1
    assert node.exists()
