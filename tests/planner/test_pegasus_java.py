"""With few processors Java is told how to collect; the user goes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.planner.pegasus.java import SHORT, java_options
from tests.planner.pegasus_user import User

YOUNG = "-XX:NewRatio=7"
TOGETHER = ["-XX:+UseParallelGC", YOUNG]


def test_few_processors_are_not_shared_with_a_collector() -> None:
    assert java_options({}, (), SHORT, processors=2) == TOGETHER
    assert java_options({}, ("--force", "-Xmx4g"), SHORT, processors=3) == TOGETHER
    assert java_options({}, (), SHORT, processors=1) == ["-XX:+UseSerialGC", YOUNG]


def test_what_a_short_workflow_runs_is_compiled_once() -> None:
    once = "-XX:TieredStopAtLevel=1"
    assert java_options({}, (), SHORT - 1, processors=2) == [*TOGETHER, once]


def test_with_many_processors_java_chooses() -> None:
    assert java_options({}, (), SHORT, processors=4) == []


@pytest.mark.parametrize(
    "name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"]
)
def test_a_collector_that_the_user_chose_stays_the_only_one(name: str) -> None:
    assert java_options({name: "-Xmx4g -XX:+UseZGC"}, (), SHORT, processors=2) == []
    assert java_options({name: "@/etc/java.options"}, (), SHORT, processors=2) == []
    assert java_options({name: "-Xmx4g"}, (), SHORT, processors=2) == TOGETHER
    assert java_options({}, ("-XX:+UseG1GC",), SHORT, processors=2) == []


def test_java_is_told_by_the_script_of_pegasus_plan(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.on_tier("-XX:+UseG1GC").returncode == 0
    assert [word for word in user.calls() if word.startswith("-X")] == ["-XX:+UseG1GC"]
    found = java_options({}, (), 1)
    assert user.on_tier("--force").returncode == 0
    assert [word for word in user.calls() if word.startswith("-X")] == found
