"""The Python of compute nodes: named, tried where it can be, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.settings import Properties, Setting, Settings
from pegasus_bb.planner.node_programs import (
    check_python,
    python_of_nodes,
    untested_notes,
)


def a_python(folder: Path, version: str) -> str:
    """A script plays it: it answers as a Python of ``version`` does."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho {version.replace('.', ' ')}\n")
    path.chmod(0o755)
    return str(path)


def check(python: str) -> str:
    return check_python(
        Properties({"pegasus.bb.python": Setting(python, "-D")}), python
    )


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8"])
def test_a_python_older_than_3_9_is_refused_by_its_version(
    tmp_path: Path, version: str
) -> None:
    with pytest.raises(CatalogError, match=rf"is Python {version}; .* 3\.9 or newer"):
        check(a_python(tmp_path, version))


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_a_python_that_is_new_enough_is_used(tmp_path: Path, version: str) -> None:
    python = a_python(tmp_path, version)
    assert check(python) == python


def test_check_tells_which_python_the_nodes_use(tmp_path: Path) -> None:
    python = a_python(tmp_path, "3.11")
    assert f"jobs use {python}, Python 3.11 on this machine" in python_of_nodes(python)
    assert "jobs use /usr/bin/" in python_of_nodes("") or "PATH" in python_of_nodes("")
    by_path = python_of_nodes("/usr/bin/env python3")
    assert by_path.startswith("jobs use the python3 of their PATH, Python 3.")


def test_a_python_of_the_nodes_alone_is_not_tried() -> None:
    assert check("/nowhere/python3.11") == "/nowhere/python3.11"
    settings = Settings(python="/nowhere/python3.11", darshan="/nowhere/lib.so")
    python, darshan = untested_notes(settings)
    assert python.startswith("python:   /nowhere/python3.11 is not on this machine")
    assert darshan.startswith("darshan:  /nowhere/lib.so is not on this machine")
    assert "which is not on this machine" in python_of_nodes("/nowhere/python3.11")
