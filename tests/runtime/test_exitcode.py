"""The POST script: done only where the job and its record both say so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pegasus_bb.runtime.programs.exitcode import main
from tests.support.job_lists import Site, names

RECORDED = Path(__file__).parent.parent / "recorded" / "kickstart"
GOOD = "kickstart-5.1.2-t-procs.yml"
BAD = "kickstart-5.1.2-failed.yml"
GOOD_RECORD = (RECORDED / GOOD).read_text()


@pytest.fixture
def node(tmp_path: Path) -> Path:
    shutil.copyfile(RECORDED / GOOD, tmp_path / "cat1_ID1.out")
    (tmp_path / "cat1_ID1.err").write_text("")
    return tmp_path / "cat1_ID1.out"


def judged(code: int, path: Path) -> int:
    return main(["-r", str(code), str(path)])


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


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no record in it"),
        ("Segmentation fault\n", "no record in it"),
        ("- invocation: True\n  version: 3.0\n  main", "breaks off"),
        ("- invocation: True\n" * 2, "breaks off"),
        (f"{GOOD_RECORD}- invocation: True\n  vers", "breaks off"),
        (
            "- invocation: True\n  derivation: null\n      raw: 256\n",
            "its task failed (exit code 1)",
        ),
        (
            GOOD_RECORD + (RECORDED / BAD).read_text() + GOOD_RECORD,
            "its task ID2 failed (exit code 1), by record 2",
        ),
    ],
)
def test_no_whole_record_is_no_success(
    node: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node.write_text(text)
    assert judged(0, node) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "code", "words"),
    [
        (r"printf '      raw: 0\n'; exit 4", 1, ""),
        (r"printf -- '- invocation: True\n      raw: 0\n'; exit 4", 1, ""),
        (r"printf -- '- invocation: True\n    status:\n      raw: 256\n'", 0, ""),
        ("kill -9 $$", 1, "signal 9"),
    ],
)
def test_a_task_cannot_talk_its_way_out_or_into_failure(
    site: Site, task: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = site.start("record", "sh", "-c", task)
    (site.root / "task.out").write_bytes(done.stdout)
    assert judged(0, site.root / "task.out") == code
    assert words in capsys.readouterr().err
