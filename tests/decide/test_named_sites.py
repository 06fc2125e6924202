"""A site or a tier that an option names, and that the catalog does not have."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.explain import command
from tests.support.user_files import User


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (
            ("--output-sites", "loacl"),
            "--output-sites loacl: sites.yml declares no such site; did you mean "
            "local?",
        ),
        (
            ("--sites", "clutser"),
            "--sites clutser: sites.yml declares no such site; did you mean cluster?",
        ),
        (
            ("--sites", "local"),
            "site cluster declares one: --sites cluster; or declare one for local "
            "under x-storage-tiers",
        ),
    ],
)
def test_a_site_that_does_not_do_is_named(
    user: User, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], what: str
) -> None:
    user.read()
    monkeypatch.chdir(user.folder)
    monkeypatch.setenv("HOME", str(user.folder))
    error = CliRunner().invoke(command, words).exception
    assert what in str(error)
