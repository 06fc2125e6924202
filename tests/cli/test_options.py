"""The help of plan, explain and check says what an option takes, and what holds."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli import cli
from pegasus_bb.cli.options import _HELP
from pegasus_bb.model.properties import (
    Properties,
    Setting,
    Settings,
    property_of,
    read_settings,
)


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_the_default_that_is_shown_is_the_one_that_holds(name: str) -> None:
    shown = _HELP[name].default
    if not shown or shown.startswith("the "):
        assert getattr(Settings(), name) in ("", None, ())
        return
    said = Properties({property_of(name): Setting(shown, "help")})
    found = getattr(read_settings(said, Path.cwd()), name)
    assert found == getattr(Settings(), name) or (name, shown) == ("drain", "now")


def test_choices_are_in_the_help_of_plan() -> None:
    told = CliRunner().invoke(cli, ["plan", "--help"]).output
    assert "--bb-mode off|persistent|transient|hybrid|auto" in told
    assert "[off]" in told


@pytest.mark.parametrize("command", ["explain", "check", "simulate"])
def test_what_only_plan_heeds_is_not_listed_elsewhere(command: str) -> None:
    told = CliRunner().invoke(cli, [command, "--help"]).output
    assert "--submit" not in told.replace("--relative-submit-dir", "")
    assert "--force" not in told
    assert "--submit" in CliRunner().invoke(cli, ["plan", "--help"]).output
