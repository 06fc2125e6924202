"""Recipes of other package managers and the citation agree with pyproject.toml."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import jinja2
import yaml

ROOT = Path(__file__).resolve().parents[2]
_PROJECT = (ROOT / "pyproject.toml").read_text()
VERSION = re.search(r'^version = "(.*)"$', _PROJECT, re.MULTILINE)[1]  # type: ignore[index]
_NAMES = {"python-htcondor": "htcondor"}  # conda-forge's name of it


def needed() -> dict[str, str]:
    """Name of a distribution -> the oldest version that will do."""
    block = _PROJECT.partition("\ndependencies = [")[2].partition("\n]")[0]
    return dict(re.findall(r'"([a-z0-9]+)>=([0-9.]+)"', block))


def of_conda() -> dict[str, Any]:
    text = (ROOT / "packaging/conda/meta.yaml").read_text()
    compiler = {"compiler": lambda name: f"{name}_compiler", "PYTHON": "python"}
    found: dict[str, Any] = yaml.safe_load(jinja2.Template(text).render(compiler))
    return found


def test_the_conda_recipe_needs_what_the_project_needs() -> None:
    recipe = of_conda()
    assert recipe["package"]["version"] == VERSION
    run = dict(line.split(" >=") for line in recipe["requirements"]["run"])
    assert run.pop("python") == "3.10"
    assert {_NAMES.get(name, name): oldest for name, oldest in run.items()} == needed()
    assert (ROOT / recipe["about"]["license_file"]).is_file()


def test_the_spack_package_needs_what_the_project_needs() -> None:
    tree = ast.parse((ROOT / "packaging/spack/package.py").read_text())
    said: dict[str, list[str]] = {"version": [], "depends_on": []}
    for call in ast.walk(tree):
        match call:
            case ast.Call(ast.Name(name), [ast.Constant(word)], words) if name in said:
                if "when" not in [each.arg for each in words]:
                    said[name].append(word)
    assert VERSION in said["version"]
    pairs = dict(re.findall(r"py-([a-z0-9]+)@([0-9.]+):", " ".join(said["depends_on"])))
    del pairs["setuptools"]
    assert pairs == needed()


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == VERSION
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == "Apache-2.0"
