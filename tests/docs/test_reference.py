"""The reference pages have all that the program has, and nothing that it has not."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pegasus_bb.errors as errors
from pegasus_bb.model.properties import Settings

DOCS = Path(__file__).resolve().parents[2] / "docs"


def first_cells(page: str, pattern: str) -> list[str]:
    return re.findall(rf"^\| {pattern} \|", (DOCS / page).read_text(), re.MULTILINE)


def test_every_setting_is_an_option_of_the_page() -> None:
    listed = first_cells("reference/properties.md", r"`--bb-([a-z-]+)`")
    assert sorted(listed) == sorted(f.name.replace("_", "-") for f in fields(Settings))


def test_every_exit_code_is_on_its_page() -> None:
    listed = {int(code) for code in first_cells("exit-codes.md", "([0-9]+)")}
    known = {v for k, v in vars(errors).items() if k.isupper() and isinstance(v, int)}
    assert known <= listed
