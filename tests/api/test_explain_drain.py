"""What explain says of pacing comes from the forecast that planning has made."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.explain import command
from tests.support.user_files import User

SPEEDS = """
cluster:
  slots: 4
  pfs: {read: 1GB/s, write: 1GB/s}
  bb: {read: 8GB/s, write: 8GB/s}
"""


def early_results(chain: User) -> list[str]:
    """Each job makes a result; arguments of explain."""
    for entry in chain.jobs:
        entry["uses"][1]["stageOut"] = True
    chain.read()
    (chain.folder / "speeds.yml").write_text(SPEEDS)
    words = ["--bb-mode", "persistent", "--bb-speeds", "speeds.yml", "--json"]
    return [*words, "--sites", "cluster", "--output-dir", "out"]


def lifetimes(*words: str) -> dict[str, int]:
    shown = CliRunner().invoke(command, words)
    assert shown.exception is None or shown.exit_code == 0, shown.output
    return {file["lfn"]: file["lifetime"] for file in json.loads(shown.stdout)["files"]}


def test_a_paced_result_counts_until_the_run_ends(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lie on the tier so long."""
    words = early_results(chain)
    monkeypatch.chdir(chain.folder)
    assert lifetimes(*words, "--bb-drain", "now")["a"] == 2
    assert lifetimes(*words, "--bb-drain", "paced")["a"] == 4
