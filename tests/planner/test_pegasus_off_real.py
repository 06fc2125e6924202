"""Mode off beside a plain pegasus-plan, file by file: the same but for the counters."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.pegasus_site import GIVEN
from tests.support.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS
# What differs from one planning to the next: names drawn by lot, and moments.
DRAWN = {
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "UUID",
    r"pegasus\.\d+\.properties": "PROPERTIES",
    r"1970-01-01T[0-9:.]+Z": "MOMENT",
    r"#\w{3} \w{3} \d\d [0-9:]{8} \w+ 20\d\d": "MOMENT",
    r"20\d\d-?\d\d-?\d\d[T ]?[0-9:.+Z-]*": "MOMENT",
    r'"(start_time|end_time|duration)" *: *[0-9.]+': "TIME",
}
LAUNCHER = re.compile(r"""[^\s"=]*/submit/\.pegasus-bb/[0-9a-f]{16}/bin/launch""")


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    made = WorkflowRunner(tmp_path)
    sharedfs = "pegasus.data.configuration = sharedfs\n"
    (made.work / "pegasus.properties").write_text(sharedfs)
    return made


def planned(runner: WorkflowRunner, *words: str) -> dict[str, str]:
    """Every file of the submit directory r, settled, by its settled name."""
    done = runner.call(*words, *GIVEN, "workflow.yml")
    assert done.returncode == 0, done.stderr
    folder = runner.work / "submit" / "r"
    files = {
        settled(str(path.relative_to(folder))): settled(path.read_text())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".db"
    }
    # Java writes properties in the order of a hash table.
    files["PROPERTIES"] = "\n".join(sorted(files["PROPERTIES"].splitlines()))
    folder.rename(runner.work / f"r{len(list(runner.work.iterdir()))}")
    return files


def settled(text: str) -> str:
    for pattern, word in DRAWN.items():
        text = re.sub(pattern, word, text)
    return text


def ours(*more: str) -> list[str]:
    return [sys.executable, "-m", "pegasus_bb", "plan", "--bb-mode", "off", *more]


def test_without_counters_every_file_is_that_of_a_plain_pegasus_plan(
    runner: WorkflowRunner,
) -> None:
    plain = planned(runner, str(runner.pegasus / "pegasus-plan"))
    with_us = planned(runner, *ours("--bb-counters", "off"))
    assert len(plain) > 20
    assert with_us == plain
    assert not (runner.work / "submit" / ".pegasus-bb").exists()


def test_with_counters_only_the_launcher_is_added(runner: WorkflowRunner) -> None:
    plain = planned(runner, str(runner.pegasus / "pegasus-plan"))
    with_us = planned(runner, *ours())
    assert set(with_us) == set(plain)
    for name in plain:
        assert without_launcher(with_us[name]) == without_launcher(plain[name]), name
    assert LAUNCHER.search(with_us["00/00/cat1_ID1.sub"])


def without_launcher(text: str) -> list[str]:
    """In a submit file it stands where Kickstart stood, and Kickstart goes first among
    the arguments; the properties and the command line that are noted name it."""
    text = re.sub(r"-Dpegasus\.gridstart\.launcher=\S+ ", "", text)
    text = re.sub(r"(?m)^pegasus\.gridstart\.launcher=.*\n", "", text)
    moved = r'(?ms)^arguments = "(\S+) +(.*?)^executable = (\S+)$'
    text = LAUNCHER.sub("LAUNCHER", text)
    if "executable = LAUNCHER" in text:
        text = re.sub(moved, r'arguments = " \2executable = \1', text)
    text = re.sub(
        r'executable="LAUNCHER" argv="(\S+) +', r'executable="\1" argv=" ', text
    )
    return re.sub(r'argv=" +', 'argv="', text).splitlines()


def test_what_was_counted_is_told_and_the_results_are_there(
    runner: WorkflowRunner,
) -> None:
    planned(runner, *ours())
    (submit,) = (p for p in runner.work.glob("r[0-9]*") if p.is_dir())
    submit.rename(runner.work / "submit" / "r")
    assert runner.run() == "hello\n"
    record = (runner.work / "submit/r/00/00/cat1_ID1.out.000").read_text()
    assert '# pegasus_bb io: {"rchar": ' in record
