"""The help of plan, explain and check says what an option takes, and what holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pegasus_bb.cli import cli
from pegasus_bb.core.errors import USAGE
from pegasus_bb.model.properties import (
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


def every_option() -> Iterator[tuple[str, click.Option, click.Context]]:
    """(command, option, its context) of all commands and what is below them."""
    open_contexts = [click.Context(cli, info_name="pegasus-bb")]
    for context in open_contexts:
        command = context.command
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                found = click.Context(below, parent=context, info_name=name)
                open_contexts.append(found)
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                yield context.command_path, param, context


def test_a_value_that_holds_by_itself_is_shown() -> None:
    silent = []
    for command, option, context in every_option():
        default = option.default
        if option.is_flag or option.count or not isinstance(default, str | int | float):
            continue
        text = " ".join((option.get_help_record(context) or ("", ""))[1].split())
        if default and f"[{default}]" not in text and f"default: {default}" not in text:
            silent.append(f"{command} {option.opts[-1]} ({default})")
    assert not silent, "\n".join(silent)
