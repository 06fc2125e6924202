"""What of a Pegasus has to be seen in a testbed, found on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pegasus_bb_testbed.sharing import find_installed

JAVA = """#!/bin/sh
echo 'Property settings:
    java.class.version = 61.0
    java.home = {home}' >&2
"""


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """A Java whose settings lie in /etc, as Debian's do."""
    home = tmp_path / "jvm"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(JAVA.format(home=home))
    program.chmod(0o755)
    (home / "conf").symlink_to("/etc/passwd")
    (home / "gone").symlink_to("/etc/no such file")
    (home / "own").symlink_to("bin/java")
    return home


def test_pegasus_java_and_python_are_found(tmp_path: Path, java: Path) -> None:
    folder = tmp_path / "pegasus" / "bin"
    named = {"JAVA_HOME": str(java), "PEGASUS_PYTHON": sys.executable}
    installed = find_installed(folder, named)
    environ = installed.environ
    assert environ["PEGASUS_HOME"] == str(folder.parent)
    assert environ["PATH"] == str(folder)
    assert environ["JAVA_HOME"] == str(java)
    assert {folder.parent, java, Path("/etc/passwd")} <= set(installed.paths)
    assert any(Path(environ["PEGASUS_PYTHON"]).is_relative_to(p) for p in _python())
    # So are those of PATH, if none is named.
    path = f"{java}/bin:{Path(sys.executable).parent}:/usr/bin:/bin"
    assert find_installed(folder, {"PATH": path}).environ["JAVA_HOME"] == str(java)


def _python() -> list[Path]:
    return [Path(sys.prefix), Path(sys.base_prefix)]
