"""The help of plan, explain and check says what an option takes, and what holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli import cli
from pegasus_bb.core.errors import USAGE
from pegasus_bb.model.settings import (
    SETTINGS,
    Properties,
    Setting,
    Settings,
    property_of,
    read_settings,
)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_default_that_is_shown_is_the_one_that_holds(name: str) -> None:
    shown = SETTINGS[name].default
    if not shown or shown.startswith("the "):
        assert getattr(Settings(), name) in ("", None, ())
        return
    said = Properties({property_of(name): Setting(shown, "help")})
    found = getattr(read_settings(said, Path.cwd()), name)
    assert found == getattr(Settings(), name) or (name, shown) == ("drain", "now")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("reprot", "did you mean report?"), ("xyz", "pegasus-bb -h lists them")],
)
def test_a_command_that_is_unknown_gets_the_one_that_was_meant(
    typed: str, hint: str
) -> None:
    result = CliRunner().invoke(cli, [typed])
    assert result.exit_code == USAGE
    assert f"there is no command {typed!r}; {hint}" in result.output


@pytest.mark.parametrize("command", ["explain", "check", "simulate"])
def test_what_only_plan_heeds_is_not_listed_elsewhere(command: str) -> None:
    told = CliRunner().invoke(cli, [command, "--help"]).output
    assert "--submit" not in told.replace("--relative-submit-dir", "")
    assert "--force" not in told
    assert "[persistent]" in told
    assert "--submit" in CliRunner().invoke(cli, ["plan", "--help"]).output
