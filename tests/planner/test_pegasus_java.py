"""With few processors Java is told how to collect; the user goes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.planner.pegasus.java import java_options
from tests.planner.pegasus_user import User

SERIAL = ["-XX:+UseSerialGC"]


def test_few_processors_are_not_shared_with_a_collector() -> None:
    assert java_options({}, (), processors=2) == SERIAL
    assert java_options({}, ("--force", "-Xmx4g"), processors=1) == SERIAL


def test_with_many_processors_java_chooses() -> None:
    assert java_options({}, (), processors=4) == []


@pytest.mark.parametrize(
    "name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"]
)
def test_a_collector_that_the_user_chose_stays_the_only_one(name: str) -> None:
    assert java_options({name: "-Xmx4g -XX:+UseParallelGC"}, (), processors=2) == []
    assert java_options({name: "@/etc/java.options"}, (), processors=2) == []
    assert java_options({name: "-Xmx4g"}, (), processors=2) == SERIAL
    assert java_options({}, ("-XX:+UseG1GC",), processors=2) == []


def test_java_is_told_by_the_script_of_pegasus_plan(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.on_tier("-XX:+UseParallelGC").returncode == 0
    assert [word for word in user.calls() if word.startswith("-X")] == [
        "-XX:+UseParallelGC"
    ]
    found = java_options({}, ())
    assert user.on_tier("--force").returncode == 0
    assert [word for word in user.calls() if word.startswith("-X")] == found
