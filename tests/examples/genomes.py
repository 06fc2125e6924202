"""The programs of the 1000 Genomes example as modules, and what they write, read."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

pytest.importorskip("Pegasus.api")

EXAMPLE = Path(__file__).parents[2] / "examples" / "1000genome"
ROWS = 40


def load(name: str) -> ModuleType:
    """A module of the example: the folder's name is no identifier."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = load("workflow_generator")
vcf = load("generate_vcf")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())
