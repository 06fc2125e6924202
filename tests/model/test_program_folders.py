"""The executable files of a folder are transformations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.model.document import Document
from pegasus_bb.model.transformations import (
    TransformationCatalog,
    read_transformations,
    with_programs,
)


def program(file: Path) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


def read(folder: Path, *folders: str, **known: Any) -> TransformationCatalog:
    document = Document(folder / "transformations.yml", known)
    found = with_programs(document, [folder / each for each in folders])
    return read_transformations(found)


def pfn(catalog: TransformationCatalog, name: str) -> str:
    found = catalog.executable(name, "cluster")
    assert found is not None
    return found.pfn


def test_a_job_names_a_program_with_or_without_its_ending(tmp_path: Path) -> None:
    hello = program(tmp_path / "bin" / "hello.sh")
    (tmp_path / "bin" / "notes.txt").write_text("no program")
    found = read(tmp_path, "bin")
    assert sorted(found.transformations) == ["hello", "hello.sh"]
    assert pfn(found, "hello") == pfn(found, "hello.sh") == hello
    executable = found.executable("hello", "cluster")
    assert executable is not None
    assert (executable.site, executable.kind) == ("local", "stageable")


def test_the_catalog_comes_first_then_the_folders_in_their_order(
    tmp_path: Path,
) -> None:
    program(tmp_path / "one" / "a")
    b = program(tmp_path / "one" / "b")
    program(tmp_path / "two" / "b")
    sites = [{"name": "cluster", "pfn": "/opt/a", "type": "installed"}]
    found = read(
        tmp_path, "one", "two", transformations=[{"name": "a", "sites": sites}]
    )
    assert (pfn(found, "a"), pfn(found, "b")) == ("/opt/a", b)
    versioned = [{"name": "b", "version": "2", "sites": sites}]
    assert pfn(read(tmp_path, "one", transformations=versioned), "b") == b
